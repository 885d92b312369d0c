// A fleet for tests: a real API server, real Redis JSON, operators and data-plane replicas,
// each a process of its own. Tests use namespaces of their own, so that a fleet serves many of
// them, of one file or of the whole run.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OwnApiServer } from "../kubernetes/api-server/api-server.ts";
import type { TestApiServer } from "../kubernetes/api-server/api-server-access.ts";
import {
  customResources,
  ensureNamespace,
  entryOf,
  isReady,
  type KubeObject,
  objectsOf,
  readyOf,
} from "../kubernetes/api-server/api-server-objects.ts";
import { type TakenOptions, takeApiServer } from "../kubernetes/api-server/lent-api-server.ts";
import { type RedisOptions, startRedis, type TestRedis } from "../redis/redis.ts";
import { eventually } from "../time/eventually.ts";
import { writeKeyring } from "./mounted-keyring.ts";
import {
  type OperatorProcess,
  type OperatorProcessOptions,
  type RunningOperator,
  startOperatorProcess,
} from "./operator-process.ts";
import { type Replica, type RunningReplica, startReplica } from "./replica.ts";

/** A fleet of one file or of the whole run. */
export interface Fleet {
  readonly api: TestApiServer;
  readonly redis: Pick<TestRedis, "url" | "host" | "port">;
  /** What the operators get as the public URL; replicas answer at their own origins. */
  readonly publicUrl: string;
  readonly operators: readonly RunningOperator[];
  readonly replicas: readonly RunningReplica[];
  /** Waits until every object of the namespace is Ready. */
  ready(namespace: string, withinSeconds?: number): Promise<void>;
  /** One object. */
  get(kind: string, namespace: string, name: string): Promise<KubeObject>;
  /** The decoded entry of a Secret; waits until somebody has made it. */
  secret(namespace: string, name: string, entry: string): Promise<string>;
}

/** A fleet that nobody else uses: any part of it may be stopped, killed or added. */
export interface OwnFleet extends Fleet {
  readonly api: OwnApiServer;
  readonly redis: TestRedis;
  readonly operators: OperatorProcess[];
  readonly replicas: Replica[];
  /** The key ring's file that all replicas read; written from its Secret. */
  readonly keyring: string;
  addOperator(options?: Partial<OperatorProcessOptions>): Promise<OperatorProcess>;
  /** Waits for the fleet's key ring, then for the replica. */
  addReplica(): Promise<Replica>;
  /**
   * Writes the Secret's ring into the file, as the kubelet would; waits until the operator has made
   * it.
   */
  mountKeyring(): Promise<void>;
  stop(): Promise<void>;
}

export interface FleetOptions {
  readonly operators?: number;
  readonly replicas?: number;
  readonly api?: TakenOptions;
  readonly redis?: RedisOptions;
  /** Further flags of each operator. */
  readonly operatorArgs?: readonly string[];
  /**
   * `data` of the ConfigMap that all operators have their guard rails from; absent = they have
   * none.
   */
  readonly guardRails?: Readonly<Record<string, string>>;
  /** `Serve` by default: a Redis of tests forgets, and is emptied on purpose. */
  readonly onDataLoss?: "Refuse" | "Serve";
  /** Further flags of each replica. */
  readonly replicaArgs?: readonly string[];
  /** Writes what the programs say into files, so that other processes can read it. */
  readonly logFiles?: boolean;
}

export const publicUrl = "http://api.test";
export const systemNamespace = "jsonplane-system";

/** What tests read of a fleet's objects. */
export function readingOf(api: TestApiServer): Pick<Fleet, "ready" | "get" | "secret"> {
  const get = (kind: string, namespace: string, name: string) => objectsOf(api, namespace).get(kind, name);
  return {
    get,
    async secret(namespace, name, entry) {
      return entryOf(await eventually(() => get("Secret", namespace, name)), entry);
    },
    ready: (namespace, withinSeconds = 60) =>
      eventually(
        async () => {
          const objects = (await customResources(api, namespace)) as unknown as readonly (KubeObject & Kinded)[];
          if (objects.length === 0) throw new Error(`There is nothing in the namespace ${namespace}`);
          const waiting = objects.filter((object) => !isReady(object)).map(waitingText);
          if (waiting.length > 0) throw new Error(`Not Ready: ${waiting.join("; ")}`);
        },
        { withinMs: withinSeconds * 1_000 },
      ),
  };
}

interface Kinded {
  readonly kind: string;
}

function waitingText(object: KubeObject & Kinded): string {
  return `${object.kind} ${object.metadata.name} says ${JSON.stringify(readyOf(object))}`;
}

export async function startFleet(options: FleetOptions = {}): Promise<OwnFleet> {
  const dir = await mkdtemp(join(tmpdir(), "jsonplane-fleet-"));
  const [api, redis] = await Promise.all([takeApiServer(options.api), startRedis(options.redis)]);
  await ensureNamespace(api, systemNamespace);
  const { guardRails } = options;
  if (guardRails !== undefined) {
    const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "rails" }, data: guardRails };
    await objectsOf(api, systemNamespace).create(configMap);
  }
  const rails = guardRails === undefined ? [] : ["--guard-rails", "rails"];
  const operators: OperatorProcess[] = [];
  const replicas: Replica[] = [];
  const keyring = join(dir, "keyring.json");
  const named = { operators: 0, replicas: 0 };
  const logOf = (name: string) => (options.logFiles === true ? { logFile: join(dir, `${name}.log`) } : {});

  const fleet: OwnFleet = {
    api,
    redis,
    publicUrl,
    operators,
    replicas,
    keyring,
    ...readingOf(api),
    async addOperator(more = {}) {
      named.operators += 1;
      const apiServer = more.pod === undefined ? { kubeconfig: more.kubeconfig ?? (await api.kubeconfig()) } : {};
      const policy = ["--on-data-loss", options.onDataLoss ?? "Serve"];
      const args = [...policy, ...rails, ...(options.operatorArgs ?? []), ...(more.args ?? [])];
      const log = logOf(`operator-${named.operators}`);
      const operator = await startOperatorProcess({ redis: redis.url, publicUrl, ...log, ...more, ...apiServer, args });
      operators.push(operator);
      return operator;
    },
    mountKeyring: () => writeKeyring(api, systemNamespace, keyring),
    async addReplica() {
      await fleet.mountKeyring();
      named.replicas += 1;
      const name = `replica-${named.replicas}`;
      const args = options.replicaArgs ?? [];
      const replica = await startReplica({ redis: redis.url, keyring, name, args, ...logOf(name) });
      replicas.push(replica);
      return replica;
    },
    async stop() {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await Promise.all(operators.map((operator) => operator.stop()));
      await Promise.all([api.stop(), redis.stop()]);
      await rm(dir, { recursive: true, force: true });
    },
  };
  try {
    await Promise.all(Array.from({ length: options.operators ?? 1 }, () => fleet.addOperator()));
    await Promise.all(Array.from({ length: options.replicas ?? 1 }, () => fleet.addReplica()));
  } catch (error) {
    await fleet.stop();
    throw error;
  }
  return fleet;
}
