// Runs the Jobs of a cluster in place of its kubelets: the container's command line here, with its
// variables and Secrets as the API server has them. A kubectl of its own shows what a Job printed.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand } from "../../tools/parts/run-command.ts";
import { type OwnFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { programFile } from "../support/fleet/program-process.ts";
import { apiCall } from "../support/kubernetes/api-server/api-server-call.ts";

interface Job {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template: { readonly spec: PodSpec } };
}

interface PodSpec {
  readonly containers: readonly [Container];
  readonly volumes?: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string; readonly items: readonly SecretItem[] };
  }[];
}

interface Container {
  readonly args: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
  }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface SecretItem {
  readonly key: string;
  readonly path: string;
}

export interface ClusterJobs {
  /** Folder of a kubectl for this cluster, in front of a PATH. */
  readonly programs: string;
  stop(): Promise<void>;
}

export async function runJobs(fleet: OwnFleet, folder: string): Promise<ClusterJobs> {
  const programs = join(folder, "programs");
  await mkdir(programs);
  const kubectl = `HOME=${folder} KUBECONFIG=${await fleet.api.kubeconfig()} exec ${fleet.api.programs.kubectl} "$@"`;
  const logs = `for last; do :; done\ncase " $* " in *" logs job/"*) exec cat "${folder}/\${last#job/}.log" ;; esac`;
  await writeFile(join(programs, "kubectl"), `#!/bin/sh\n${logs}\n${kubectl}\n`, { mode: 0o755 });
  const done = new Set<string>();
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      for (const job of await jobsOf(fleet)) {
        if (done.has(job.metadata.name)) continue;
        done.add(job.metadata.name);
        await run(fleet, folder, job);
      }
      await sleep(200);
    }
  })();
  return {
    programs,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function jobsOf({ api }: OwnFleet): Promise<readonly Job[]> {
  const { body } = await apiCall(api, `/apis/batch/v1/namespaces/${systemNamespace}/jobs`);
  return (body as unknown as { readonly items: readonly Job[] }).items;
}

async function run(fleet: OwnFleet, folder: string, { metadata: { name }, spec }: Job): Promise<void> {
  const { containers, volumes = [] } = spec.template.spec;
  const [container] = containers;
  const env = await variablesOf(fleet, container);
  const mounted = await mountSecrets(fleet, join(folder, name), { volumes, container });
  const began = new Date();
  const { code, stdout, stderr } = await runCommand(process.execPath, [programFile, ...mounted], { env });
  await writeFile(join(folder, `${name}.log`), stdout + stderr);
  const [startTime, completionTime] = [began, new Date()].map((time) => `${time.toISOString().slice(0, 19)}Z`);
  const types = code === 0 ? ["SuccessCriteriaMet", "Complete"] : ["FailureTarget", "Failed"];
  const conditions = types.map((type) => ({ type, status: "True", lastTransitionTime: completionTime }));
  const status = { startTime, conditions, ...(code === 0 && { completionTime, succeeded: 1 }) };
  const patch = ["--subresource=status", "--type=merge", "-p", JSON.stringify({ status })];
  await fleet.api.kubectl(["patch", "job", name, "--namespace", systemNamespace, ...patch]);
}

/** But for the limits of Node's heap, which are those of a container. */
async function variablesOf(fleet: OwnFleet, { env = [] }: Container): Promise<Record<string, string>> {
  const variables: Record<string, string> = {};
  for (const { name, value = "", valueFrom } of env) {
    const ref = valueFrom?.secretKeyRef;
    if (name === "NODE_OPTIONS") continue;
    variables[name] = ref === undefined ? value : await fleet.secret(systemNamespace, ref.name, ref.key);
  }
  return variables;
}

/** Resolves with the arguments, in which paths lead to where the Secrets are here. */
async function mountSecrets(
  fleet: OwnFleet,
  folder: string,
  { volumes, container }: { readonly volumes: NonNullable<PodSpec["volumes"]>; readonly container: Container },
): Promise<readonly string[]> {
  let { args } = container;
  for (const { name, secret } of volumes) {
    const path = join(folder, name);
    await mkdir(path, { recursive: true });
    for (const { key, path: file } of secret?.items ?? [])
      await writeFile(join(path, file), await fleet.secret(systemNamespace, secret?.secretName ?? "", key));
    const mountPath = container.volumeMounts?.find((mount) => mount.name === name)?.mountPath ?? "";
    args = args.map((word) => (mountPath === "" ? word : word.replace(mountPath, path)));
  }
  return args;
}
