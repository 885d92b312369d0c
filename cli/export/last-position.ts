// The position in the last line of an export, from which the next one has what has changed. Throws
// ServiceRefused where the file has none.

import { open } from "node:fs/promises";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import { ServiceRefused } from "../service/service.ts";

/** A last line is shorter, also with the positions of many logs. */
const lastBytes = 1024 * 1024;

/** `given` itself where there is no such file: then it is a position. */
export async function lastPosition(given: string): Promise<string> {
  const line = await lastLine(given);
  if (line === undefined) return given;
  const end = parseOrUndefined(line) as { readonly end?: unknown; readonly position?: unknown } | undefined;
  if (end?.end !== true) throw new ServiceRefused(`--since ${given} is no complete export: it has no last line`);
  if (typeof end.position === "string") return end.position;
  throw new ServiceRefused(
    `--since ${given} has no position, because something in it has no \`changes\` in its manifest; choose others with --resource and --root-key`,
  );
}

async function lastLine(path: string): Promise<string | undefined> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENAMETOOLONG") return undefined;
    throw new ServiceRefused(`--since ${path} can't be read: ${error.message}`, { cause: error });
  });
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(Math.min(size, lastBytes)),
      position: Math.max(0, size - lastBytes),
    });
    return buffer.subarray(0, bytesRead).toString().trimEnd().split("\n").at(-1) ?? "";
  } finally {
    await file.close();
  }
}
