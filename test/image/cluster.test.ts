import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Cluster, downCluster, upCluster } from "../../tools/cluster/cluster.ts";
import { clusterLayout } from "../../tools/cluster/layout.ts";
import { reserveClusterNumber } from "../../tools/cluster/reserve-number.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { importCommand } from "../../tools/release/airgap.ts";
import { buildImage, releaseFiles } from "../../tools/release/build-release.ts";
import { readVersion } from "../../tools/release/version.ts";
import { imageBuild } from "../support/chart/image-build.ts";
import { eventually } from "../support/time/eventually.ts";

const { built, jsonplane, redis } = imageBuild();
const image = jsonplane.name;
const { number, release } = await reserveClusterNumber();
const { folder, name, containerd } = clusterLayout(process.env, number);
let cluster: Cluster;

beforeAll(async () => {
  // Remains of a run that was killed: this number is reserved, so nobody uses them.
  await downCluster(process.env, number);
  cluster = await upCluster(process.env, { number });
  for (const { file } of [jsonplane, redis]) await cluster.load(file);
  await kubectl("create", "namespace", "strict");
  await kubectl("label", "namespace", "strict", "pod-security.kubernetes.io/enforce=restricted");
}, 300_000);

afterAll(async () => {
  await cluster?.down();
  release();
}, 120_000);

const kubectl = (...args: readonly string[]): Promise<string> => kubectlWith("", ...args);

async function kubectlWith(input: string, ...args: readonly string[]): Promise<string> {
  const done = await runCommand(cluster.kubectl, ["--kubeconfig", cluster.kubeconfig, ...args], { input });
  expect(done.code, done.stderr).toBe(0);
  return done.stdout;
}

async function runPod(name: string, container: object, further: object = {}): Promise<void> {
  const strict = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } };
  const securityContext = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };
  const containers = [{ name, imagePullPolicy: "Never", securityContext: strict, ...container }];
  const spec = { restartPolicy: "Never", automountServiceAccountToken: false, securityContext, containers, ...further };
  const pod = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "strict" }, spec });
  await kubectlWith(pod, "apply", "--filename", "-");
}

const succeeded = (name: string) =>
  kubectl("--namespace", "strict", "wait", "--for=jsonpath={.status.phase}=Succeeded", `pod/${name}`, "--timeout=60s");

it("the image runs to its end as a restricted pod with a read-only root file system", async () => {
  await runPod("version", { image, args: ["--version"] });
  await succeeded("version");
  expect(await kubectl("--namespace", "strict", "logs", "version")).toMatch(/^\d+\.\d+\.\d+\n$/);
});

it("a pod finds a Service by its name", async () => {
  const script = 'require("dns").lookup("kubernetes.default.svc", (error, address) => console.log(error ?? address))';
  await runPod("names", { image, command: ["node", "-e", script] });
  await succeeded("names");
  expect(await kubectl("--namespace", "strict", "logs", "names")).toMatch(/^\d+\.\d+\.\d+\.\d+\n$/);
});

it("the Redis that is packed for tests keeps JSON as a restricted pod", async () => {
  const mount = { volumeMounts: [{ name: "data", mountPath: "/data" }] };
  await runPod("redis", { image: redis.name, ...mount }, { volumes: [{ name: "data", emptyDir: {} }] });
  await kubectl("--namespace", "strict", "wait", "--for=condition=Ready", "pod/redis", "--timeout=60s");
  const call = ["--namespace", "strict", "exec", "redis", "--", "redis-cli"];
  await kubectl(...call, "JSON.SET", "a", "$", '{"b":1}');
  expect(await kubectl(...call, "JSON.GET", "a", "$.b")).toBe("[1]\n");
});

it("a node without a registry starts the image of a release, by its digest, once it is loaded as a release says", async () => {
  const work = await mkdtemp(join(tmpdir(), "jsonplane-airgap-test-"));
  try {
    const version = await readVersion();
    const plan = { folder: work, registry: "registry.example.org/acme", built };
    const released = await buildImage(plan, version, work);
    const archive = join(work, releaseFiles.image(version));
    const onNode = cluster.flavour === "own" ? "" : `docker exec -i ${name}-control-plane`;
    await sh(`${onNode} ${importCommand(released, "-")} < ${archive}`);
    await runPod("released", { image: released, args: ["--version"] });
    await succeeded("released");
    expect(await kubectl("--namespace", "strict", "logs", "released")).toBe(`${version}\n`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
});

async function sh(line: string): Promise<void> {
  const done = await runCommand("sh", ["-euc", line], { env: { CONTAINERD_ADDRESS: containerd }, timeout: 100_000 });
  expect(done.code, done.stderr).toBe(0);
}

it("bringing up a cluster that is up changes nothing", async () => {
  const before = await kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}");
  const again = await upCluster(process.env, { number });
  expect(again.kubeconfig).toBe(cluster.kubeconfig);
  expect(await kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")).toBe(before);
});

/** Of a node of our own: command lines of its programs and of those who look after its pods. */
async function processes(): Promise<readonly string[]> {
  const { stdout } = await runCommand("ps", ["-eo", "args"]);
  return stdout.split("\n").filter((line) => line.includes(`${folder}/`));
}

async function remains(): Promise<readonly string[]> {
  if (cluster.flavour === "kind") {
    return (await runCommand("kind", ["get", "clusters"])).stdout.split("\n").filter((line) => line === name);
  }
  const groups = ["", ...(await readdir("/sys/fs/cgroup"))].map((entry) => join("/sys/fs/cgroup", entry, name));
  const links = Object.keys(networkInterfaces()).filter((link) => link === name);
  const mounts = (await readFile("/proc/mounts", "utf8")).split("\n").filter((line) => line.includes(folder));
  return [...(await processes()), ...[folder, ...groups].filter((path) => existsSync(path)), ...links, ...mounts];
}

it("a node of our own ends with the process behind it, even when that is killed, and comes up anew", async () => {
  if (cluster.flavour === "own") {
    process.kill(Number(await readFile(join(folder, "supervisor.pid"), "utf8")), "SIGKILL");
    await eventually(async () => expect(await processes()).toEqual([]));
  }
  await upCluster(process.env, { number });
  await kubectl("get", "nodes");
}, 300_000);

it("taking it down leaves no process, link, control group, mount or file, twice over", async () => {
  await cluster.down();
  expect(await remains()).toEqual([]);
  await cluster.down();
}, 300_000);
