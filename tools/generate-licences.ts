// Turns package-lock.json into the reference page of licences: what is shipped, under which terms. The lock file says both, so the page
// is the same on every machine. Refuses a package that names no licence, or one that nobody has looked at.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./read-crds.ts";

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

/** Licences that allow shipping beside Apache-2.0 code and ask for no more than their notice. */
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
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  return new Map([["docs/reference/licences.md", page(licencesOf(lock.packages), lock.packages[viewer] ?? {})]]);
}

/** Names with versions, by licence. */
export function licencesOf(packages: Readonly<Record<string, LockedPackage>>): ReadonlyMap<string, readonly string[]> {
  const shipped = Object.entries(packages).filter(([path, entry]) => path !== "" && isShipped(path, entry));
  const named = shipped.map(([path, { version = "", license = "none" }]) => {
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

/** Types are for the compiler, whoever lists them as a dependency. */
function isShipped(path: string, { dev, devOptional }: LockedPackage): boolean {
  return dev !== true && devOptional !== true && !path.includes("node_modules/@types/");
}

/** Of which one file is shipped, without the package. */
const viewer = "node_modules/@scalar/fastify-api-reference";

function page(licences: ReadonlyMap<string, readonly string[]>, { version, license }: LockedPackage): string {
  const sections = [...licences].map(
    ([license, packages]) => `## ${license}\n\n${packages.map((text) => `- ${text}\n`).join("")}`,
  );
  return `<!-- Generated from package-lock.json by \`npm run generate\`. -->
# Licences

What the npm package and the image bring along, by licence. The image holds Node as well, which is under MIT with the licences of its
parts; a bundled Redis and its JSON module are images of their own, under their own terms. Each package's own text lies in its folder.

${sections.join("\n")}
## The reference page

The viewer behind \`/docs\` is one script, taken at build time out of @scalar/fastify-api-reference ${version} (${license}), with the
package's licence beside it. Its makers bundled it from @scalar/api-reference and the packages that one names, which are under MIT, ISC,
Apache-2.0, BSD-2-Clause, BSD-3-Clause and 0BSD; the notices that they left in it stand in the script.
`;
}
