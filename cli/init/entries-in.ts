// What is in a folder beside hidden files: those of Git, of editors and of dev mode's data don't count.

import { readdir } from "node:fs/promises";

export async function entriesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => !name.startsWith(".")).sort();
}

/** False of what can't be read as a folder, too. */
export async function isEmptyFolder(path: string): Promise<boolean> {
  return await entriesIn(path).then(
    (entries) => entries.length === 0,
    () => false,
  );
}
