// Pushes what a release holds, and signs it: the image by skopeo, the chart by Helm, the package by
// npm, signatures by cosign. Each asks its own configuration who may: log in beforehand. Images
// and charts that are there already are pushed again unchanged, so that a release which broke off
// can be repeated; packages come last, because npm refuses a version that it has.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findHelm } from "../parts/helm.ts";
import { partMissing } from "../parts/part.ts";
import { onPath } from "../parts/programs.ts";
import { lastWords, runCommand } from "../parts/run-command.ts";
import { ScriptFailed } from "../start-script.ts";
import { type Release, releaseFiles } from "./build-release.ts";

export interface Destination {
  readonly folder: string;
  readonly registry: string;
  /** Undefined publishes no package. */
  readonly npmRegistry: string | undefined;
}

/** Throws PartMissing. */
export async function requirePrograms(): Promise<void> {
  for (const name of ["skopeo", "cosign"]) {
    if (onPath(name, process.env) === undefined)
      throw partMissing(`A release needs ${name}, which is not on the PATH`, ["npm run release -- --dry-run does not"]);
  }
}

/** `sha256:…` of an image in its registry, for all its platforms. */
export async function redisDigest(image: string): Promise<string> {
  return (await run("skopeo", "inspect", "--no-tags", "--format", "{{.Digest}}", `docker://${image}`)).trim();
}

export async function publish({ version, image }: Release, to: Destination): Promise<void> {
  const file = (name: string) => join(to.folder, name);
  const [tagged = "", imageDigest = ""] = image.split("@");
  const archive = `oci-archive:${file(releaseFiles.image(version))}`;
  await run("skopeo", "copy", "--all", "--preserve-digests", archive, `docker://${tagged}`);
  await sign(image);
  const charts = `${to.registry}/charts`;
  const pushed = await run(await findHelm(process.env), "push", file(releaseFiles.chart(version)), `oci://${charts}`);
  const chartDigest = /^Digest: (sha256:\w+)$/m.exec(pushed)?.[1];
  if (chartDigest === undefined) throw new ScriptFailed(`helm push named no digest:\n${pushed}`);
  await sign(`${charts}/jsonplane@${chartDigest}`);
  const bundle = file(`${releaseFiles.checksums}.sigstore.json`);
  await run("cosign", "sign-blob", "--yes", "--bundle", bundle, file(releaseFiles.checksums));
  // For the workflow, which attests both.
  await writeFile(file("digests.txt"), `image=${imageDigest}\nchart=${chartDigest}\n`);
  if (to.npmRegistry !== undefined) {
    const where = ["--access", "public", "--registry", to.npmRegistry];
    for (const packed of [releaseFiles.package(version), releaseFiles.client(version)]) {
      await run("npm", "publish", "--ignore-scripts", file(packed), ...where);
    }
  }
  console.log(`Published ${version}`);
}

/** Without a key: cosign asks for an identity, or takes that of the workflow's run. */
async function sign(reference: string): Promise<void> {
  await run("cosign", "sign", "--yes", reference.replace(/:[\w.-]+@/, "@"));
}

/** Returns what it printed. */
async function run(command: string, ...args: readonly string[]): Promise<string> {
  console.log(`${command} ${args.join(" ")}`);
  const done = await runCommand(command, args);
  if (done.code !== 0) throw new ScriptFailed(`${command} ${args[0]} failed:\n${lastWords(done)}`);
  return `${done.stdout}\n${done.stderr}`;
}
