// The files of each page that runs in a browser. A build has them below built/, as bundle-page.ts
// made them; in a clone they are made when first requested. Runs in Node; everything else in this
// folder but the bundler runs in a browser. A build also has each file compressed, as `<name>.gz`:
// the viewer of the reference page takes most of a second.

import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { PageFiles, PageName } from "./bundle-page.ts";

export async function pageFiles(page: PageName): Promise<PageFiles> {
  const folder = new URL(`built/${page}/`, import.meta.url);
  const names = await namesIn(folder);
  if (names.length === 0) {
    const { bundlePage } = await import("./bundle-page.ts");
    return (await bundlePage(page)).files;
  }
  const served = names.filter((name) => !name.endsWith(".LICENSE"));
  return new Map(await Promise.all(served.map(async (name) => [name, await readFile(new URL(name, folder))] as const)));
}

export async function compressed(bytes: Uint8Array): Promise<Buffer> {
  return await promisify(gzip)(bytes, { level: 9 });
}

async function namesIn(folder: URL): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
