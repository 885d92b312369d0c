// The chart's own copies of crds/*.yaml: a chart holds only what is in its folder.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./read-crds.ts";

/** By path below the repository's root. */
export async function copyCrds(): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(join(root, "crds"));
  const texts = names.map(async (name): Promise<[string, string]> => {
    const text = await readFile(join(root, "crds", name), "utf8");
    return [`charts/jsonplane/files/crds/${name}`, `# A copy of crds/${name}, made by \`npm run generate\`.\n${text}`];
  });
  return new Map(await Promise.all(texts));
}
