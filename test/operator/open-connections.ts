// How many TCP connections to a port a process of this machine has open, as Linux says it.
// Undefined elsewhere.

import { readdir, readFile, readlink } from "node:fs/promises";

const established = "01";

export async function openConnections(pid: number, port: number): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  const sockets = await socketsOf(pid);
  const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const tables = await Promise.all([
    readFile(`/proc/${pid}/net/tcp`, "utf8"),
    readFile(`/proc/${pid}/net/tcp6`, "utf8"),
  ]);
  const rows = tables.flatMap((table) => table.split("\n").slice(1)).map((line) => line.trim().split(/\s+/));
  const mine = rows.filter(
    ([, , to, state, , , , , , inode]) => to?.endsWith(remote) && state === established && sockets.has(inode ?? ""),
  );
  return mine.length;
}

/** Inodes of the sockets that a process holds. */
async function socketsOf(pid: number): Promise<ReadonlySet<string>> {
  const names = await readdir(`/proc/${pid}/fd`);
  // One may be closed while it is looked at.
  const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
  return new Set(targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.slice(1) ?? []));
}
