// Turns a store URL into an ioredis client that never sends a command twice and queues nothing
// while it is away, with a time limit per command. Refuses with StoreUnavailable when the first
// connection fails.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { isIP, type Socket } from "node:net";
import { type ConnectionOptions, checkServerIdentity, TLSSocket } from "node:tls";
import { Cluster, Redis, type RedisOptions } from "ioredis";
import { backoffMs } from "../backoff.ts";
import { StoreUnavailable } from "../errors/store-errors.ts";
import { systemMonotonic } from "../timers.ts";
import { replyCode } from "./failure.ts";
import type { Credentials, RedisTarget, ServerAddress } from "./redis-url.ts";
import { fieldsOf } from "./reply.ts";

export type IoredisClient = Redis | Cluster;

export interface ConnectOptions {
  readonly target: RedisTarget;
  /** Milliseconds for an answer. */
  readonly commandTimeout: number;
  /** Shown by CLIENT LIST. */
  readonly name: string;
}

/** A restarted server has its clients back within a second. */
export const reconnects = { firstMs: 50, maxMs: 1_000, jitter: 0.25 };
const connectTimeout = 3_000;

export async function connect(options: ConnectOptions): Promise<IoredisClient> {
  if (options.target.tls) hearTlsErrors();
  const client = clientOf(options);
  let lastError: unknown;
  // Without a listener ioredis prints; every call that fails says so itself.
  client.on("error", (error: unknown) => {
    lastError = error;
  });
  try {
    await firstConnection(client);
  } catch (error) {
    client.disconnect();
    // The promise says only that the connection was closed; why, the event did.
    throw unreachable(options.target, lastError ?? error);
  }
  return client;
}

/** The promise of ioredis stays open where a Cluster says at first that it is not whole. */
async function firstConnection(client: IoredisClient): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    client.once("close", () => reject(new Error("The connection was closed")));
    client.connect().then(resolve, reject);
  });
}

/**
 * A connection that is ended while its certificate is refused has two errors: that, and what the
 * server says of it. ioredis hears the first one alone, and one that nobody hears ends the process.
 * The channel also has the sockets that ioredis opens by itself, to Sentinels and for subscribers.
 */
function hearTlsErrors(): void {
  unsubscribe("net.client.socket", hear);
  subscribe("net.client.socket", hear);
}

function hear(message: unknown): void {
  const { socket } = message as { readonly socket: Socket };
  if (socket instanceof TLSSocket) socket.on("error", () => undefined);
}

/** Says where and why, never as whom. */
function unreachable(target: RedisTarget, cause: unknown): StoreUnavailable {
  const code = replyCode(cause) ?? (cause as NodeJS.ErrnoException | undefined)?.code;
  const why = code === undefined ? "" : `: ${code}${certificateFault(code)}`;
  return new StoreUnavailable(`Redis at ${addressesOf(target)} can't be reached${why}`, { cause });
}

/** What a person should look at, of a code of OpenSSL. */
function certificateFault(code: string): string {
  return /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/.test(code)
    ? " (its certificate is of no authority that --redis-ca-file or NODE_EXTRA_CA_CERTS names)"
    : "";
}

function addressesOf(target: RedisTarget): string {
  return serversOf(target)
    .map(({ host, port }) => `${host}:${port}`)
    .join(", ");
}

function serversOf(target: RedisTarget): readonly ServerAddress[] {
  switch (target.kind) {
    case "standalone":
      return [target.server];
    case "sentinel":
      return target.sentinels;
    case "cluster":
      return target.nodes;
  }
}

export function isReady(client: IoredisClient): boolean {
  return client.status === "ready";
}

function clientOf(options: ConnectOptions): IoredisClient {
  const { target } = options;
  switch (target.kind) {
    case "standalone":
      return lookingForPrimary((own) => serverClient(target.server, options, own));
    case "sentinel":
      return lookingForPrimary((own) => primaryClient(target, options, own));
    case "cluster":
      return clusterOf(target.nodes, options);
  }
}

/**
 * A connection of its own to one server, not opened yet, which doesn't come back by itself. In a
 * Cluster to any node that `client` knows: each passes on what is published at another one.
 */
export function singleConnection(options: ConnectOptions, client: IoredisClient): Redis {
  const { target } = options;
  if (target.kind === "sentinel") return primaryClient(target, options, fleeting);
  if (target.kind === "standalone") return serverClient(target.server, options, fleeting);
  const known = client instanceof Cluster ? client.nodes().map((node) => node.options) : [];
  const nodes = known.map(({ host = "", port = 0 }) => ({ host, port }));
  const among = nodes.length > 0 ? nodes : target.nodes;
  const node = among[Math.floor(Math.random() * among.length)];
  if (node === undefined) throw new Error("A Cluster without nodes");
  return serverClient(node, options, fleeting);
}

const fleeting: OwnOptions = { retry: () => null, reconnectOnError: () => false };

function serverClient(server: ServerAddress, options: ConnectOptions, own: OwnOptions): Redis {
  return new Redis({
    ...commonOptions(options),
    ...server,
    ...(options.target.kind === "standalone" ? { db: options.target.db } : {}),
    enableOfflineQueue: false,
    retryStrategy: own.retry,
    reconnectOnError: own.reconnectOnError,
  });
}

function primaryClient(
  target: Extract<RedisTarget, { readonly kind: "sentinel" }>,
  options: ConnectOptions,
  own: OwnOptions,
): Redis {
  return new Redis({
    ...commonOptions(options),
    sentinels: [...target.sentinels],
    ...prefixed(target.sentinelCredentials),
    name: target.name,
    db: target.db,
    enableTLSForSentinelMode: target.tls,
    ...(target.tls ? { sentinelTLS: tlsOptions(target) } : {}),
    enableOfflineQueue: false,
    retryStrategy: own.retry,
    sentinelRetryStrategy: own.retry,
    reconnectOnError: own.reconnectOnError,
  });
}

/** Options that differ between the client and the probe that searches for a primary. */
interface OwnOptions {
  readonly retry: (attempt: number) => number | null;
  readonly reconnectOnError: (error: Error) => false;
}

/**
 * A client that leaves a server which answers READONLY once its address leads to a primary: after a
 * failover behind one address the old primary keeps its connections. Disconnecting on every
 * READONLY would also interrupt reads while there is no primary; so it reconnects only once a probe
 * finds one.
 */
function lookingForPrimary(make: (own: OwnOptions) => Redis): Redis {
  const findPrimary = createPrimaryFinder({
    open: () => make(fleeting),
    onFound: () => {
      if (isReady(client)) client.disconnect(true);
    },
    monotonic: systemMonotonic,
  });
  const client = make({
    retry: delay,
    reconnectOnError(error) {
      if (replyCode(error) === "READONLY") findPrimary();
      return false;
    },
  });
  return client;
}

function clusterOf(nodes: readonly ServerAddress[], options: ConnectOptions): Cluster {
  return new Cluster(
    nodes.map((node) => ({ ...node })),
    {
      redisOptions: { ...commonOptions(options), reconnectOnError: (error) => replyCode(error) === "READONLY" },
      lazyConnect: true,
      clusterRetryStrategy: delay,
      // A command for a node that is being connected waits for it, at most the time limit.
      // redis-client.ts refuses commands while the cluster is away, which ioredis would queue
      // without a limit.
      enableOfflineQueue: true,
      // A command is sent again only after a node refused it (MOVED, ASK, TRYAGAIN), never because
      // a connection ended.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      retryDelayOnTryAgain: 50,
      maxRedirections: 5,
      slotsRefreshTimeout: connectTimeout,
      slotsRefreshInterval: 5_000,
    },
  );
}

/**
 * A server that Sentinels or a Cluster name by address is known by one of the URL's hosts as well:
 * addresses change, and are in few certificates (docs/adr/0101).
 */
function tlsOptions(target: RedisTarget): ConnectionOptions {
  const names = serversOf(target).map(({ host }) => host);
  return {
    // An authority that another one signed is trusted without that one, as in Go's programs.
    allowPartialTrustChain: true,
    checkServerIdentity(host, certificate) {
      const known = isIP(host) ? [host, ...names] : [host];
      const faults = known.map((name) => checkServerIdentity(name, certificate));
      return faults.includes(undefined) ? undefined : faults[0];
    },
  };
}

function commonOptions({ target, commandTimeout, name }: ConnectOptions) {
  return {
    ...target.credentials,
    ...(target.tls ? { tls: tlsOptions(target) } : {}),
    connectionName: name,
    // One permission less to grant; older servers don't know the command.
    disableClientInfo: true,
    lazyConnect: true,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout,
    // A server that went silent without closing the connection is left, so that later commands fail
    // before they are sent.
    socketTimeout: commandTimeout + 500,
    connectTimeout,
    maxLoadingRetryTime: reconnects.maxMs,
    // RedisJSON shapes some replies differently under RESP3, and Lua sees RESP2: one shape
    // everywhere.
    protocol: 2 as const,
  } satisfies RedisOptions;
}

function delay(attempt: number): number {
  return backoffMs(reconnects, attempt);
}

function prefixed(credentials: Credentials) {
  return {
    ...(credentials.username === undefined ? {} : { sentinelUsername: credentials.username }),
    ...(credentials.password === undefined ? {} : { sentinelPassword: credentials.password }),
  };
}

export interface PrimaryFinderDeps {
  /** A client of the same address that isn't connected yet. */
  readonly open: () => Redis;
  /** Called when the address leads to a primary. */
  readonly onFound: () => void;
  readonly monotonic: () => number;
}

/** Milliseconds between two probes: one per refused write would be a flood of connections. */
const restMs = 250;

/** What it returns starts a probe, unless one is running or ended a moment ago. */
function createPrimaryFinder({ open, onFound, monotonic }: PrimaryFinderDeps): () => void {
  let isProbing = false;
  let probedAt = Number.NEGATIVE_INFINITY;

  const probe = async (): Promise<void> => {
    const client = open();
    // Without a listener ioredis prints.
    client.on("error", () => undefined);
    try {
      await client.connect();
      if (await isPrimary(client)) onFound();
    } catch {
      // Nobody answers there: the next refused write probes again.
    } finally {
      client.disconnect();
    }
  };

  return () => {
    if (isProbing || monotonic() - probedAt < restMs) return;
    isProbing = true;
    void probe().finally(() => {
      isProbing = false;
      probedAt = monotonic();
    });
  };
}

/** HELLO says the server's role, and needs no permission. */
async function isPrimary(client: Redis): Promise<boolean> {
  const facts = (await client.call("HELLO")) as readonly unknown[];
  return fieldsOf(facts.map(String)).get("role") === "master";
}
