// The reader of kubeconfigs of the Kubernetes client in one file, for the operators of tests: its
// thousand modules are almost half of what a start of one computes. In a pod the client isn't
// loaded at all (operator/kube/connect.ts).

import { existsSync } from "node:fs";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
const client = "@kubernetes/client-node";

/** For `node --import`: what imports the client gets the file. */
const preloaded = `import { registerHooks } from "node:module";
const { href: url } = new URL("client.mjs", import.meta.url);
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "${client}" ? { url, format: "module", shortCircuit: true } : next(specifier, context),
});
`;

/** Makes it unless an earlier run has; returns the file to preload. */
export async function quickClient(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packages, client, "package.json"), "utf8")) as { version: string };
  const folder = join(packages, `.kubernetes-client-${version}`);
  if (!existsSync(folder)) await make(folder);
  return join(folder, "preload.mjs");
}

async function make(folder: string): Promise<void> {
  const draft = await mkdtemp(`${folder}-`);
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({
    input: join(packages, client, "dist/config.js"),
    platform: "node",
    logLevel: "silent",
  });
  await bundle.write({ file: join(draft, "client.mjs"), format: "esm" });
  await bundle.close();
  await writeFile(join(draft, "preload.mjs"), preloaded);
  // Another run may have been quicker.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }));
}
