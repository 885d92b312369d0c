// Every setting of every command: flag, variable, default and how its text is read. Nothing else
// reads the environment.

import { type LogLevel, logLevels } from "../log/logger.ts";
import { dnsLabel, dnsSubdomain, projectKey } from "../manifests/metadata.ts";
import type { Kind } from "../manifests/object.ts";
import { type HostRule, readHostRules } from "./host-rules.ts";
import { type IssuerRule, readIssuerRules } from "./issuer-rules.ts";
import type { Setting } from "./read-settings.ts";
import {
  durationBetween,
  listOf,
  matching,
  oneOf,
  readCount,
  readHost,
  readKind,
  readNamespace,
  readNetworks,
  readPort,
  readPublicUrl,
  readRedisUrl,
  readText,
  switchSetting,
} from "./setting-readers.ts";

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
  help: "File with the Bearer token that /metrics and /usage require; read again when it changes; default: none is required",
  read: readText,
} as const satisfies Setting<string>;

export const data = {
  flag: "data",
  placeholder: "DIR",
  help: "Folder for stored data and generated secrets; default: below .jsonplane/, one for each DIR",
  read: readText,
} as const satisfies Setting<string>;

export const only = {
  flag: "only",
  placeholder: "NAMES",
  help: "Resources and root keys, comma-separated, such as books or default/shop/api/books; default: all",
  fallback: "",
  read: listOf,
} as const satisfies Setting<readonly string[]>;

export const ofProject = {
  flag: "project",
  placeholder: "NAMESPACE/NAME",
  help: "All data of this Project, also if no manifest names it any more; default: what the manifests in DIR name now",
  read: matching(projectKey, "a namespace and the name of a Project, such as default/shop"),
} as const satisfies Setting<string>;

export const seed = {
  flag: "seed",
  placeholder: "PATH",
  help: "File or folder of data for what is empty, such as books.ndjson; default: the folder seed in DIR, if there is one",
  read: readText,
} as const satisfies Setting<string>;

export const strict = switchSetting("strict", "Exit code 1 for warnings too, such as a schema keyword that is ignored");

export const against = {
  flag: "against",
  placeholder: "URL",
  help: "Base URL of a project, such as https://api.example.org/default/shop: exit code 1 too where its stored objects don't meet the schemas of DIR. Needs a key of role Administrators",
  read: readPublicUrl,
} as const satisfies Setting<string>;

export const redis = {
  flag: "redis",
  placeholder: "URL",
  help: "Redis with the JSON module: redis://, rediss://, redis+sentinel:// or redis+cluster://",
  read: readRedisUrl,
} as const satisfies Setting<string>;

export const redisSecret = {
  flag: "redis-secret",
  placeholder: "NAME",
  help: "Secret in the operator's namespace with the users of the Redis at --redis; created if it is missing",
  read: matching(dnsSubdomain, "the name of a Secret, such as jsonplane-redis"),
} as const satisfies Setting<string>;

export const redisTlsSecret = {
  flag: "redis-tls-secret",
  placeholder: "NAME",
  help: "Secret in the operator's namespace with the certificate of the Redis at --redis, a rediss:// URL of one server; created if it is missing, and renewed",
  read: matching(dnsSubdomain, "the name of a Secret, such as jsonplane-redis-tls"),
} as const satisfies Setting<string>;

export const redisCaFile = {
  flag: "redis-ca-file",
  placeholder: "FILE",
  help: "File with certificates of authorities, PEM, that rediss:// is trusted by besides Node's own; read again when it changes",
  read: readText,
} as const satisfies Setting<string>;

export const publicUrl = {
  flag: "public-url",
  placeholder: "URL",
  help: "URL at which clients reach the API, such as https://api.example.org",
  read: readPublicUrl,
} as const satisfies Setting<string>;

export const trustedProxies = {
  flag: "trusted-proxies",
  placeholder: "LIST",
  help: "Addresses or networks, comma-separated, whose X-Forwarded-* headers are trusted",
  fallback: "",
  read: readNetworks,
} as const satisfies Setting<readonly string[]>;

export const logLevel = {
  flag: "log-level",
  placeholder: "LEVEL",
  help: `How much is logged to standard error: ${logLevels.join(", ")}; info includes a line per request`,
  fallback: "info",
  read: oneOf(logLevels),
} as const satisfies Setting<LogLevel>;

export const keyring = {
  flag: "keyring",
  placeholder: "FILE",
  help: "File with the fleet's key ring, to open the configuration in Redis",
  read: readText,
} as const satisfies Setting<string>;

export const replica = {
  flag: "replica",
  placeholder: "NAME",
  help: "Name of this replica, unique in the fleet; default: the machine's host name",
  read: readText,
} as const satisfies Setting<string>;

export const maxProjects = {
  flag: "max-projects",
  placeholder: "NUMBER",
  help: "Projects kept in memory; the one that was unused for longest is unloaded first",
  fallback: "1000",
  read: readCount,
} as const satisfies Setting<number>;

export const drain = {
  flag: "drain",
  placeholder: "DURATION",
  help: "How long it still accepts requests after SIGTERM, such as 10s, until load balancers have noticed; each response then closes its connection",
  fallback: "0s",
  read: durationBetween(0, 300, "up to 5m, such as 10s"),
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
  help: "Namespaces, comma-separated, whose objects are served; empty = all namespaces",
  fallback: "",
  read: (text) => listOf(text).map(readNamespace),
} as const satisfies Setting<readonly string[]>;

export const allowedHosts = {
  flag: "allowed-hosts",
  placeholder: "LIST",
  help: "Hosts that namespaces may claim, comma-separated: shop=shop.example.org,*={namespace}.apps.example.org; subdomains are included",
  fallback: "",
  read: readHostRules,
} as const satisfies Setting<readonly HostRule[]>;

export const allowedIssuers = {
  flag: "allowed-issuers",
  placeholder: "LIST",
  help: "External issuers that Projects may name, comma-separated: https://login.example.org/realms/main, https://login.example.org/*, https://*.example.org/*, or * for any; default: none",
  fallback: "",
  read: readIssuerRules,
} as const satisfies Setting<readonly IssuerRule[]>;

export const guardRails = {
  flag: "guard-rails",
  placeholder: "NAME",
  help: "ConfigMap in the operator's namespace with the platform's rules for manifests; followed; default: no rules",
  read: matching(dnsSubdomain, "the name of a ConfigMap, such as jsonplane-guard-rails"),
} as const satisfies Setting<string>;

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
  help: "How long another replica waits after the leader was killed, such as 15s; a leader that can't renew its Lease stops after two thirds",
  fallback: "15s",
  read: durationBetween(3, 300, "from 3s to 5m"),
} as const satisfies Setting<number>;

export const adoptData = switchSetting(
  "adopt-data",
  "For disaster recovery: take over data of earlier namespaces, restored credentials, and the Redis and the Projects of another installation",
);

export const onDataLoss = {
  flag: "on-data-loss",
  placeholder: "POLICY",
  help: "If Redis has lost stored data: Refuse requests for data until a person decides, or Serve what there is",
  fallback: "Refuse",
  read: oneOf(["Refuse", "Serve"]),
} as const satisfies Setting<"Refuse" | "Serve">;

export const namespace = {
  flag: "namespace",
  placeholder: "NAME",
  help: "The namespace to work on",
  read: readNamespace,
} as const satisfies Setting<string>;

export const allNamespaces = switchSetting("all-namespaces", "Work on every namespace");

export const kind = {
  flag: "kind",
  placeholder: "KIND",
  help: "Only objects of this kind, such as ApiResource; default: all",
  read: readKind,
} as const satisfies Setting<Kind>;

export const dryRun = switchSetting("dry-run", "Print what would be done, and do nothing");

export const force = switchSetting("force", "Include objects that nobody has deleted");

export type OutputFormat = "table" | "json";

export const project = {
  flag: "project",
  placeholder: "NAME",
  help: "Only data of Projects of this name",
  read: matching(dnsLabel, "the name of a Project, such as shop"),
} as const satisfies Setting<string>;

export const output = {
  flag: "output",
  short: "o",
  placeholder: "FORMAT",
  help: "table, or json: one object a line",
  fallback: "table",
  read: oneOf(["table", "json"]),
} as const satisfies Setting<OutputFormat>;

export const apiKeyFile = {
  flag: "api-key-file",
  placeholder: "FILE",
  help: "File with an API key to send; read again for each request",
  read: readText,
} as const satisfies Setting<string>;

export const tokenFile = {
  flag: "token-file",
  placeholder: "FILE",
  help: "File with an access token to send; read again for each request",
  read: readText,
} as const satisfies Setting<string>;

export const exportFile = {
  flag: "export",
  placeholder: "FILE",
  help: "Write the objects into a new file before any is deleted, as `jsonplane export` does",
  read: readText,
} as const satisfies Setting<string>;

export const eraseWithoutAsking = switchSetting("yes", "Delete without asking");

export const listFirst = switchSetting("list", "Of a collection: first the objects that there are, then their changes");

export const out = {
  flag: "out",
  placeholder: "FILE",
  help: "File to write; it appears once it is complete. Without it, the export goes to standard output",
  read: readText,
} as const satisfies Setting<string>;

export const exportFormat = {
  flag: "format",
  placeholder: "FORMAT",
  help: "ndjson, which can be imported; or csv, for spreadsheets: all objects of the one --resource",
  fallback: "ndjson",
  read: oneOf(["ndjson", "csv"]),
} as const satisfies Setting<"ndjson" | "csv">;

export const resource = {
  flag: "resource",
  placeholder: "LIST",
  help: "Resources to export, separated by commas. Without it and --root-key, everything",
  read: listOf,
} as const satisfies Setting<readonly string[]>;

export const rootKey = {
  flag: "root-key",
  placeholder: "LIST",
  help: "Root keys to export, separated by commas",
  read: listOf,
} as const satisfies Setting<readonly string[]>;

export const owner = {
  flag: "owner",
  placeholder: "NAME",
  help: "Only the objects of this owner: name of a user, apikey:NAME, external:ISSUER/NAME or anonymous:anonymous",
  read: (text) => (/^(?:user|apikey|external|anonymous):/.test(text) ? text : `user:${readText(text)}`),
} as const satisfies Setting<string>;

export const since = {
  flag: "since",
  placeholder: "FILE",
  help: "Only what has changed since the export in this file, or since this position",
  read: readText,
} as const satisfies Setting<string>;

export const continued = switchSetting("continue", "Go on with an export to --out that was broken off, in FILE.part");

export const importMode = {
  flag: "mode",
  placeholder: "MODE",
  help: "create: overwrite nothing; replace: make what is stored the same as the file, deletions too",
  fallback: "create",
  read: oneOf(["create", "replace"]),
} as const satisfies Setting<"create" | "replace">;

export const fromLine = {
  flag: "from-line",
  placeholder: "NUMBER",
  help: "Send nothing before this line of the file; to begin at the first line again changes nothing that is done",
  fallback: "1",
  read: readCount,
} as const satisfies Setting<number>;

export const deleteData = switchSetting(
  "delete",
  "Have the operator delete the data that are named, or with --all and --yes all that are listed",
);

export const all = switchSetting("all", "With --delete: everything that is listed");

export const yes = switchSetting("yes", "With --delete --all: delete, instead of only listing");

export const timeout = {
  flag: "timeout",
  placeholder: "DURATION",
  help: "How long to wait until what was ordered is done, such as 2m; the order stands all the same",
  fallback: "2m",
  read: durationBetween(1, 24 * 3_600, "from 1s to 24h, such as 2m"),
} as const satisfies Setting<number>;
