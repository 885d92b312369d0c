// The app of docs/how-to/use-from-a-browser.md, from the page's own blocks: taken from it by their names, written into a folder, and built.

import { cp, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type FencedBlock, fencedBlocks } from "../support/documents/fenced-blocks.ts";
import { buildApp } from "./built-app.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Has the types of the same resource, and what the guide takes from it. */
export const sample = join(root, "examples/browser-app");

export type Sources = ReadonlyMap<string, string>;

export async function blocksOf(guide: string): Promise<readonly FencedBlock[]> {
  return fencedBlocks(await readFile(join(root, "docs/how-to", guide), "utf8"));
}

/** Source files among the blocks of a page, by their names. */
export function sourcesIn(blocks: readonly FencedBlock[]): Sources {
  const named = blocks.map(({ language, text }) => {
    const [, name = ""] = /^(?:\/\/|<!--) ([\w-]+\.(?:ts|html))\b/.exec(text) ?? [];
    return [language === "ts" ? `src/${name}` : name, text] as const;
  });
  return new Map(named.filter(([name]) => /\.(?:ts|html)$/.test(name)));
}

/** The folder of the app, whose build is in `dist`. It is inside the tree, where the packages are found that it needs. */
export async function writeApp(sources: Sources, api: string): Promise<string> {
  await mkdir(join(root, "out"), { recursive: true });
  const folder = await mkdtemp(join(root, "out", "browser-page-"));
  await cp(join(sample, "tsconfig.json"), join(folder, "tsconfig.json"));
  await cp(join(sample, "src/generated"), join(folder, "src/generated"), { recursive: true });
  for (const [name, text] of sources) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    // So that the tests reach the client, and what the page only shows.
    const open =
      name === "src/main.ts"
        ? '\nimport { listTasks, readTask } from "./tasks.ts";\nObject.assign(globalThis, { api, listTasks, readTask });\n'
        : "";
    await writeFile(join(folder, name), text.replace("http://127.0.0.1:8080/default/team", api) + open);
  }
  await buildApp(folder, join(folder, "dist"));
  return folder;
}
