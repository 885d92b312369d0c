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
  const aptGet = onPath("apt-get", env);
  if (!aptGet) return "there is no apt-get on this machine";
  const become = await rootPrefix(env);
  if (!become) return "apt-get can only be run by root, and sudo asks for a password";
  const run = (...args: readonly string[]) => {
    const options = ["-o", "Dpkg::Use-Pty=0", "-q"];
    const [command = aptGet, ...rest] = [...become, aptGet, ...options, ...args];
    return runCommand(command, rest, { env: { DEBIAN_FRONTEND: "noninteractive" } });
  };
  const install = ["install", "--yes", "--no-install-recommends", name];
  const first = await run(...install);
  if (first.code === 0) return undefined;
  // A fresh container has no package lists.
  await run("update");
  const second = await run(...install);
  return second.code === 0 ? undefined : `apt-get couldn't install ${name}: ${lastWords(second)}`;
}

/** The words in front of a command that make root run it; undefined when that would need a password. */
async function rootPrefix(env: Environment): Promise<readonly string[] | undefined> {
  if (process.getuid?.() === 0) return [];
  const sudo = onPath("sudo", env);
  if (!sudo) return undefined;
  const asked = await runCommand(sudo, ["-n", "true"]);
  // sudo drops the environment.
  return asked.code === 0 ? [sudo, "-n", "env", "DEBIAN_FRONTEND=noninteractive"] : undefined;
}
