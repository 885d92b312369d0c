// The parts of pages that show traces: each is below a comment with the command that writes it.

import { readFile, writeFile } from "node:fs/promises";

const docs = new URL("../../docs/", import.meta.url);

/** Pages by the arguments of `npm run trace`. */
const pages = {
  "--write": new URL("ARCHITECTURE.md", docs),
  "operator --write": new URL("reference/trace-of-a-change.md", docs),
} as const;

export type ShownBy = keyof typeof pages;

function shownBy(command: ShownBy): RegExp {
  return new RegExp(`(?<=\\n<!-- npm run trace -- ${command} -->\\n\`\`\`\\n)[\\s\\S]*?(?=\`\`\`\\n)`);
}

export async function readShown(command: ShownBy): Promise<string> {
  return shownBy(command).exec(await readFile(pages[command], "utf8"))?.[0] ?? "";
}

export async function writeShown(command: ShownBy, text: string): Promise<void> {
  const written = (await readFile(pages[command], "utf8")).replace(shownBy(command), () => text);
  await writeFile(pages[command], written);
}
