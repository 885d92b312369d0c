// A primary and its replicas as on three machines: all that passes between the primary, the
// replicas and the Sentinel passes proxies, which can be held as if the network were cut.

import { startTcpProxy, type TcpProxy } from "../support/process/tcp-proxy.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { type RunningSentinel, startSentinel } from "../support/redis/redis-sentinel.ts";
import { eventually } from "../support/time/eventually.ts";

export interface RedisGroup {
  readonly primary: TestRedis;
  /** From now on nothing passes between the primary and the others; its clients reach it. */
  cutOff(): Promise<void>;
  /** Resolves with the replica that the Sentinel promoted. */
  promoted(): Promise<TestRedis>;
  stop(): Promise<void>;
}

/** Of the Sentinel, before the primary is cut off and then: a busy machine may stand still. */
const downAfterMs = { before: 60_000, after: 500 };
const patience = { withinMs: 60_000, everyMs: 50 };

export interface RedisGroupOptions {
  readonly args: readonly string[];
  readonly replicas: number;
  /** Whether there are proxies and a Sentinel. */
  readonly apart: boolean;
}

export async function startRedisGroup(options: RedisGroupOptions): Promise<RedisGroup> {
  const { args, replicas: replicaCount, apart } = options;
  const primary = await startRedis({ args: [...args, "--repl-diskless-sync-delay", "0"] });
  const proxies: TcpProxy[] = [];
  const replicas: TestRedis[] = [];
  let sentinel: RunningSentinel | undefined;
  const stop = async (): Promise<void> => {
    await sentinel?.stop();
    await Promise.all([primary, ...replicas].map((server) => server.stop()));
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  };
  const newProxy = async (): Promise<TcpProxy> => {
    const proxy = await startTcpProxy(primary.port);
    proxies.push(proxy);
    return proxy;
  };
  try {
    for (let n = 0; n < replicaCount; n += 1) {
      const { port } = apart ? await newProxy() : primary;
      replicas.push(await startRedis({ args: [...args, "--replicaof", `127.0.0.1 ${port}`] }));
    }
    for (const replica of replicas) await until(replica, "INFO replication", "master_link_status:up");
    if (apart && replicaCount > 0) {
      sentinel = await startSentinel((await newProxy()).port, downAfterMs.before);
      await until(sentinel, "INFO sentinel", `slaves=${replicaCount}`);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    primary,
    async cutOff() {
      for (const proxy of proxies) proxy.hold();
      if (sentinel === undefined) return;
      const impatient = `SENTINEL SET main down-after-milliseconds ${downAfterMs.after}`;
      await until(sentinel, impatient, "+OK");
    },
    promoted: () =>
      eventually(async () => {
        for (const replica of replicas) {
          if ((await askRedis(replica.port, "INFO replication")).includes("role:master")) return replica;
        }
        throw new Error("No replica was promoted");
      }, patience),
    stop,
  };
}

async function until({ port }: { readonly port: number }, command: string, text: string): Promise<void> {
  await eventually(async () => {
    const answer = await askRedis(port, command);
    if (!answer.includes(text)) throw new Error(`${command} lacks ${text}: ${answer}`);
  }, patience);
}
