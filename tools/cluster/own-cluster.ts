// A cluster of one node of our own: up, loading an image, down. `up` on a cluster that answers
// changes nothing; on the remains of one it starts again. Refuses when this machine can't be a node
// (PartMissing) or a program doesn't come up, with its log.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { packArchive } from "../image/archive.ts";
import type { Environment } from "../parts/cache.ts";
import { type ClusterPrograms, findClusterPrograms, metricsServer } from "../parts/cluster-programs.ts";
import { requirePart } from "../parts/part.ts";
import { lastWords, runCommand } from "../parts/run-command.ts";
import { baseObjects, volumes } from "./base-objects.ts";
import { writeCertificates } from "./certificates.ts";
import { tearDown } from "./host-setup.ts";
import { type ClusterLayout, clusterLayout, nodeName } from "./layout.ts";
import { networkPlugins, requireNodeMachine } from "./machine.ts";
import { writeSettings } from "./settings.ts";

export interface ClusterOptions {
  /** Number 0 is `make cluster`'s; tests that want one for themselves take another. */
  readonly number?: number;
  /**
   * With metrics-server, for `kubectl top` and autoscaling; default false. A cluster of kind never
   * has it.
   */
  readonly metrics?: boolean;
}

const supervisor = fileURLToPath(new URL("supervise.ts", import.meta.url));

export async function upOwnCluster(env: Environment, options: Required<ClusterOptions>): Promise<ClusterLayout> {
  const { number } = options;
  const layout = clusterLayout(env, number);
  requireNodeMachine();
  const plugins = await requirePart(env, networkPlugins);
  const programs: NodePrograms = {
    ...(await findClusterPrograms(env)),
    metricsServer: options.metrics ? await requirePart(env, metricsServer) : undefined,
  };
  if ((await supervisorId(layout)) !== undefined && (await nodeIsReady(layout, programs.kubectl))) return layout;
  await downOwnCluster(env, number);
  try {
    await prepareFolder(layout, plugins);
    await startSupervisor(layout, programs, number);
    await bringUp(layout, programs);
  } catch (error) {
    const logs = await lastLogs(layout);
    await downOwnCluster(env, number);
    throw new Error(`The cluster didn't come up.\n${logs}`, { cause: error });
  }
  return layout;
}

interface NodePrograms extends ClusterPrograms {
  /** Undefined: the cluster has none. */
  readonly metricsServer: string | undefined;
}

async function prepareFolder(layout: ClusterLayout, plugins: string): Promise<void> {
  await mkdir(join(layout.folder, "log"), { recursive: true });
  for (let index = 0; index < volumes; index += 1) {
    await mkdir(join(layout.folder, "volumes", String(index)), { recursive: true });
  }
  await writeCertificates(layout);
  await writeSettings(layout, plugins);
}

async function startSupervisor(layout: ClusterLayout, programs: NodePrograms, number: number): Promise<void> {
  const log = await open(join(layout.folder, "log/supervisor.log"), "a");
  const child = spawn(process.execPath, [supervisor, String(number)], {
    detached: true,
    stdio: ["ignore", log.fd, log.fd],
    env: {
      ...process.env,
      ETCD: programs.etcd,
      KUBE_APISERVER: programs.kubeApiserver,
      KUBE_CONTROLLER_MANAGER: programs.kubeControllerManager,
      KUBE_SCHEDULER: programs.kubeScheduler,
      KUBELET: programs.kubelet,
      KUBE_PROXY: programs.kubeProxy,
      KUBE_ROUTER: programs.kubeRouter,
      COREDNS: programs.coredns,
      ...(programs.metricsServer !== undefined && { METRICS_SERVER: programs.metricsServer }),
    },
  });
  child.unref();
  await writeFile(join(layout.folder, "supervisor.pid"), String(child.pid));
  await log.close();
}

async function bringUp(layout: ClusterLayout, programs: NodePrograms): Promise<void> {
  const { kubectl } = programs;
  await until("containerd", layout, async () => (await ctr(layout, ["version"])).code === 0);
  await loadPause(layout, programs.pause);
  await until(
    "the API server",
    layout,
    async () => (await ask(layout, kubectl, ["get", "--raw", "/readyz"])).code === 0,
  );
  await writeFile(join(layout.folder, "api-ready"), "");
  const objects = join(layout.folder, "base.json");
  await writeFile(objects, baseObjects(layout, { metrics: programs.metricsServer !== undefined }));
  let lastOutput = "";
  await until("the namespace kube-system", layout, async () => {
    const done = await ask(layout, kubectl, ["apply", "--filename", objects]);
    lastOutput = lastWords(done);
    return done.code === 0;
  }).catch((error: unknown) => {
    throw new Error(lastOutput, { cause: error });
  });
  await until("the node", layout, () => nodeIsReady(layout, kubectl));
  await until("CoreDNS", layout, () => answers(`http://${layout.nodeAddress}:8181/ready`));
  if (programs.metricsServer === undefined) return;
  // An aggregated server that doesn't answer keeps namespaces from going.
  const available = ["wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", "--timeout=1s"];
  await until("metrics-server", layout, async () => (await ask(layout, kubectl, available)).code === 0);
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  return response?.ok === true;
}

async function nodeIsReady(layout: ClusterLayout, kubectl: string): Promise<boolean> {
  const condition = '{.status.conditions[?(@.type=="Ready")].status}';
  const asked = await ask(layout, kubectl, ["get", "node", nodeName, "-o", `jsonpath=${condition}`]);
  const accounts = await ask(layout, kubectl, ["get", "serviceaccount", "default", "-n", "default", "-o", "name"]);
  return asked.stdout === "True" && accounts.code === 0;
}

function ask(layout: ClusterLayout, kubectl: string, args: readonly string[]) {
  return runCommand(kubectl, ["--kubeconfig", layout.kubeconfig, "--request-timeout", "10s", ...args]);
}

function ctr(layout: ClusterLayout, args: readonly string[]) {
  return runCommand("ctr", ["--address", layout.containerd, "--namespace", "k8s.io", ...args], { timeout: 120_000 });
}

async function until(what: string, layout: ClusterLayout, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!(await holds())) {
    if ((await supervisorId(layout)) === undefined) throw new Error(`The cluster ended before ${what} was there`);
    if (Date.now() > deadline) throw new Error(`Waited two minutes for ${what}`);
    await sleep(150);
  }
}

async function loadPause(layout: ClusterLayout, pause: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-pause-"));
  try {
    await copyFile(pause, join(folder, "pause"));
    const file = join(layout.folder, "pause.tar");
    await packArchive(folder, { name: "localhost/pause:1", entrypoint: ["/pause"], user: "65532:65532" }, file);
    await loadImage(layout, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Pods find it with imagePullPolicy IfNotPresent or Never. */
export async function loadImage(layout: ClusterLayout, archive: string): Promise<void> {
  const done = await ctr(layout, ["images", "import", archive]);
  if (done.code !== 0) throw new Error(`containerd refused ${archive}: ${lastWords(done)}`);
}

/**
 * Ends every process of the cluster and removes everything of it; one that isn't there is no
 * failure.
 */
export async function downOwnCluster(env: Environment, number = 0): Promise<void> {
  const layout = clusterLayout(env, number);
  if (!existsSync(layout.folder)) return;
  if (process.getuid?.() !== 0) throw new Error(`The cluster in ${layout.folder} is root's: sudo make cluster-down`);
  const id = await supervisorId(layout);
  if (id !== undefined) {
    process.kill(id, "SIGTERM");
    const deadline = Date.now() + 30_000;
    while ((await supervisorId(layout)) !== undefined) {
      // Killed, it takes the node along as well, and leaves the rest to tearDown.
      if (Date.now() > deadline) process.kill(id, "SIGKILL");
      await sleep(50);
    }
  }
  await tearDown(layout);
  await rm(layout.folder, { recursive: true, force: true });
}

/**
 * The number of a process that ended may be another program's by now; another clone's is as good as
 * ours.
 */
async function supervisorId(layout: ClusterLayout): Promise<number | undefined> {
  const id = Number(await readFile(join(layout.folder, "supervisor.pid"), "utf8").catch(() => ""));
  if (!(id > 0)) return undefined;
  const command = await readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "");
  return command.includes("/tools/cluster/supervise.ts\0") ? id : undefined;
}

async function lastLogs(layout: ClusterLayout): Promise<string> {
  const texts: string[] = [];
  for (const name of [
    "supervisor",
    "containerd",
    "etcd",
    "kube-apiserver",
    "kubelet",
    "kube-router",
    "coredns",
    "metrics-server",
  ]) {
    const text = await readFile(join(layout.folder, "log", `${name}.log`), "utf8").catch(() => "");
    const end = text.trim().split("\n").slice(-5).join("\n");
    texts.push(`-- ${name}\n${end}`);
  }
  return texts.join("\n");
}
