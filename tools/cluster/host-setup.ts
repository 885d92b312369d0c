// What the node needs of this machine around it: a link to its network, a control group, and
// folders to mount over. `tearDown` removes all of it, also after a crash, and nothing that it
// didn't make.

import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { lastWords, runCommand } from "../parts/run-command.ts";
import type { ClusterLayout } from "./layout.ts";

const groups = "/sys/fs/cgroup";
/** Programs expect these; the node mounts its own over them. */
const mountPoints = ["/var/lib/kubelet", "/var/lib/cni", "/var/log/pods", "/var/log/containers"];

export async function setUp(layout: ClusterLayout): Promise<void> {
  const made: string[] = [];
  for (const path of mountPoints) {
    const first = await mkdir(path, { recursive: true });
    if (first !== undefined) made.push(path);
  }
  await writeFile(join(layout.folder, "mount-points"), made.join("\n"));
  await makeGroups(layout.name);
}

/**
 * Links this machine with the network namespace of a process, which has to be another one than
 * ours; the process finds its end as eth0. The namespace has no name: `ip netns` would mount over
 * those of other container runtimes, which then can't remove theirs.
 */
export async function linkTo(layout: ClusterLayout, processId: number): Promise<void> {
  const ours = await readlink("/proc/self/ns/net");
  const deadline = Date.now() + 10_000;
  while ((await readlink(`/proc/${processId}/ns/net`)) === ours) {
    if (Date.now() > deadline) throw new Error("The node has no network namespace of its own");
    await sleep(20);
  }
  const { name, hostAddress } = layout;
  await ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", String(processId));
  await ip("address", "add", `${hostAddress}/30`, "dev", name);
  await ip("link", "set", name, "up");
}

async function ip(...args: readonly string[]): Promise<void> {
  const done = await runCommand("ip", args);
  if (done.code !== 0) throw new Error(`ip ${args.join(" ")}: ${lastWords(done)}`);
}

function isUnified(): boolean {
  return existsSync(join(groups, "cgroup.controllers"));
}

async function makeGroups(name: string): Promise<void> {
  if (isUnified()) {
    const controllers = (await readFile(join(groups, "cgroup.controllers"), "utf8")).trim().split(" ");
    const wanted = controllers.map((controller) => `+${controller}`).join(" ");
    await writeFile(join(groups, "cgroup.subtree_control"), wanted);
    await mkdir(join(groups, name), { recursive: true });
    await writeFile(join(groups, name, "cgroup.subtree_control"), wanted);
    return;
  }
  for (const folder of await hierarchies()) await mkdir(join(folder, name), { recursive: true });
  const cpus = join(groups, "cpuset");
  for (const file of existsSync(cpus) ? ["cpuset.cpus", "cpuset.mems"] : []) {
    await writeFile(join(cpus, name, file), await readFile(join(cpus, file)));
  }
}

async function hierarchies(): Promise<readonly string[]> {
  if (isUnified()) return [groups];
  const entries = await readdir(groups, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(groups, entry.name));
}

export async function tearDown(layout: ClusterLayout): Promise<void> {
  for (const folder of await hierarchies()) await removeGroup(join(folder, layout.name));
  // It goes with the namespace at its other end, some time later.
  await runCommand("ip", ["link", "delete", layout.name]);
  const made = await readFile(join(layout.folder, "mount-points"), "utf8").catch(() => "");
  // Linux lets a folder go that is mounted over elsewhere, and the mount with it.
  const others = (await readdir(dirname(layout.folder)).catch(() => [])).filter(
    (other) => other !== basename(layout.folder),
  );
  if (others.length > 0) return;
  for (const path of made.split("\n").filter((line) => line !== "")) await removeIfEmpty(path);
}

/** Its processes are dying: a group can be removed once the last of them has gone. */
async function removeGroup(folder: string): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (existsSync(folder)) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.filter((found) => found.isDirectory())) await removeGroup(join(folder, entry.name));
    if (await removeIfEmpty(folder)) return;
    if (Date.now() > deadline) throw new Error(`The control group ${folder} still holds processes`);
    await sleep(100);
  }
}

async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return true;
    if (code === "EBUSY" || code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw error;
  }
}
