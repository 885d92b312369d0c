// Connects to Redis and to the API server as the operator does, lists data that nobody serves, and
// orders the deletion of what was selected. What a person must fix is a sentence and exit code 1; a
// command line that does not say what is meant is refused with 2.

import { readFile } from "node:fs/promises";
import type { OutputFormat } from "../../core/env/settings.ts";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import { createTrust, InvalidAuthorities } from "../../core/redis/authorities.ts";
import { connect } from "../../core/redis/connect.ts";
import { createRedisClient, type RedisClient } from "../../core/redis/redis-client.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import { systemMonotonic, systemTimers } from "../../core/timers.ts";
import { trustedRedisCertificates } from "../../operator/certificates/redis-certificate.ts";
import { installationId } from "../../operator/keyring/fleet-ring.ts";
import { FleetRingUnusable, readRingSecret, ringSecretName } from "../../operator/keyring/ring-secret.ts";
import { ApiFailure, type KubeApi } from "../../operator/kube/api.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { secretType } from "../../operator/kube/objects.ts";
import { controllerIn } from "../../operator/model/controller.ts";
import { kindOf } from "../../operator/model/data-inventory.ts";
import { readDataInventory } from "../../operator/publish/data-inventories.ts";
import { InventoryUnreadable } from "../../operator/publish/refusals.ts";
import { operatorRedisUrl, RedisSecretUnusable } from "../../operator/redis-users/redis-users.ts";
import { ownerIn } from "../../operator/runtime/open-redis.ts";
import { apiServerOptions, operatorNamespace, whyNoApiServer } from "../api-server.ts";
import { StartRefused } from "../start-refused.ts";
import { orderDeletion } from "./order-deletion.ts";
import { retainedPages } from "./read-retained.ts";
import { type Choice, chosenBy, isDeletable, nameFault, nameOf, type RetainedItem } from "./retained-item.ts";
import type { OrphansSettings } from "./settings.ts";

interface Connected {
  readonly api: KubeApi;
  readonly redisClient: RedisClient;
  readonly secret: { readonly namespace: string; readonly name: string };
}

const commandTimeoutMs = 5_000;

export async function runOrphans(settings: OrphansSettings, argument: string): Promise<number> {
  const names = argument.split(" ").filter((word) => word !== "");
  const fault = nameFault(names) ?? choiceFault(settings, names);
  if (fault !== undefined) return refuse(fault, 2);
  try {
    return await withConnections(settings, (connected) => listAndDelete(settings, names, connected));
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return refuse(refusal, 1);
  }
}

function choiceFault({ deleteData, all, yes }: OrphansSettings, names: readonly string[]): string | undefined {
  if (!deleteData) return all || yes ? "--all and --yes say what --delete deletes: add --delete" : undefined;
  if (all && names.length > 0) return "--delete takes either names or --all";
  return undefined;
}

async function listAndDelete(
  settings: OrphansSettings,
  names: readonly string[],
  connected: Connected,
): Promise<number> {
  const { deleteData, all, yes, output, timeout } = settings;
  const isOrder = deleteData && (names.length > 0 || (all && yes));
  const printer = createPrinter(output, write);
  const chosen: RetainedItem[] = [];
  let count = 0;
  const missing = new Set(names);
  for await (const page of chosenPages(settings, missing, connected)) {
    count += page.length;
    if (isOrder) chosen.push(...page);
    else printer.page(page);
  }
  if (missing.size > 0) return refuse(`Nothing is kept under ${[...missing].join(", ")}; nothing was deleted`, 1);
  if (isOrder) return await deleteChosen(chosen, { hasNames: names.length > 0, timeoutMs: timeout * 1_000, connected });
  say(summary(count));
  if (!deleteData) return 0;
  return refuse("Nothing was deleted: name what is to be deleted, or add --all --yes to delete all of these", 2);
}

/** `missing` = the names; those that choose something are taken out of it. */
async function* chosenPages(
  { namespace, project }: OrphansSettings,
  missing: Set<string>,
  { api, redisClient, secret }: Connected,
): AsyncIterable<readonly RetainedItem[]> {
  const choice: Choice = { namespace, project, names: [...missing] };
  for await (const page of retainedPages({ api, redisClient, controller: controllerIn(secret.namespace), namespace })) {
    const chosen = page.map((item) => ({ item, by: chosenBy(item, choice) })).filter(({ by }) => by.length > 0);
    for (const { by } of chosen) for (const name of by) missing.delete(name);
    yield chosen.map(({ item }) => item);
  }
}

interface Deleting {
  readonly hasNames: boolean;
  readonly timeoutMs: number;
  readonly connected: Connected;
}

async function deleteChosen(
  chosen: readonly RetainedItem[],
  { hasNames, timeoutMs, connected: { api, redisClient, secret } }: Deleting,
): Promise<number> {
  const refused = new Set(chosen.filter((item) => !isDeletable(item) && item.state !== "Deleting"));
  for (const item of refused) say(`${nameOf(item)}: ${whyNot(item)}`);
  const isRefused = refused.size > 0;
  // A person who names something wants exactly that deleted: if one name is refused, nothing is
  // deleted.
  if (hasNames && isRefused) return refuse("Nothing was deleted", 1);
  const code = await orderDeletion(
    chosen.filter((item) => !refused.has(item)),
    {
      api,
      secret,
      recordOf: (project) => readDataInventory(redisClient, project),
      timers: systemTimers,
      now: Date.now,
      monotonic: systemMonotonic,
      out: write,
      timeoutMs,
    },
  );
  return isRefused ? 1 : code;
}

function whyNot({ because, entry }: RetainedItem): string {
  if (because === "OtherController")
    return "another installation looks after the Project of that name: delete that Project first";
  if (because === "NamespaceNotWatched") return "the operator's account can't read the namespace: grant it access";
  return `the ${kindOf(entry)} still exists: delete it first, or set deletionPolicy: Delete on it`;
}

function summary(count: number): string {
  return count === 0 ? "Nothing is kept without being served" : `${count} kept`;
}

async function withConnections(
  settings: OrphansSettings,
  work: (connected: Connected) => Promise<number>,
): Promise<number> {
  const { kubeconfig } = settings;
  const apiServer = apiServerOptions(kubeconfig);
  const own = settings.operatorNamespace ?? (await operatorNamespace(apiServer));
  const { api } = await createKubeApi({ ...apiServer, observe: () => undefined });
  try {
    const secret = { namespace: own, name: ringSecretName };
    const redisClient = await connectToRedis(settings, api, own);
    try {
      await requireOwn(api, secret, redisClient);
      return await work({ api, redisClient, secret });
    } finally {
      redisClient.disconnect();
    }
  } finally {
    await api.close();
  }
}

async function connectToRedis(
  { redis, redisSecret, redisTlsSecret, redisCaFile }: OrphansSettings,
  api: KubeApi,
  namespace: string,
): Promise<RedisClient> {
  const inFile =
    redisCaFile &&
    (await readFile(redisCaFile, "utf8").catch((cause: unknown) => {
      throw new StartRefused(`--redis-ca-file ${redisCaFile} can't be read`, { cause });
    }));
  const inSecret = redisTlsSecret && (await trustedRedisCertificates(api, { namespace, name: redisTlsSecret }));
  const trusted = [inFile, inSecret].filter(Boolean).join("\n");
  if (trusted !== "") createTrust()(trusted);
  const found =
    redisSecret === undefined ? redis : await operatorRedisUrl(api, { namespace, name: redisSecret }, redis);
  if (found === undefined)
    throw new StartRefused(`There is no Secret ${namespace}/${redisSecret}: is it the operator's namespace?`);
  const target = parseRedisUrl(found);
  return createRedisClient(await connect({ target, name: "jsonplane-orphans", commandTimeout: commandTimeoutMs }));
}

/** What is listed is what the operator of this Secret keeps. */
async function requireOwn(api: KubeApi, secret: Connected["secret"], redisClient: RedisClient): Promise<void> {
  const found = await api.get(secretType, secret);
  const name = `${secret.namespace}/${secret.name}`;
  const advice = "name the operator's namespace with --operator-namespace";
  if (found === undefined) throw new StartRefused(`There is no Secret ${name} with a key ring: ${advice}`);
  const owner = await ownerIn(redisClient);
  if (owner === undefined || owner === (await installationId(api, secret.namespace, readRingSecret(found).keyring)))
    return;
  throw new StartRefused(`This Redis is another installation's than that of the Secret ${name}: ${advice}`);
}

function refusalOf(error: unknown): string | undefined {
  if (error instanceof ApiFailure) {
    const needs =
      "requires the verbs get on namespaces, list on projects of jsonplane.io, and get and update on secrets of the operator's namespace";
    return error.status === 401 || error.status === 403 ? `${error.message}; ${needs}` : error.message;
  }
  const reported = [
    StoreUnavailable,
    StartRefused,
    FleetRingUnusable,
    RedisSecretUnusable,
    InventoryUnreadable,
    InvalidAuthorities,
  ];
  return reported.some((kind) => error instanceof kind) ? (error as Error).message : whyNoApiServer(error);
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function refuse(why: string, code: number): number {
  say(`jsonplane: ${why}`);
  return code;
}

export interface RetainedPrinter {
  page(items: readonly RetainedItem[]): void;
}

/** Column width that fits most names; a longer name shifts the rest of its line. */
const widths = { name: 48, since: 24, because: 19 } as const;

function createPrinter(format: OutputFormat, out: (line: string) => void): RetainedPrinter {
  if (format === "json") return { page: (items) => items.forEach((item) => void out(JSON.stringify(asJson(item)))) };
  let hasHead = false;
  return {
    page(items) {
      if (items.length > 0 && !hasHead) out(head);
      hasHead ||= items.length > 0;
      for (const item of items) out(lineOf(item));
    },
  };
}

const head = row({ name: "DATA", since: "KEPT SINCE", because: "WHY" }, "STATE");

function lineOf(item: RetainedItem): string {
  const { entry, because, state } = item;
  const { retainedAt: since = "not recorded yet" } = entry;
  return row({ name: nameOf(item), since, because }, state);
}

function row(cells: Readonly<Record<keyof typeof widths, string>>, state: string): string {
  const padded = Object.entries(widths).map(([name, width]) => cells[name as keyof typeof widths].padEnd(width));
  return [...padded, state].join("  ");
}

/** What is not known is null. */
function asJson({ project, entry, because, state }: RetainedItem): object {
  return {
    namespace: project.namespace,
    project: project.name,
    kind: kindOf(entry),
    name: entry.name,
    keptSince: entry.retainedAt ?? null,
    uid: entry.uid,
    namespaceUid: entry.namespaceUid,
    because,
    state,
  };
}
