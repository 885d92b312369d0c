// The cluster that the journeys run on, and what they find there: kubectl and Helm bound to it, and
// images that its nodes have.

import { fileURLToPath } from "node:url";
import { findHelm } from "../../tools/parts/helm.ts";
import { kubectl } from "../../tools/parts/kubernetes.ts";
import { requirePart } from "../../tools/parts/part.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { takeCluster, type Version } from "./take-cluster.ts";

export const systemNamespace = "jsonplane-system";
export const release = "jsonplane";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Target {
  /** Resolves with what kubectl printed; rejects with what it complained of. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** Lines of `sh`, as a reader pastes them in a clone; resolves with what they printed. */
  paste(lines: string): Promise<string>;
  apply(manifest: string, namespace?: string): Promise<string>;
  /** POST of an object to a path of the API server. */
  create(path: string, object: string): Promise<string>;
  helm(...args: readonly string[]): Promise<string>;
  /** `helm install` or `upgrade` to a version, until everything is ready. */
  rollOut(verb: "install" | "upgrade", version: Version, ...args: readonly string[]): Promise<string>;
  /** What is installed first. */
  readonly from: Version;
  /** What it is upgraded to: this tree. */
  readonly to: Version;
  /** Image of Redis. */
  readonly redis: string;
  /** Whether the cluster is there after stop(). */
  readonly isKept: boolean;
  stop(): Promise<void>;
}

const patience = "240s";

export async function openTarget(env: NodeJS.ProcessEnv): Promise<Target> {
  const [kubectlPath, helmPath] = [await requirePart(env, kubectl), await findHelm(env)];
  const cluster = await takeCluster(env);
  const { kubeconfig, from, to, redis } = cluster;
  const run = async (program: string, args: readonly string[], input?: string): Promise<string> => {
    const options = { env: { KUBECONFIG: kubeconfig }, timeout: 400_000, ...(input !== undefined && { input }) };
    const { code, stdout, stderr } = await runCommand(program, args, options);
    if (code !== 0) throw new Error(`${args.join(" ")} failed (${code}): ${stderr}${stdout}`);
    return stdout;
  };
  const helm = (...args: readonly string[]): Promise<string> => run(helmPath, args);
  return {
    kubectl: (...args) => run(kubectlPath, args),
    paste: (lines) => run("sh", ["-euc", `cd ${root}; kubectl() { ${kubectlPath} "$@"; }\n${lines}`]),
    apply: (manifest, namespace) =>
      run(
        kubectlPath,
        ["apply", "--server-side", "-f", "-", ...(namespace === undefined ? [] : ["--namespace", namespace])],
        manifest,
      ),
    create: (path, object) => run(kubectlPath, ["create", "--raw", path, "-f", "-"], object),
    helm,
    rollOut: (verb, { chart, image }, ...args) =>
      helm(
        verb,
        release,
        chart,
        ...["--namespace", systemNamespace, "--wait", "--timeout", patience],
        ...(verb === "install" ? ["--create-namespace"] : []),
        ...["--set", `image.repository=${repositoryOf(image)},image.tag=${tagOf(image)}`],
        ...["--set", `redis.bundled.image.repository=${repositoryOf(redis)}`],
        ...["--set-string", `redis.bundled.image.tag=${tagOf(redis)}`],
        ...args,
      ),
    from,
    to,
    redis,
    isKept: cluster.isKept,
    stop: () => cluster.stop(),
  };
}

function repositoryOf(image: string): string {
  return image.slice(0, image.lastIndexOf(":"));
}

function tagOf(image: string): string {
  return image.slice(image.lastIndexOf(":") + 1);
}
