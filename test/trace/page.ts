// The trace that docs/ARCHITECTURE.md shows, below a comment with the command that writes it.

import { readFile, writeFile } from "node:fs/promises";

const page = new URL("../../docs/ARCHITECTURE.md", import.meta.url);
const block = /(?<=\n<!-- npm run trace -- --write -->\n```\n)[\s\S]*?(?=```\n)/;

export async function readShown(): Promise<string> {
  return block.exec(await readFile(page, "utf8"))?.[0] ?? "";
}

export async function writeShown(text: string): Promise<void> {
  await writeFile(
    page,
    (await readFile(page, "utf8")).replace(block, () => text),
  );
}
