// Every setting of every command: its flag, its variable, how its text is read, and what is refused. Nothing else in the
// programs reads the environment.

import { isIP } from "node:net";
import { durationSeconds } from "../config/duration.ts";
import { type LogLevel, logLevels } from "../log/logger.ts";
import { type Kind, kinds } from "../manifests/object.ts";
import { redisUrlFault } from "../redis/redis-url.ts";
import { type HostRule, readHostRules } from "./host-rules.ts";
import { InvalidSetting, type Setting } from "./read-settings.ts";

export const host = {
  flag: "host",
  placeholder: "ADDRESS",
  help: "Address to listen on",
  fallback: "127.0.0.1",
  read: readHost,
} as const satisfies Setting<string>;

export const port = {
  flag: "port",
  placeholder: "PORT",
  help: "Port of the API; 0 takes a free one",
  fallback: "8080",
  read: readPort,
} as const satisfies Setting<number>;

export const adminPort = {
  flag: "admin-port",
  placeholder: "PORT",
  help: "Port of probes, /metrics and /usage; 0 takes a free one",
  fallback: "9090",
  read: readPort,
} as const satisfies Setting<number>;

export const adminTokenFile = {
  flag: "admin-token-file",
  placeholder: "FILE",
  help: "File with the token that /metrics and /usage ask for as a Bearer token, read again when it changes; default: they ask for none",
  read: readText,
} as const satisfies Setting<string>;

export const data = {
  flag: "data",
  placeholder: "DIR",
  help: "Folder for stored data and generated secrets",
  fallback: ".jsonplane",
  read: readText,
} as const satisfies Setting<string>;

export const redis = {
  flag: "redis",
  placeholder: "URL",
  help: "Redis JSON to keep data in: redis://, rediss://, redis+sentinel:// or redis+cluster://",
  read: readRedisUrl,
} as const satisfies Setting<string>;

export const redisSecret = {
  flag: "redis-secret",
  placeholder: "NAME",
  help: "Secret of the operator's namespace with the users of the Redis at --redis; made there when it is missing",
  read: readSecretName,
} as const satisfies Setting<string>;

export const publicUrl = {
  flag: "public-url",
  placeholder: "URL",
  help: "What clients reach the service by, such as https://api.example.org",
  read: readPublicUrl,
} as const satisfies Setting<string>;

export const trustedProxies = {
  flag: "trusted-proxies",
  placeholder: "LIST",
  help: "Addresses or networks, comma-separated, whose X-Forwarded-* headers are believed",
  fallback: "",
  read: readNetworks,
} as const satisfies Setting<readonly string[]>;

export const logLevel = {
  flag: "log-level",
  placeholder: "LEVEL",
  help: `How much is logged to standard error: ${logLevels.join(", ")}; info has a line per request`,
  fallback: "info",
  read: readLogLevel,
} as const satisfies Setting<LogLevel>;

export const keyring = {
  flag: "keyring",
  placeholder: "FILE",
  help: "File with the fleet's key ring, which opens the configuration in Redis",
  read: readText,
} as const satisfies Setting<string>;

export const replica = {
  flag: "replica",
  placeholder: "NAME",
  help: "Name of this replica among its siblings; default: the machine's host name",
  read: readText,
} as const satisfies Setting<string>;

export const maxProjects = {
  flag: "max-projects",
  placeholder: "NUMBER",
  help: "Projects kept loaded at once; the one unused for longest goes first",
  fallback: "1000",
  read: readCount,
} as const satisfies Setting<number>;

export const drain = {
  flag: "drain",
  placeholder: "DURATION",
  help: "How long it goes on taking requests once it is told to stop, such as 10s, so that load balancers notice; each answer ends its connection then",
  fallback: "0s",
  read: readDrainSeconds,
} as const satisfies Setting<number>;

export const kubeconfig = {
  flag: "kubeconfig",
  placeholder: "FILE",
  help: "How to reach the API server; default: the pod's service account, else $KUBECONFIG, else ~/.kube/config",
  read: readText,
} as const satisfies Setting<string>;

export const operatorNamespace = {
  flag: "operator-namespace",
  placeholder: "NAME",
  help: "Namespace of the operator's own Lease and key ring; default: its pod's, else jsonplane-system",
  read: readNamespace,
} as const satisfies Setting<string>;

export const watchNamespaces = {
  flag: "watch-namespaces",
  placeholder: "LIST",
  help: "Namespaces, comma-separated, whose objects are served; empty = all of them",
  fallback: "",
  read: (text) => listOf(text).map(readNamespace),
} as const satisfies Setting<readonly string[]>;

export const className = {
  flag: "class-name",
  placeholder: "NAME",
  help: "Serve the Projects of this spec.className; default: those without one",
  read: readClassName,
} as const satisfies Setting<string>;

export const allowedHosts = {
  flag: "allowed-hosts",
  placeholder: "LIST",
  help: "Hosts that namespaces may claim, comma-separated: shop=shop.example.org,*={namespace}.apps.example.org; names below are allowed, too",
  fallback: "",
  read: readHostRules,
} as const satisfies Setting<readonly HostRule[]>;

export const workers = {
  flag: "workers",
  placeholder: "NUMBER",
  help: "Projects reconciled at the same time",
  fallback: "8",
  read: readCount,
} as const satisfies Setting<number>;

export const identity = {
  flag: "identity",
  placeholder: "NAME",
  help: "Name of this operator in the Lease; default: the machine's host name",
  read: readText,
} as const satisfies Setting<string>;

export const leaseDuration = {
  flag: "lease-duration",
  placeholder: "DURATION",
  help: "How long a leader that was killed keeps others waiting, such as 15s; one that can't renew its Lease stops after two thirds",
  fallback: "15s",
  read: readLeaseSeconds,
} as const satisfies Setting<number>;

export const adoptData = {
  flag: "adopt-data",
  placeholder: "",
  isSwitch: true,
  help: "Disaster recovery: take over data of earlier namespaces, and the Redis and the Projects of another installation",
  fallback: "false",
  read: readSwitch,
} as const satisfies Setting<boolean>;

export const onDataLoss = {
  flag: "on-data-loss",
  placeholder: "POLICY",
  help: "When Redis no longer holds the data that it held: Refuse requests for data until somebody decides, or Serve what there is",
  fallback: "Refuse",
  read: readDataLossPolicy,
} as const satisfies Setting<"Refuse" | "Serve">;

export const namespace = {
  flag: "namespace",
  placeholder: "NAME",
  help: "The namespace to work on",
  read: readNamespace,
} as const satisfies Setting<string>;

export const allNamespaces = {
  flag: "all-namespaces",
  placeholder: "",
  isSwitch: true,
  help: "Work on every namespace",
  fallback: "false",
  read: readSwitch,
} as const satisfies Setting<boolean>;

export const kind = {
  flag: "kind",
  placeholder: "KIND",
  help: "Only objects of this kind, such as ApiResource; default: all",
  read: readKind,
} as const satisfies Setting<Kind>;

export const dryRun = {
  flag: "dry-run",
  placeholder: "",
  isSwitch: true,
  help: "Say what would be done, and do nothing",
  fallback: "false",
  read: readSwitch,
} as const satisfies Setting<boolean>;

export const force = {
  flag: "force",
  placeholder: "",
  isSwitch: true,
  help: "Also objects that nobody has deleted",
  fallback: "false",
  read: readSwitch,
} as const satisfies Setting<boolean>;

export const labelPattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

function readKind(text: string): Kind {
  const wanted = text.toLowerCase();
  const found = kinds.find((known) => [known.toLowerCase(), `${known.toLowerCase()}s`].includes(wanted));
  if (found !== undefined) return found;
  throw new InvalidSetting(`must be one of ${kinds.join(", ")}, not ${JSON.stringify(text)}`);
}

export function readSwitch(text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new InvalidSetting(`must be true or false, not ${JSON.stringify(text)}`);
}

function readNamespace(text: string): string {
  if (labelPattern.test(text)) return text;
  throw new InvalidSetting(`must be the name of a namespace, such as shop-2, not ${JSON.stringify(text)}`);
}

const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const subdomainLength = 253;

function readSecretName(text: string): string {
  if (text.length <= subdomainLength && subdomainPattern.test(text)) return text;
  throw new InvalidSetting(`must be the name of a Secret, such as jsonplane-redis, not ${JSON.stringify(text)}`);
}

function readClassName(text: string): string {
  if (labelPattern.test(text)) return text;
  throw new InvalidSetting(`must be a class as in spec.className, such as internal, not ${JSON.stringify(text)}`);
}

function listOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

function readCount(text: string): number {
  const number = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0;
  if (number >= 1) return number;
  throw new InvalidSetting(`must be a whole number of at least 1, not ${JSON.stringify(text)}`);
}

const minLeaseSeconds = 3;
const maxLeaseSeconds = 300;

/** A shorter one is lost whenever the API server hesitates. */
function readLeaseSeconds(text: string): number {
  const seconds = durationSeconds(text) ?? 0;
  if (seconds >= minLeaseSeconds && seconds <= maxLeaseSeconds) return seconds;
  throw new InvalidSetting(`must be a duration from 3s to 5m, not ${JSON.stringify(text)}`);
}

const maxDrainSeconds = 300;

function readDrainSeconds(text: string): number {
  const seconds = durationSeconds(text) ?? Number.NaN;
  if (seconds <= maxDrainSeconds) return seconds;
  throw new InvalidSetting(`must be a duration up to 5m, such as 10s, not ${JSON.stringify(text)}`);
}

function readText(text: string): string {
  if (text === "") throw new InvalidSetting("must not be empty");
  return text;
}

function readHost(text: string): string {
  if (isIP(text) !== 0 || /^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$/.test(text)) return text;
  throw new InvalidSetting(`must be an address such as 127.0.0.1, ::1 or 0.0.0.0, not ${JSON.stringify(text)}`);
}

/** One final line break is dropped, as of a password's Secret: editors and `echo` end files with one. */
function readRedisUrl(text: string): string {
  const url = text.replace(/\r?\n$/, "");
  const fault = redisUrlFault(url);
  if (fault === undefined) return url;
  throw new InvalidSetting(`can't be used: ${fault}`);
}

function readPort(text: string): number {
  const number = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (number <= 65_535) return number;
  throw new InvalidSetting(`must be a port from 0 to 65535, not ${JSON.stringify(text)}`);
}

function readPublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url !== undefined && ["http:", "https:"].includes(url.protocol) && url.search + url.hash === "";
  if (url !== undefined && plain && url.username + url.password === "") return url.href.replace(/\/+$/, "");
  throw new InvalidSetting("must be a URL such as https://api.example.org, without user, query or fragment");
}

function readNetworks(text: string): readonly string[] {
  const networks = listOf(text);
  const wrong = networks.find((network) => !isNetwork(network));
  if (wrong === undefined) return networks;
  throw new InvalidSetting(
    `must list addresses or networks such as 10.0.0.0/8 or ::1; ${JSON.stringify(wrong)} is neither`,
  );
}

function isNetwork(text: string): boolean {
  const [address = "", prefix, ...more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return prefix === undefined || (/^[0-9]{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

const dataLossPolicies = ["Refuse", "Serve"] as const;

function readDataLossPolicy(text: string): (typeof dataLossPolicies)[number] {
  const policy = dataLossPolicies.find((one) => one === text);
  if (policy === undefined) throw new InvalidSetting(`must be ${dataLossPolicies.join(" or ")}, not "${text}"`);
  return policy;
}

function readLogLevel(text: string): LogLevel {
  const level = logLevels.find((known) => known === text);
  if (level !== undefined) return level;
  throw new InvalidSetting(`must be one of ${logLevels.join(", ")}, not ${JSON.stringify(text)}`);
}
