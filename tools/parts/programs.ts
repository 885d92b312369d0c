// Looks for programs on the PATH, and installs Debian packages where that is possible without a question to anybody.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "./cache.ts";
import { lastWords, runCommand } from "./run-command.ts";

/** Where a program of that name is on the PATH. */
export function onPath(name: string, env: Environment): string | undefined {
  const folders = (env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder || ".", name)).find(isProgram);
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Installs a Debian package; answers undefined when that worked, else the reason why it didn't. */
export async function installDebianPackage(name: string, env: Environment): Promise<string | undefined> {
  if (!onPath("apt-get", env)) return "there is no apt-get on this machine";
  const become = await rootPrefix();
  if (!become) return "apt-get can only be run by root, and sudo asks for a password";
  const install = ["install", "--yes", "--no-install-recommends", name];
  const first = await aptGet(become, install);
  if (first.code === 0) return undefined;
  // A fresh container has no package lists.
  await aptGet(become, ["update"]);
  const second = await aptGet(become, install);
  return second.code === 0 ? undefined : `apt-get couldn't install ${name}:\n${lastWords(second)}`;
}

/** The words in front of a command that make root run it; undefined when that would need a password. */
async function rootPrefix(): Promise<readonly string[] | undefined> {
  if (process.getuid?.() === 0) return [];
  const sudo = await runCommand("sudo", ["-n", "true"]);
  return sudo.code === 0 ? ["sudo", "-n"] : undefined;
}

function aptGet(become: readonly string[], args: readonly string[]) {
  const words = [...become, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "Dpkg::Use-Pty=0", "-q", ...args];
  return runCommand(words[0] ?? "env", words.slice(1));
}
