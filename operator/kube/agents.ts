// The two pools of connections: one for calls, bounded, and one for watches, whose silence is the reflector's business. Both
// are recreated when the server's CA or the client's certificate changes; what runs on the old ones may end there.

import { Agent, type Dispatcher, ProxyAgent } from "undici";
import type { Credentials } from "./credentials.ts";

export interface PoolLimits {
  /** Connections for calls at the same time; further calls wait. */
  readonly connections: number;
  readonly connectMs: number;
  /** From the request to the answer's head. */
  readonly headersMs: number;
  /** Between two pieces of an answer; watches have no such limit. */
  readonly bodyMs: number;
}

export const defaultPoolLimits: PoolLimits = {
  connections: 16,
  connectMs: 5_000,
  headersMs: 15_000,
  bodyMs: 30_000,
};

interface Pair {
  readonly calls: Dispatcher;
  readonly watches: Dispatcher;
}

export interface Agents {
  /** The pools for these credentials; undefined once closed. */
  of(credentials: Credentials): Pair | undefined;
  /** Cuts whatever is under way. */
  close(): Promise<void>;
}

export function createAgents(limits: PoolLimits): Agents {
  const living = new Set<Dispatcher>();
  let present: { readonly mark: string; readonly pair: Pair } | undefined;
  let closed = false;
  const made = (credentials: Credentials, mark: string): Pair => {
    const pair = {
      calls: dispatcher(credentials, limits, "calls"),
      watches: dispatcher(credentials, limits, "watches"),
    };
    living.add(pair.calls).add(pair.watches);
    if (present !== undefined) retire(present.pair);
    present = { mark, pair };
    return pair;
  };
  const retire = ({ calls, watches }: Pair): void => {
    for (const old of [calls, watches]) {
      const forget = (): void => {
        living.delete(old);
      };
      old.close().then(forget, forget);
    }
  };
  return {
    of(credentials) {
      if (closed) return undefined;
      const mark = JSON.stringify([credentials.tls, credentials.proxy]);
      return present?.mark === mark ? present.pair : made(credentials, mark);
    },
    async close() {
      closed = true;
      await Promise.all([...living].map((each) => each.destroy()));
    },
  };
}

function dispatcher({ tls, proxy }: Credentials, limits: PoolLimits, use: keyof Pair): Dispatcher {
  const common = {
    // With HTTP/2 all calls would share one connection, its failures and its flow-control window.
    allowH2: false,
    connections: use === "calls" ? limits.connections : null,
    headersTimeout: limits.headersMs,
    bodyTimeout: use === "calls" ? limits.bodyMs : 0,
  };
  const connect = { timeout: limits.connectMs, keepAlive: true, keepAliveInitialDelay: 30_000 };
  if (proxy === undefined) return new Agent({ ...common, connect: { ...connect, ...tls } });
  return new ProxyAgent({
    ...common,
    uri: proxy,
    requestTls: { ...connect, ...tls },
    proxyTls: connect,
    connectTimeout: limits.connectMs,
  });
}
