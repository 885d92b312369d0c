// The parts of docs/ARCHITECTURE.md that show traces: each stands below a comment with the command that writes it.

import { readFile, writeFile } from "node:fs/promises";

const page = new URL("../../docs/ARCHITECTURE.md", import.meta.url);

/** The arguments of `npm run trace`. */
export type ShownBy = "--write" | "operator --write";

function shownBy(command: ShownBy): RegExp {
  return new RegExp(`(?<=\\n<!-- npm run trace -- ${command} -->\\n\`\`\`\\n)[\\s\\S]*?(?=\`\`\`\\n)`);
}

export async function readShown(command: ShownBy): Promise<string> {
  return shownBy(command).exec(await readFile(page, "utf8"))?.[0] ?? "";
}

export async function writeShown(command: ShownBy, text: string): Promise<void> {
  const written = (await readFile(page, "utf8")).replace(shownBy(command), () => text);
  await writeFile(page, written);
}
