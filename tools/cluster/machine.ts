// Checks that this machine can be a node, and says what is missing: Linux, root, control groups, and the programs that come as
// Debian packages, which are installed where that is possible without a question. Refuses with PartMissing.

import { existsSync } from "node:fs";
import type { Environment } from "../parts/cache.ts";
import { partMissing } from "../parts/part-missing.ts";
import { installDebianPackage, onPath } from "../parts/programs.ts";

const otherWays = ["install Docker and kind, which this uses where both are", "or use a cluster that you have already"];
const packages: Readonly<Record<string, string>> = {
  containerd: "containerd",
  ctr: "containerd",
  runc: "runc",
  iptables: "iptables",
  conntrack: "conntrack",
  openssl: "openssl",
  ip: "iproute2",
  unshare: "util-linux",
  setpriv: "util-linux",
};
const pluginFolders = ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"];

export interface Machine {
  /** Folder of the programs that connect pods. */
  readonly networkPlugins: string;
}

export async function prepareMachine(env: Environment): Promise<Machine> {
  if (process.platform !== "linux") throw partMissing("A node of our own needs Linux", otherWays);
  if (process.getuid?.() !== 0) {
    throw partMissing("A node of our own needs root: it makes network namespaces and control groups", [
      "sudo make cluster",
      ...otherWays,
    ]);
  }
  const groups = ["/sys/fs/cgroup/cgroup.controllers", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids"];
  const unified = existsSync(groups[0] ?? "");
  if (!unified && !groups.slice(1).every((path) => existsSync(path))) {
    throw partMissing("There are no control groups under /sys/fs/cgroup, which hold the processes of pods", otherWays);
  }
  for (const [program, name] of Object.entries(packages)) await demand(program, name, env);
  return { networkPlugins: await networkPlugins(env) };
}

async function demand(program: string, name: string, env: Environment): Promise<void> {
  if (onPath(program, env)) return;
  const refusal = await installDebianPackage(name, env);
  if (refusal === undefined && onPath(program, env)) return;
  const why = refusal ?? `package ${name} brought none`;
  throw partMissing(`${program} is missing: ${why}`, [
    `install it (Debian, Ubuntu: apt-get install ${name})`,
    ...otherWays,
  ]);
}

async function networkPlugins(env: Environment): Promise<string> {
  const find = () => pluginFolders.find((folder) => existsSync(`${folder}/bridge`));
  const present = find();
  if (present) return present;
  const refusal = await installDebianPackage("containernetworking-plugins", env);
  const installed = find();
  if (installed) return installed;
  throw partMissing(`The network plugins of containers are missing: ${refusal ?? "their package brought none"}`, [
    "Debian, Ubuntu: apt-get install containernetworking-plugins",
    ...otherWays,
  ]);
}
