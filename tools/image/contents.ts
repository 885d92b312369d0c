// `node tools/image/contents.ts DIR`: writes what the image holds of this project into DIR, which
// becomes /app: the output of `npm run build`, the production packages of the lock file,
// package.json and LICENSE. Every file has the same mode and age wherever it is written.
// Refuses when dist/ or a package is missing.

import { chmod, copyFile, lstat, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments, WrongArguments } from "../script-arguments.ts";
import { startScript } from "../start-script.ts";
import { isNeeded, type Target } from "./package-files.ts";
import { productionPackages } from "./production-packages.ts";

const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

export interface Content {
  /** In the image's /app. */
  readonly path: string;
  /** On this machine. */
  readonly source: string;
  readonly executable: boolean;
}

/** Everything, in order. `built` is what `npm run build` wrote. */
export async function listContents(
  built = join(projectRoot, "dist"),
  target: Target = { architecture: process.arch },
): Promise<readonly Content[]> {
  // The client is for apps, and for `jsonplane mcp`, whose packages aren't here either.
  const compiled = (await filesBelow(built)).filter((path) => !path.startsWith("client/"));
  if (!compiled.includes("cli/main.js")) throw new Error(`${built} holds no program: run \`npm run build\` first`);
  const others = ["LICENSE", "package.json", ...(await packageFiles(projectRoot, target))];
  const contents = [
    ...compiled.map((path) => ({
      path: `dist/${path}`,
      source: join(built, path),
      executable: path === "cli/main.js",
    })),
    ...others.map((path) => ({ path, source: join(projectRoot, path), executable: false })),
  ];
  return contents.sort((one, other) => (one.path < other.path ? -1 : 1));
}

async function packageFiles(root: string, target: Target): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of await productionPackages(root)) {
    // A package's own packages are listed by the lock file.
    const own = (await filesBelow(join(root, folder))).filter((path) => !path.startsWith("node_modules/"));
    found.push(...own.filter((path) => isNeeded(path, target)).map((path) => `${folder}/${path}`));
  }
  return found;
}

/** Paths of plain files with slashes. */
async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"));
}

/** Writes all of it below `folder`, which is made. */
export async function writeContents(folder: string, built?: string, target?: Target): Promise<number> {
  const contents = await listContents(built, target);
  for (const { path, source, executable } of contents) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o755 });
    if (path === "package.json") await writeFile(target, await description(source));
    else await copyFile(source, target);
    await chmod(target, executable ? 0o755 : 0o644);
  }
  return contents.length;
}

/** package.json without what only a clone can use. */
async function description(source: string): Promise<string> {
  const whole = JSON.parse(await readFile(source, "utf8"));
  const { devDependencies: _, optionalDependencies: __, scripts: ___, files: ____, ...rest } = whole;
  return `${JSON.stringify(rest, undefined, 2)}\n`;
}

if (import.meta.main) {
  startScript("tools/image/contents.ts");
  const [folder] = readArguments({}, ["FOLDER"]).words;
  if (folder === undefined) throw new WrongArguments("It takes the FOLDER that the contents are written to");
  if (await lstat(folder).catch(() => undefined))
    throw new WrongArguments(`${folder} exists already: name another folder`);
  console.log(`Wrote ${await writeContents(folder)} files to ${folder}`);
}
