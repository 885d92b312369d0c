// `make sbom`: writes out/sbom.cdx.json, what the image is made of as CycloneDX: npm's list of the production packages of
// package-lock.json, and Node itself. Without a date or a random number: one lock file has one list.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lastWords, runCommand } from "../parts/run-command.ts";

interface Component {
  readonly name: string;
  readonly [member: string]: unknown;
}

interface Bom {
  readonly serialNumber?: string;
  readonly metadata: { readonly timestamp?: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly [member: string]: unknown;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

export async function writeSbom(file = join(root, "out/sbom.cdx.json")): Promise<string> {
  const args = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"];
  const done = await runCommand("npm", args, { cwd: root });
  if (done.code !== 0) throw new Error(`npm sbom: ${lastWords(done)}`);
  const { serialNumber: _, ...bom } = JSON.parse(done.stdout) as Bom;
  const { timestamp: __, ...metadata } = bom.metadata;
  const { name } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const whole = {
    ...bom,
    // npm takes the folder's name.
    metadata: { ...metadata, component: { ...metadata.component, type: "application", name } },
    components: [nodeComponent(), ...bom.components],
  };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(whole, undefined, 2)}\n`);
  return file;
}

function nodeComponent(): Component {
  const version = process.versions.node;
  const purl = `pkg:generic/node@${version}`;
  return { "bom-ref": purl, type: "platform", name: "node", version, purl, licenses: [{ license: { id: "MIT" } }] };
}

if (import.meta.main) console.log(`Wrote ${await writeSbom()}`);
