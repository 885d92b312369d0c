// Turns package-lock.json into the reference page of licences: what is shipped, under which terms.
// The lock file says both, so the page is the same on every machine. Refuses a package that names
// no licence, or one that nobody has looked at.

import { relative, sep } from "node:path";
import { bundledPackages, pageNames } from "../pages/bundle-page.ts";
import { isOptional, type LockedPackage, lockedPackages, shippedPackages } from "./image/production-packages.ts";
import { root } from "./read-crds.ts";

/** Licences that allow shipping next to Apache-2.0 code and ask for no more than their notice. */
const accepted: ReadonlySet<string> = new Set([
  "MIT",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "PSF-2.0",
  "Python-2.0",
  "Unlicense",
  "0BSD",
]);

export async function generateLicences(): Promise<ReadonlyMap<string, string>> {
  const packages = await lockedPackages(root);
  const bundled = (await Promise.all(pageNames.map(bundledPackages))).flat().map((folder) => {
    const path = relative(root, folder).split(sep).join("/");
    return [path, packages[path] ?? {}] as const;
  });
  const others = namesByLicence(bundled.filter(([path]) => path !== viewer));
  const optional = shippedPackages(packages).filter(([, entry]) => isOptional(entry));
  const left = optional.map(([path]) => path.replace("node_modules/", ""));
  return new Map([["docs/reference/licences.md", page(licencesOf(packages), others, packages[viewer] ?? {}, left)]]);
}

/** Names with versions, by licence. */
export function licencesOf(packages: Readonly<Record<string, LockedPackage>>): ReadonlyMap<string, readonly string[]> {
  return namesByLicence(shippedPackages(packages));
}

function namesByLicence(
  packages: readonly (readonly [string, LockedPackage])[],
): ReadonlyMap<string, readonly string[]> {
  const named = packages.map(([path, { version = "", license = "none" }]) => {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    if (!accepted.has(license)) {
      throw new Error(
        `${name} ${version} has the licence ${license}: look at it, then name it in tools/generate-licences.ts`,
      );
    }
    return { license, text: `${name} ${version}` };
  });
  const groups = Map.groupBy(named, ({ license }) => license);
  const sorted = [...groups].sort(([left], [right]) => (left < right ? -1 : 1));
  return new Map(sorted.map(([license, all]) => [license, [...new Set(all.map(({ text }) => text))].sort()]));
}

/** Of which one file is shipped, without the package. */
const viewer = "node_modules/@scalar/fastify-api-reference";

function page(
  licences: ReadonlyMap<string, readonly string[]>,
  ofPages: ReadonlyMap<string, readonly string[]>,
  { version, license }: LockedPackage,
  leftOut: readonly string[],
): string {
  const sections = [...licences].map(
    ([license, packages]) => `## ${license}\n\n${packages.map((text) => `- ${text}\n`).join("")}`,
  );
  const bundled = [...ofPages].map(([license, packages]) => `${packages.join(", ")} (${license})`).join("; ");
  return `<!-- Generated from package-lock.json by \`npm run generate\`. -->
# Licences

The packages that the npm package and the image contain, by licence. The text of each licence is in the folder of its package. The image leaves out
what only \`jsonplane mcp\` needs: ${leftOut.join(", ")}. It also contains Node, which is under MIT,
with the licences of its parts. A bundled Redis and its JSON module are separate images, under their own terms.

${sections.join("\n")}
## The pages

The scripts of \`/console\`, \`/docs\` and dev mode's overview contain code of ${bundled}. The build writes the licences beside each page, in \`page.LICENSE\`.

## The viewer of the reference page

The viewer of \`/docs\` is one script. The build takes it from @scalar/fastify-api-reference ${version} (${license}), with the
package's licence beside it. Its authors bundled it from @scalar/api-reference and the packages that it names, which are under MIT, ISC,
Apache-2.0, BSD-2-Clause, BSD-3-Clause and 0BSD; the script contains the notices that they left in it.
`;
}
