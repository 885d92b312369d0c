// Finds the manifest files below a folder, in an order that does not depend on the machine. Leaves
// out hidden files, node_modules and the data folder `seed`. A link to a file counts as the file; a
// link to a folder is not followed.
import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

const seedFolderName = "seed";

const extensions = /\.(?:yaml|yml|json)$/;

/** Paths that start with `path`; `path` itself if it is a file. Fails as node:fs does. */
export async function listFiles(path: string): Promise<readonly string[]> {
  const about = await stat(path);
  return about.isDirectory() ? await filesBelow(path, [seedFolderName]) : [path];
}

/**
 * Beside the manifests, which are a folder or one file: data for what is empty, which dev mode
 * takes in (cli/dev/seed).
 */
export async function seedFolderOf(path: string): Promise<string> {
  return join((await stat(path)).isDirectory() ? path : dirname(path), seedFolderName);
}

async function filesBelow(folder: string, leftOut: readonly string[] = []): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".") || entry.name === "node_modules" || leftOut.includes(entry.name)) continue;
    if (entry.isDirectory()) found.push(...(await filesBelow(path)));
    else if (extensions.test(entry.name) && (entry.isFile() || (await leadsToFile(path)))) found.push(path);
  }
  return found;
}

async function leadsToFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    // A dangling link, such as an editor's lock, is no manifest.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}
