// The demo: a fleet on one machine without Docker, from the starters that tests use: a real
// Kubernetes API server and etcd, Redis JSON, the operator, two replicas of the data plane, and the
// examples. Whatever fails is said in one line, with exit code 1.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Cleanup, runProgram } from "../../cli/run-program.ts";
import { failureOf } from "../../tools/start-script.ts";
import { mountKeyring } from "../support/fleet/mounted-keyring.ts";
import { startOperatorProcess } from "../support/fleet/operator-process.ts";
import { type Replica, startReplica } from "../support/fleet/replica.ts";
import { type OwnApiServer, startApiServer } from "../support/kubernetes/api-server/api-server.ts";
import { freePort, isFree } from "../support/process/free-port.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { startupMessage } from "./startup-message.ts";
import { type NeededProgram, waitFor } from "./wait-for.ts";

const examples = fileURLToPath(new URL("../../examples/", import.meta.url));
/** What `make run` serves: the examples, those in folders too. */
const manifests = [
  examples,
  join(examples, "browser-app/backend/"),
  join(examples, "live-list/"),
  join(examples, "retro-board/backend/"),
];
const systemNamespace = "jsonplane-system";
const quiet = ["--log-level", "warn"];
/** A machine that does much else takes minutes for what is a matter of seconds. */
const patienceMs = 240_000;

export interface DemoOptions {
  /** Another program in the operator's place. */
  readonly operator?: string;
}

interface Parts {
  readonly api: OwnApiServer;
  readonly redis: TestRedis;
}

interface Fleet {
  readonly replicas: readonly Replica[];
  readonly programs: readonly NeededProgram[];
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Resolves with the exit code once Ctrl-C has ended it, or when it can't start. */
export function runDemo(options: DemoOptions = {}): Promise<number> {
  return runProgram({ name: "make demo", refusalOf: failureOf }, async (cleanup) => {
    await start(cleanup, options);
    return undefined;
  });
}

async function start(cleanup: Cleanup, options: DemoOptions): Promise<void> {
  say("Starting etcd and a Kubernetes API server");
  const api = await startApiServer({ controllers: ["namespace"] });
  cleanup.add(() => api.stop());
  await api.kubectl(["create", "namespace", systemNamespace]);
  say("Starting Redis JSON");
  const redis = await startRedis();
  cleanup.add(() => redis.stop());
  const { replicas, programs } = await startFleet(cleanup, { api, redis }, options);
  say("Applying examples/");
  await api.kubectl(["apply", "--server-side", ...manifests.flatMap((folder) => ["-f", folder])]);
  await waitFor({ what: "the examples to be Ready", withinMs: patienceMs, needs: programs }, () => requireReady(api));
  const kubeconfig = await api.kubeconfig();
  for (const line of await startupMessage({ api, kubeconfig, replicas })) say(line);
}

async function startFleet(cleanup: Cleanup, { api, redis }: Parts, options: DemoOptions): Promise<Fleet> {
  const ports = [await portNear(8080), await portNear(8081)];
  // One for both, as behind a load balancer: it is the issuer of tokens.
  const publicUrl = `http://127.0.0.1:${ports[0]}`;
  say("Starting the operator and two replicas of the data plane");
  const operator = await startOperatorProcess({
    kubeconfig: await api.kubeconfig(),
    redis: redis.url,
    publicUrl,
    args: quiet,
    untilReady: false,
    ...(options.operator !== undefined && { program: options.operator }),
  });
  cleanup.add(async () => void (await operator.stop()));
  const programs: NeededProgram[] = [{ ...operator, name: "The operator" }];
  const secret = ["get", "secret", "jsonplane-keyring", "--namespace", systemNamespace];
  const what = "the operator to make the Secret jsonplane-keyring";
  await waitFor({ what, withinMs: patienceMs, needs: programs }, () => api.kubectl(secret));
  const keyring = await mountKeyring(api, systemNamespace);
  cleanup.add(() => keyring.stop());
  const replicas: Replica[] = [];
  for (const [index, port] of ports.entries()) {
    const adminPort = await portNear(9090 + index);
    const args = [...quiet, "--public-url", publicUrl];
    const name = `demo-${index + 1}`;
    const places = { redis: redis.url, keyring: keyring.file, port, adminPort };
    const replica = await startReplica({ ...places, name, args, untilReady: false });
    cleanup.add(async () => void (await replica.stop()));
    replicas.push(replica);
    programs.push({ ...replica, name: `The replica ${name}` });
    await waitFor({ what: `the replica ${name} to be ready`, withinMs: patienceMs, needs: programs }, async () => {
      const status = await replica.ready();
      if (status !== 200) throw new Error(`its /readyz answers ${status}`);
    });
  }
  return { replicas, programs };
}

interface Listed {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

/** Throws with the first object that isn't Ready, and why. */
async function requireReady(api: OwnApiServer): Promise<void> {
  const { items } = JSON.parse(await api.kubectl(["get", "jsonplane", "-o", "json"])) as { items: readonly Listed[] };
  for (const { kind, metadata, status } of items) {
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    if (ready?.status === "True") continue;
    const why = ready === undefined ? "the operator has not looked at it" : `${ready.reason}, ${ready.message}`;
    throw new Error(`${kind} ${metadata.name}: ${why}`);
  }
  if (items.length === 0) throw new Error("none is there");
}

/** The wanted port where it is free: what a person knows by heart is nicer to type. */
async function portNear(wanted: number): Promise<number> {
  return (await isFree(wanted)) ? wanted : await freePort();
}
