// Makes a root file system out of programs and nothing else: each program, the libraries it loads,
// the two users root and the image's own, and an empty /tmp. There is no shell and no package
// manager in it.

import { chmod, chown, copyFile, mkdir, realpath, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { lastWords, runCommand } from "../parts/run-command.ts";

export interface ImageUser {
  readonly name: string;
  readonly id: number;
}

export interface Program {
  /** On this machine. */
  readonly source: string;
  /** In the image, absolute. */
  readonly path: string;
  /** Folder of libraries that the program brings itself. */
  readonly libraries?: string;
}

export async function writeRootFolder(
  folder: string,
  programs: readonly Program[],
  user: ImageUser,
  owned: readonly string[] = [],
): Promise<void> {
  for (const program of programs) await copyProgram(folder, program);
  for (const path of owned) {
    await mkdir(join(folder, path), { recursive: true });
    // Only root can give a folder away; who isn't packs for a cluster, which does it when it mounts
    // a volume there.
    if (process.getuid?.() === 0) await chown(join(folder, path), user.id, user.id);
  }
  await writeUsers(folder, user);
}

/** The two users, and an empty /tmp. */
export async function writeUsers(folder: string, { name, id }: ImageUser): Promise<void> {
  await mkdir(join(folder, "etc"), { recursive: true });
  await mkdir(join(folder, "tmp"));
  await chmod(join(folder, "tmp"), 0o1777);
  await plainFile(folder, "etc/passwd", `root:x:0:0:root:/:/\n${name}:x:${id}:${id}:${name}:/tmp:/\n`);
  await plainFile(folder, "etc/group", `root:x:0:\n${name}:x:${id}:\n`);
  await plainFile(folder, "etc/nsswitch.conf", "hosts: files dns\n");
}

async function copyProgram(folder: string, program: Program): Promise<void> {
  await copyInto(folder, program.source, program.path);
  for (const { path, source } of await sharedLibraries(program.source, program.libraries)) {
    await copyInto(folder, source, path);
  }
}

async function copyInto(folder: string, source: string, path: string): Promise<void> {
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  await copyFile(await realpath(source), target);
  await chmod(target, 0o755);
}

async function plainFile(folder: string, path: string, text: string): Promise<void> {
  await writeFile(join(folder, path), text);
  await chmod(join(folder, path), 0o644);
}

interface Library {
  /** Where the program looks for it. */
  readonly path: string;
  /** Where it lies. */
  readonly source: string;
}

/**
 * Those that the system's loader (ldd) finds for a program. Throws when one is missing. `folder` is
 * searched first, as LD_LIBRARY_PATH.
 */
async function sharedLibraries(program: string, folder?: string): Promise<readonly Library[]> {
  const asked = await runCommand("ldd", [program], { env: folder === undefined ? {} : { LD_LIBRARY_PATH: folder } });
  if (asked.code === 127)
    throw new Error("ldd is missing, which lists the libraries of a program: pack the image on Linux");
  if (/not a dynamic executable|statically linked/.test(asked.stdout + asked.stderr)) return [];
  if (asked.code !== 0) throw new Error(`ldd ${program}: ${lastWords(asked)}`);
  const missing = /^\s*(\S+) => not found/m.exec(asked.stdout);
  if (missing) throw new Error(`${program} needs ${missing[1]}, which is not on this machine`);
  const paths = [...asked.stdout.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path]) => path ?? "");
  // What lies in a folder of ours goes where the loader of any system looks.
  return paths.map((source) => ({
    source,
    path: folder !== undefined && source.startsWith(folder) ? `/usr/lib/${source.slice(folder.length + 1)}` : source,
  }));
}
