// `make demo`: a whole fleet on one machine without Docker, from the starters that tests use: a real Kubernetes API server and
// etcd, Redis JSON, the operator, two replicas of the data plane, and the examples. Ctrl-C ends all of it and leaves nothing.

import { fileURLToPath } from "node:url";
import { type Closers, runProgram } from "../../cli/run-program.ts";
import { StartRefused } from "../../cli/start-refused.ts";
import { PartMissing } from "../../tools/parts/part.ts";
import { startApiServer, type TestApiServer } from "../support/api-server.ts";
import { freePort, isFree } from "../support/free-port.ts";
import { mountKeyring } from "../support/mounted-keyring.ts";
import { startOperatorProcess } from "../support/operator-process.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { type Replica, startReplica } from "../support/replica.ts";
import { welcome } from "./welcome.ts";

const examples = fileURLToPath(new URL("../../examples/", import.meta.url));
const systemNamespace = "jsonplane-system";
const readySeconds = 60;
const quiet = ["--log-level", "warn"];

const say = (line: string): void => void process.stdout.write(`${line}\n`);

process.exitCode = await runProgram({ host: "127.0.0.1", port: 8080 }, async (closers) => {
  try {
    await demo(closers);
    return undefined;
  } catch (error) {
    if (error instanceof PartMissing) throw new StartRefused(error.message, { cause: error });
    throw error;
  }
});
process.exit();

async function demo(closers: Closers): Promise<void> {
  say("Starting etcd and a Kubernetes API server (where they have to be built first, that takes some minutes, once)");
  const api = await startApiServer({ controllers: ["namespace"] });
  closers.push(() => api.stop());
  await api.kubectl(["create", "namespace", systemNamespace]);
  say("Starting Redis JSON");
  const redis = await startRedis();
  closers.push(() => redis.stop());
  const replicas = await startFleet(closers, api, redis);
  say("Applying examples/");
  await api.kubectl(["apply", "--server-side", "-f", examples]);
  await api.kubectl(["wait", "--for=condition=Ready", "jsonplane", "--all", `--timeout=${readySeconds}s`]);
  const kubeconfig = await api.kubeconfig();
  for (const line of await welcome({ api, kubeconfig, replicas })) say(line);
}

async function startFleet(closers: Closers, api: TestApiServer, redis: TestRedis): Promise<readonly Replica[]> {
  const ports = [await portNear(8080), await portNear(8081)];
  say("Starting the operator and two replicas of the data plane");
  const kubeconfig = await api.kubeconfig();
  const publicUrl = `http://127.0.0.1:${ports[0]}`;
  const operator = await startOperatorProcess({ kubeconfig, redis: redis.url, publicUrl, args: quiet });
  closers.push(async () => void (await operator.stop()));
  const keyring = await mountKeyring(api, systemNamespace);
  closers.push(() => keyring.stop());
  const replicas: Replica[] = [];
  for (const [index, port] of ports.entries()) {
    const adminPort = await portNear(9090 + index);
    const args = [...quiet, "--public-url", `http://127.0.0.1:${port}`];
    const name = `demo-${index + 1}`;
    const replica = await startReplica({ redis: redis.url, keyring: keyring.file, name, port, adminPort, args });
    closers.push(async () => void (await replica.stop()));
    replicas.push(replica);
  }
  return replicas;
}

/** The wanted port where it is free: what a person knows by heart is nicer to type. */
async function portNear(wanted: number): Promise<number> {
  return (await isFree(wanted)) ? wanted : await freePort();
}
