// What this machine has to be and have to serve as a node: Linux, root, control groups, and
// programs that come as Debian packages.

import { existsSync } from "node:fs";
import { debianProgram } from "../parts/debian-packages.ts";
import { type Part, partMissing } from "../parts/part.ts";

const otherWays = [
  "or install Docker and kind, which this uses where both are",
  "or use a cluster that you have already",
];
const versionArgs = ["--version"];

const program = (name: string, from: string): Part =>
  debianProgram({ name, package: from, ways: otherWays, versionArgs });

const pluginFolders = ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"];

/** The folder of the programs that connect pods. */
export const networkPlugins: Part = debianProgram({
  name: "container network plugins",
  package: "containernetworking-plugins",
  ways: otherWays,
  locate: () => {
    const path = pluginFolders.find((folder) => existsSync(`${folder}/bridge`));
    return path === undefined ? undefined : { path, origin: "system" };
  },
});

export const machineParts: readonly Part[] = [
  program("containerd", "containerd"),
  program("ctr", "containerd"),
  program("runc", "runc"),
  program("iptables", "iptables"),
  program("conntrack", "conntrack"),
  program("ipset", "ipset"),
  debianProgram({ name: "openssl", package: "openssl", ways: otherWays, versionArgs: ["version"] }),
  debianProgram({ name: "ip", package: "iproute2", ways: otherWays }),
  program("unshare", "util-linux"),
  program("setpriv", "util-linux"),
  networkPlugins,
];

/** Throws PartMissing when this machine can't be a node, whatever is installed on it. */
export function requireNodeMachine(): void {
  if (process.platform !== "linux") throw partMissing("A node of our own needs Linux", otherWays);
  if (process.getuid?.() !== 0) {
    throw partMissing("A node of our own needs root: it makes network namespaces and control groups", [
      "run this as root (sudo)",
      ...otherWays,
    ]);
  }
  const groups = ["/sys/fs/cgroup/cgroup.controllers", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids"];
  const unified = existsSync(groups[0] ?? "");
  if (!unified && !groups.slice(1).every((path) => existsSync(path))) {
    throw partMissing("There are no control groups under /sys/fs/cgroup, which hold the processes of pods", otherWays);
  }
}
