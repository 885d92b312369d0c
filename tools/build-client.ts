// Makes the package @jsonplane/client from client/: minified modules, and their types. What it
// writes into the folder is what would be published. Needs the development dependencies.

import { copyFile, cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lastWords, runCommand } from "./parts/run-command.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = join(root, "client");

/** What apps import. The adapters import nothing of the client at run time: they are given one. */
const modules = ["index", "tanstack-db", "rxdb"];

/** The folder is made, or has to be empty. */
export async function buildClient(folder: string): Promise<void> {
  await writeTypes(folder);
  for (const name of modules) await writeFile(join(folder, `${name}.js`), await bundled(name));
  for (const name of ["package.json", "README.md"]) await copyFile(join(source, name), join(folder, name));
  await copyFile(join(root, "LICENSE"), join(folder, "LICENSE"));
}

async function bundled(name: string): Promise<string> {
  const { rolldown } = await import("rolldown");
  const build = await rolldown({
    input: join(source, `${name}.ts`),
    platform: "neutral",
    external: ["rxdb/plugins/replication", "rxjs"],
    tsconfig: join(source, "tsconfig.json"),
    transform: { target: "es2022" },
  });
  try {
    const { output } = await build.generate({ format: "esm", minify: true, codeSplitting: false });
    return output[0].code;
  } finally {
    await build.close();
  }
}

/** Types name nothing of core/, whose code is part of the module. */
async function writeTypes(folder: string): Promise<void> {
  const emitted = await mkdtemp(join(tmpdir(), "jsonplane-client-"));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const flags = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--rootDir", root, "--outDir", emitted];
  try {
    const done = await runCommand(process.execPath, [tsc, "-p", source, ...flags], { cwd: root });
    if (done.code !== 0) throw new Error(lastWords(done, 50));
    await cp(join(emitted, "client"), folder, { recursive: true });
  } finally {
    await rm(emitted, { recursive: true, force: true });
  }
}
