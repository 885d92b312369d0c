// Which primary has a key, how much memory each uses, when its certificate ends, and its
// replication id. Redis draws a new one when a server starts, from whatever files, and when a
// replica is promoted: an unknown id means that acknowledged writes may be missing.

import { once } from "node:events";
import { type DetailedPeerCertificate, TLSSocket, connect as tlsConnect } from "node:tls";
import { Cluster, type Redis } from "ioredis";
import { type IoredisClient, isReady } from "./connect.ts";

export interface MemoryUse {
  readonly usedBytes: number;
  /** `maxmemory`; 0 = as much as the machine has. */
  readonly maxBytes: number;
}

export interface Primary {
  /** As `primaryOf` names it. */
  readonly name: string;
  /** Undefined when it doesn't say. Never rejects. */
  replicationId(): Promise<string | undefined>;
  /** Undefined when it doesn't say. Never rejects. */
  memory(): Promise<MemoryUse | undefined>;
  /**
   * When the certificate that it shows to new connections, or one that signed it, expires first, in
   * Unix milliseconds. Undefined without TLS, and while it is away. Never rejects.
   */
  certificateEnds(): Promise<number | undefined>;
}

/** For a client that has one address; which server that leads to may change. */
const onlyName = "";

/** All that hold something, as the client knows them now; none while Redis is away. */
export function primariesOf(client: IoredisClient): readonly Primary[] {
  if (!isReady(client)) return [];
  if (!(client instanceof Cluster)) return [primary(onlyName, client)];
  const connected = new Map(
    client.nodes("master").map((server) => [`${server.options.host}:${server.options.port}`, server]),
  );
  // By the slots, because a node that is away has no connection, and is one of them all the same.
  const names = new Set(client.slots.map(([primary]) => primary).filter((name) => name !== undefined));
  return [...names].map((name) => primary(name, connected.get(name)));
}

function primary(name: string, server: Redis | undefined): Primary {
  return {
    name,
    replicationId: async () => /^master_replid:(\w+)/m.exec(await infoOf(server, "replication"))?.[1],
    async memory() {
      const text = await infoOf(server, "memory");
      const [used, max] = ["used_memory", "maxmemory"].map(
        (name) => new RegExp(`^${name}:(\\d+)`, "m").exec(text)?.[1],
      );
      return used === undefined || max === undefined ? undefined : { usedBytes: Number(used), maxBytes: Number(max) };
    },
    certificateEnds: async () => (server?.stream instanceof TLSSocket ? await shownEnd(server.stream) : undefined),
  };
}

/** The name of the primary of a slot, as the client knows it now. */
export function primaryOfSlot(client: IoredisClient, slot: number): string {
  return client instanceof Cluster ? (client.slots[slot]?.[0] ?? onlyName) : onlyName;
}

const lookTimeoutMs = 3_000;

/** By a connection of its own: when the open one was made, another one may have been shown. */
async function shownEnd(open: TLSSocket): Promise<number | undefined> {
  const { remoteAddress: host, remotePort: port = 0, servername } = open;
  const looking = tlsConnect({
    host,
    port,
    ...(servername ? { servername } : {}),
    // Dates are read, also of one that has expired; nothing is sent.
    rejectUnauthorized: false,
  });
  try {
    await once(looking, "secureConnect", { signal: AbortSignal.timeout(lookTimeoutMs) });
    // Ends in order: Redis warns of a handshake that is cut off.
    looking.on("error", () => undefined).destroySoon();
    return endOfChain(looking);
  } catch {
    // The server can't be reached; callers ask again.
    looking.on("error", () => undefined).destroy();
    return undefined;
  }
}

function endOfChain(socket: TLSSocket): number | undefined {
  const ends: number[] = [];
  const seen = new Set<string>();
  // The last one is its own issuer.
  for (
    let shown: Partial<DetailedPeerCertificate> | undefined = socket.getPeerCertificate(true);
    shown?.valid_to !== undefined && !seen.has(shown.fingerprint256 ?? "");
    shown = shown.issuerCertificate
  ) {
    seen.add(shown.fingerprint256 ?? "");
    ends.push(Date.parse(shown.valid_to));
  }
  return ends.length === 0 ? undefined : Math.min(...ends);
}

async function infoOf(server: Redis | undefined, section: "replication" | "memory"): Promise<string> {
  try {
    return (await server?.info(section)) ?? "";
  } catch {
    // The server can't be reached; callers ask again.
    return "";
  }
}
