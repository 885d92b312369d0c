// A whole fleet for tests: a real API server, real Redis JSON, operators and data-plane replicas, each a process of its own.
// Tests share one per file and use namespaces of their own.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiServerOptions, startApiServer, type TestApiServer } from "./api-server.ts";
import { eventually } from "./eventually.ts";
import { type OperatorProcess, type OperatorProcessOptions, startOperatorProcess } from "./operator-process.ts";
import { type RedisOptions, startRedis, type TestRedis } from "./redis.ts";
import { type Replica, startReplica } from "./replica.ts";

export interface FleetOptions {
  readonly operators?: number;
  readonly replicas?: number;
  readonly api?: ApiServerOptions;
  readonly redis?: RedisOptions;
  /** Further flags of each operator. */
  readonly operatorArgs?: readonly string[];
  /** Further flags of each replica. */
  readonly replicaArgs?: readonly string[];
}

export interface Fleet {
  readonly api: TestApiServer;
  readonly redis: TestRedis;
  /** What the operators are told to be the public URL; replicas answer at their own origins. */
  readonly publicUrl: string;
  readonly operators: OperatorProcess[];
  readonly replicas: Replica[];
  /** The key ring's file that all replicas read; written from its Secret. */
  readonly keyring: string;
  addOperator(options?: Partial<OperatorProcessOptions>): Promise<OperatorProcess>;
  /** Waits for the fleet's key ring, then for the replica. */
  addReplica(): Promise<Replica>;
  /** Writes the Secret's ring into the file, as the kubelet would. */
  mountKeyring(): Promise<void>;
  /** Waits until every object of the namespace is Ready. */
  ready(namespace: string, withinSeconds?: number): Promise<void>;
  /** One object as JSON. */
  get(kind: string, namespace: string, name: string): Promise<FleetObject>;
  /** The decoded entry of a Secret. */
  secret(namespace: string, name: string, entry: string): Promise<string>;
  stop(): Promise<void>;
}

export interface FleetObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly generation: number;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly status?: {
    readonly conditions?: readonly FleetCondition[];
    readonly [member: string]: unknown;
  };
}

export interface FleetCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

const systemNamespace = "jsonplane-system";
const publicUrl = "http://api.test";

export async function startFleet(options: FleetOptions = {}): Promise<Fleet> {
  const dir = await mkdtemp(join(tmpdir(), "jsonplane-fleet-"));
  const [api, redis] = await Promise.all([startApiServer(options.api), startRedis(options.redis)]);
  await api.kubectl(["create", "namespace", systemNamespace]);
  const operators: OperatorProcess[] = [];
  const replicas: Replica[] = [];
  const keyring = join(dir, "keyring.json");
  let named = 0;

  const get = async (kind: string, namespace: string, name: string): Promise<FleetObject> =>
    JSON.parse(await api.kubectl(["get", kind, name, "--namespace", namespace, "-o", "json"])) as FleetObject;
  const secret = async (namespace: string, name: string, entry: string): Promise<string> => {
    const { data } = await get("secret", namespace, name);
    return Buffer.from(data?.[entry] ?? "", "base64").toString();
  };
  const fleet: Fleet = {
    api,
    redis,
    publicUrl,
    operators,
    replicas,
    keyring,
    get,
    secret,
    async addOperator(more = {}) {
      const kubeconfig = more.kubeconfig ?? (await api.kubeconfig());
      const args = [...(options.operatorArgs ?? []), ...(more.args ?? [])];
      const operator = await startOperatorProcess({ redis: redis.url, publicUrl, ...more, kubeconfig, args });
      operators.push(operator);
      return operator;
    },
    async mountKeyring() {
      await writeFile(keyring, await secret(systemNamespace, "jsonplane-keyring", "keyring.json"));
    },
    async addReplica() {
      await eventually(() => fleet.mountKeyring(), { withinMs: 30_000 });
      named += 1;
      const replica = await startReplica({
        redis: redis.url,
        keyring,
        name: `replica-${named}`,
        args: options.replicaArgs ?? [],
      });
      replicas.push(replica);
      return replica;
    },
    async ready(namespace, withinSeconds = 30) {
      const timeout = `--timeout=${withinSeconds}s`;
      await api.kubectl(["wait", "--for=condition=Ready", "jsonplane", "--all", timeout, "--namespace", namespace]);
    },
    async stop() {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await Promise.all(operators.map((operator) => operator.stop()));
      await Promise.all([api.stop(), redis.stop()]);
      await rm(dir, { recursive: true, force: true });
    },
  };
  try {
    for (let count = 0; count < (options.operators ?? 1); count += 1) await fleet.addOperator();
    for (let count = 0; count < (options.replicas ?? 1); count += 1) await fleet.addReplica();
  } catch (error) {
    await fleet.stop();
    throw error;
  }
  return fleet;
}
