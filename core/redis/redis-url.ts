// Turns a store URL into the servers to connect to. Refuses with InvalidRedisUrl, whose message
// never repeats a secret.
//
//   redis://[user:password@]host[:port][/db]                     rediss:// the same over TLS
//   redis+sentinel://[user:password@]host[:port],…/name[?db=n]   rediss+sentinel:// TLS to the
//   servers and the sentinels;
//       the sentinels' own credentials: &sentinelUsername=…&sentinelPassword=…
//   redis+cluster://[user:password@]host[:port],…                rediss+cluster:// the same over
//   TLS
//
// Certificates are checked against Node's roots, the file that NODE_EXTRA_CA_CERTS names, and
// authorities.ts.

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

interface CommonTarget {
  readonly tls: boolean;
  readonly credentials: Credentials;
}

export type RedisTarget =
  | (CommonTarget & { readonly kind: "standalone"; readonly server: ServerAddress; readonly db: number })
  | (CommonTarget & {
      readonly kind: "sentinel";
      readonly sentinels: readonly ServerAddress[];
      readonly sentinelCredentials: Credentials;
      readonly name: string;
      readonly db: number;
    })
  | (CommonTarget & { readonly kind: "cluster"; readonly nodes: readonly ServerAddress[] });

export class InvalidRedisUrl extends Error {
  override readonly name = "InvalidRedisUrl";
}

interface UrlComponents {
  readonly tls: boolean;
  readonly kind: RedisTarget["kind"];
  readonly credentials: Credentials;
  readonly hosts: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

const redisPort = 6379;
const sentinelPort = 26_379;
const shape = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^/?#@]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/;

export function parseRedisUrl(url: string): RedisTarget {
  const components = componentsOf(url);
  const { tls, credentials } = components;
  switch (components.kind) {
    case "standalone": {
      allowOnly(components.query, []);
      const [server, ...others] = addresses(components.hosts, redisPort);
      if (server === undefined || others.length > 0) {
        throw new InvalidRedisUrl(
          "A redis:// URL names one server; use redis+cluster:// or redis+sentinel:// for several",
        );
      }
      return { kind: "standalone", tls, credentials, server, db: database(components.path) };
    }
    case "sentinel":
      return sentinelTarget(components);
    case "cluster":
      allowOnly(components.query, []);
      if (components.path !== "")
        throw new InvalidRedisUrl("A redis+cluster:// URL has no path: a cluster has one database");
      return { kind: "cluster", tls, credentials, nodes: addresses(components.hosts, redisPort) };
  }
}

/** Why it can't be used, without a secret in it; undefined when it can. */
export function redisUrlFault(url: string): string | undefined {
  try {
    parseRedisUrl(url);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidRedisUrl) return error.message;
    throw error;
  }
}

function sentinelTarget(components: UrlComponents): RedisTarget {
  allowOnly(components.query, ["db", "sentinelUsername", "sentinelPassword"]);
  if (components.path === "" || components.path.includes("/")) {
    throw new InvalidRedisUrl("A redis+sentinel:// URL ends in /name, the name of the monitored primary");
  }
  return {
    kind: "sentinel",
    tls: components.tls,
    credentials: components.credentials,
    sentinels: addresses(components.hosts, sentinelPort),
    sentinelCredentials: credentialsOf(
      components.query.get("sentinelUsername"),
      components.query.get("sentinelPassword"),
    ),
    name: decoded(components.path),
    db: database(components.query.get("db") ?? ""),
  };
}

function componentsOf(url: string): UrlComponents {
  const match = shape.exec(url);
  if (match === null) {
    throw new InvalidRedisUrl(
      "A store URL begins with redis://, rediss://, redis+sentinel:// or redis+cluster:// and names a host",
    );
  }
  const [, scheme = "", kind, userInfo, hosts = "", path = "", query = ""] = match;
  return {
    tls: scheme === "rediss",
    kind: kind === "sentinel" || kind === "cluster" ? kind : "standalone",
    credentials: userInfoOf(userInfo),
    hosts,
    path,
    query: new URLSearchParams(query),
  };
}

function userInfoOf(userInfo: string | undefined): Credentials {
  if (userInfo === undefined) return {};
  const colon = userInfo.indexOf(":");
  if (colon < 0) return credentialsOf(decoded(userInfo), null);
  return credentialsOf(decoded(userInfo.slice(0, colon)), decoded(userInfo.slice(colon + 1)));
}

/** An empty user name means Redis' default user. */
function credentialsOf(username: string | null, password: string | null): Credentials {
  return { ...(username ? { username } : {}), ...(password ? { password } : {}) };
}

function addresses(hosts: string, defaultPort: number): readonly ServerAddress[] {
  return hosts.split(",").map((entry) => {
    const match = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]\s]+)(?::([0-9]{1,5}))?$/.exec(entry);
    const port = Number(match?.[2] ?? defaultPort);
    if (match?.[1] === undefined || port < 1 || port > 65_535) {
      throw new InvalidRedisUrl(`"${entry}" in the store URL is no host or host:port`);
    }
    return { host: match[1].replace(/^\[|\]$/g, ""), port };
  });
}

function database(text: string): number {
  if (text === "") return 0;
  if (!/^[0-9]{1,4}$/.test(text)) throw new InvalidRedisUrl("The database in a store URL is a number");
  return Number(text);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new InvalidRedisUrl("The store URL has bad percent-encoding", { cause });
  }
}

function allowOnly(query: URLSearchParams, names: readonly string[]): void {
  for (const name of query.keys()) {
    if (!names.includes(name)) throw new InvalidRedisUrl(`The store URL has an unknown parameter "${name}"`);
  }
}
