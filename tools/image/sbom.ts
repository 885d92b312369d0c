// `make sbom`: writes out/sbom.cdx.json, what the image is made of as CycloneDX: npm's list of the
// production packages of package-lock.json, and Node itself. Without a date or a random number: one
// lock file has one list.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundledPackages, pageNames } from "../../pages/bundle-page.ts";
import { lastWords, runCommand } from "../parts/run-command.ts";
import { readArguments } from "../script-arguments.ts";
import { ScriptFailed, startScript } from "../start-script.ts";
import { productionPackages } from "./production-packages.ts";

interface Component {
  readonly name: string;
  readonly "bom-ref": string;
  readonly version: string;
  readonly [member: string]: unknown;
}

interface Bom {
  readonly serialNumber?: string;
  readonly metadata: { readonly timestamp?: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  readonly [member: string]: unknown;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What the image has below the project's own files. */
export interface BaseContents {
  /** Its version. */
  readonly node: string;
  /** As Debian names their files: `libc6_2.36-9_arm64`. */
  readonly debianPackages: readonly string[];
}

const ofThisMachine: BaseContents = { node: process.versions.node, debianPackages: [] };

export async function writeSbom(file = join(root, "out/sbom.cdx.json"), base = ofThisMachine): Promise<string> {
  const { serialNumber: _, ...bom } = await npmBom();
  const { timestamp: __, ...metadata } = bom.metadata;
  const { name } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const held = await heldPackages();
  const components = bom.components.filter((component) => held.has(`${component.name}@${component.version}`));
  const known = new Set([metadata.component["bom-ref"], ...components.map((component) => component["bom-ref"])]);
  const dependencies = bom.dependencies
    .filter(({ ref }) => known.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => known.has(other)) }));
  const whole = {
    ...bom,
    // npm takes the folder's name.
    metadata: { ...metadata, component: { ...metadata.component, type: "application", name } },
    components: [nodeComponent(base.node), ...base.debianPackages.map(debianComponent), ...components],
    dependencies,
  };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(whole, undefined, 2)}\n`);
  return file;
}

/** Of all packages: npm's own `--omit dev` leaves out what development packages may use as well. */
async function npmBom(): Promise<Bom> {
  const done = await runCommand("npm", ["sbom", "--sbom-format", "cyclonedx"], { cwd: root });
  if (done.code !== 0) throw new ScriptFailed(`npm sbom failed:\n${lastWords(done)}`);
  return JSON.parse(done.stdout) as Bom;
}

/** `name@version` of what the image holds. */
async function heldPackages(): Promise<ReadonlySet<string>> {
  const held = new Set<string>();
  const production = (await productionPackages(root)).map((path) => join(root, path));
  // Of these the image has what is in the scripts of the pages.
  const bundled = await Promise.all(pageNames.map(bundledPackages));
  for (const folder of [...production, ...bundled.flat()]) {
    const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    held.add(`${name}@${version}`);
  }
  return held;
}

function debianComponent(fileName: string): Component {
  const [name = "", version = "", architecture = ""] = fileName.split("_");
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
  return { "bom-ref": purl, type: "library", name, version, purl };
}

function nodeComponent(version: string): Component {
  const purl = `pkg:generic/node@${version}`;
  return { "bom-ref": purl, type: "platform", name: "node", version, purl, licenses: [{ license: { id: "MIT" } }] };
}

if (import.meta.main) {
  startScript("make sbom");
  readArguments({});
  console.log(`Wrote ${await writeSbom()}`);
}
