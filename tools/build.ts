// `npm run build`: compiles the package into dist/, because Node refuses TypeScript under
// node_modules. Everything that isn't TypeScript (Lua scripts) is copied to the same place
// below dist/, where code finds it relative to itself; pages and the client are bundled. Refuses,
// and leaves no dist/, when the compiler reports an error. `node tools/build.ts DIR` compiles into
// another folder, for tests that must not replace what others are running.

import { chmod, constants, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundlePage, licencesOf, pageNames } from "../pages/bundle-page.ts";
import { compressed } from "../pages/page-files.ts";
import { buildClient } from "./build-client.ts";
import { lastWords, runCommand } from "./parts/run-command.ts";
import { readArguments } from "./script-arguments.ts";
import { ScriptFailed, startScript } from "./start-script.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
startScript("npm run build");
const [target = "dist/"] = readArguments({}, ["[FOLDER]"]).words;
const dist = target === "dist/" ? join(root, "dist") : resolve(target);
const folders = ["core", "operator", "dataplane", "cli"] as const;

async function compile(): Promise<void> {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const done = await runCommand(
    process.execPath,
    [tsc, "-p", "tsconfig.build.json", "--noEmitOnError", "--outDir", dist],
    {
      cwd: root,
    },
  );
  if (done.code !== 0) throw new ScriptFailed(`tsc refused the code:\n${lastWords(done, 50)}`);
}

/** Copies what the code reads at run time; returns how many files. */
async function copyAssets(folder: string): Promise<number> {
  const entries = await readdir(join(root, folder), { withFileTypes: true, recursive: true });
  const assets = entries.filter((entry) => entry.isFile() && !/\.(ts|md)$/.test(entry.name));
  for (const asset of assets) {
    const from = join(asset.parentPath, asset.name);
    const to = join(dist, from.slice(root.length));
    await mkdir(dirname(to), { recursive: true });
    // Never in the place of what was compiled.
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
  return assets.length;
}

/** What is under a licence of others has its text next to it. */
async function writePages(): Promise<void> {
  for (const page of pageNames) {
    const folder = join(dist, "pages", "built", page);
    await mkdir(folder, { recursive: true });
    const { files, packages } = await bundlePage(page);
    for (const [name, bytes] of files) {
      await writeFile(join(folder, name), bytes);
      // The HTML is completed when it is served.
      if (name !== "page.html") await writeFile(join(folder, `${name}.gz`), await compressed(bytes));
    }
    await writeFile(join(folder, "page.LICENSE"), await licencesOf(packages));
  }
}

/**
 * dist/ has a package.json of its own, so that `../package.json` means the same in compiled code.
 */
async function describe(): Promise<void> {
  const whole = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Readonly<Record<string, unknown>>;
  const { name, version, type } = whole;
  await writeFile(
    join(dist, "package.json"),
    `${JSON.stringify({ name, version, private: true, type }, undefined, 2)}\n`,
  );
}

await rm(dist, { recursive: true, force: true });
try {
  await compile();
  let assets = 0;
  for (const folder of folders) assets += await copyAssets(folder);
  await writePages();
  // In place of its modules, which the compiler writes for `jsonplane mcp`.
  await rm(join(dist, "client"), { recursive: true, force: true });
  await buildClient(join(dist, "client"));
  await describe();
  await chmod(join(dist, "cli", "main.js"), 0o755);
  console.log(`Built ${target} with ${assets} assets`);
} catch (error) {
  await rm(dist, { recursive: true, force: true });
  throw error;
}
