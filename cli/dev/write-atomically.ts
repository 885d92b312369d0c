// Writes a file in one step: a crash leaves the former content or the new one, never a part. Only the owner may read it.

import { randomUUID } from "node:crypto";
import { open, rename } from "node:fs/promises";

export async function writeAtomically(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}
