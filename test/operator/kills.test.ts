// Operators killed again and again at random moments while their objects are applied, rotated,
// edited and deleted: whoever comes last finds nothing lost, nothing minted twice, and nobody let
// in who should not be.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { credentialsKey } from "../../core/config/config-keys.ts";
import { rotationAnnotation } from "../../operator/model/secret-names.ts";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { freeLease } from "../support/fleet/free-lease.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { apiKey, shop } from "../support/fleet/shop.ts";
import { startTraffic } from "../support/fleet/traffic.ts";
import { apiCall } from "../support/kubernetes/api-server/api-server-call.ts";
import { folderOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { eventually } from "../support/time/eventually.ts";
import { seededMoments } from "../support/time/seeded-moments.ts";
import { countForTier, testSeed } from "../support/time/test-tier.ts";
import { followSecrets, type SecretHistory, type SecretVersion } from "./secret-history.ts";

const kills = countForTier(8, 50);
const seed = testSeed();
const maxLeaderMs = 1_500;
const projects = ["first", "second", "third"];
const names = Array.from({ length: 12 }, (_, index) => `key-${index}`);

let fleet: OwnFleet;
let namespace: string;
let history: SecretHistory;

beforeAll(async () => {
  fleet = await startFleet({ operatorArgs: ["--lease-duration", "3s"] });
  namespace = await fleet.api.namespace();
  history = await followSecrets(fleet.api, namespace);
  for (const name of projects) await fleet.api.apply(shop({ name, keys: {}, users: [`${name}-user`] }), { namespace });
  await fleet.api.apply(apiKey("anchor", { project: "first", rotation: "once" }), { namespace });
  await fleet.ready(namespace, 60);
});
afterAll(async () => {
  await history?.stop();
  await fleet?.stop();
});

/** `rotation.id` of each key that is declared, by name. */
type Declared = Map<string, string>;

const projectOf = (key: string): string => projects[names.indexOf(key) % projects.length] ?? "first";

interface Changes {
  readonly declared: Declared;
  readonly count: () => number;
  stop(): Promise<void>;
}

/** Changes something all the time. Each rotation id is used for one key, once. */
function keepChanging(random: () => number): Changes {
  const declared: Declared = new Map();
  let stopped = false;
  let count = 0;
  const change = async (): Promise<void> => {
    count += 1;
    const name = names[Math.floor(random() * names.length)] ?? "key-0";
    const kind = random();
    if (kind < 0.6) {
      declared.set(name, `id-${count}`);
      await fleet.api.apply(apiKey(name, { project: projectOf(name), rotation: `id-${count}` }), { namespace });
    } else if (kind < 0.8) {
      declared.delete(name);
      // A key that is not there is refused with 404.
      await apiCall(fleet.api, `${folderOf("ApiKey", namespace)}/${name}`, { method: "DELETE" });
    } else {
      const project = projectOf(name);
      await fleet.api.apply(shop({ name: project, keys: {}, users: [`${project}-user`], longest: 100 + count }), {
        namespace,
      });
    }
  };
  const loop = async (): Promise<void> => {
    while (!stopped) {
      await change();
      await sleep(200 * random());
    }
  };
  const changing = loop();
  return {
    declared,
    count: () => count,
    async stop() {
      stopped = true;
      await changing;
    },
  };
}

async function leaderOf(operators: readonly OperatorProcess[]): Promise<OperatorProcess> {
  return await eventually(
    async () => {
      for (const operator of operators) if (await operator.leads().catch(() => false)) return operator;
      throw new Error("Nobody leads");
    },
    { withinMs: 60_000, everyMs: 50 },
  );
}

/** Kills whoever leads; another one waits to follow, and is replaced. */
async function keepKilling(random: () => number): Promise<void> {
  let living: readonly OperatorProcess[] = fleet.operators;
  for (let killed = 0; killed < kills; killed += 1) {
    living = [...living, await fleet.addOperator({ untilReady: false })];
    const leading = await leaderOf(living);
    await sleep(maxLeaderMs * random());
    await leading.stop("SIGKILL");
    living = living.filter((operator) => operator !== leading);
    await freeLease(fleet.api);
  }
}

function apiKeys(versions: readonly SecretVersion[]) {
  return versions.flatMap(({ name, annotations, entries }) => {
    const value = entries["apiKey"];
    const key = name.replace(/-api-key$/, "");
    const mark = JSON.parse(annotations[rotationAnnotation] ?? "{}") as { readonly id?: string };
    return value === undefined ? [] : [{ key, id: mark.id ?? "", value }];
  });
}

/** Values that one name was ever seen with, without repetition. */
function valuesOf<T>(seen: readonly T[], nameOf: (each: T) => string, textOf: (each: T) => string) {
  const values = new Map<string, Set<string>>();
  for (const each of seen) values.set(nameOf(each), (values.get(nameOf(each)) ?? new Set()).add(textOf(each)));
  return values;
}

const manyOf = (values: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] =>
  [...values].filter(([, each]) => each.size !== 1).map(([name]) => name);

it(`${kills} kills later everything is Ready, each key was minted once, and only the newest ones are accepted`, {
  timeout: 600_000,
}, async () => {
  const random = seededMoments(seed);
  const [replica] = fleet.replicas;
  if (replica === undefined) throw new Error("There is no replica");
  const ask = (project: string, key: string) =>
    replica.send(`/${namespace}/${project}/api/items`, { method: "GET", as: `apikey ${key}` });
  const anchor = await fleet.secret(namespace, "anchor-api-key", "apiKey");
  const traffic = startTraffic(() => ask("first", anchor));
  const changes = keepChanging(seededMoments(seed + 1));

  await keepKilling(random);
  await changes.stop();
  await fleet.ready(namespace, 60);
  await eventually(async () => {
    for (const [key, id] of changes.declared) {
      const { annotations } = (await fleet.get("Secret", namespace, `${key}-api-key`)).metadata;
      expect(annotations?.[rotationAnnotation]).toContain(`"${id}"`);
    }
  });

  const versions = await history.versions();
  const keys = apiKeys(versions);
  expect(
    manyOf(
      valuesOf(
        keys,
        ({ key, id }) => `${key} ${id}`,
        ({ value }) => value,
      ),
    ),
  ).toEqual([]);
  expect(new Set(keys.map(({ value }) => value)).size).toBeGreaterThan(kills / 2);
  const secrets = (entry: string) => versions.filter(({ entries }) => entries[entry] !== undefined);
  for (const entry of ["password", "ring"]) {
    expect(secrets(entry).length).toBeGreaterThanOrEqual(projects.length);
    const values = valuesOf(
      secrets(entry),
      ({ name }) => name,
      ({ entries }) => entries[entry] ?? "",
    );
    expect(manyOf(values)).toEqual([]);
  }

  const current = new Map<string, string>();
  for (const key of changes.declared.keys())
    current.set(key, await fleet.secret(namespace, `${key}-api-key`, "apiKey"));
  await eventually(async () => {
    for (const { key, value } of keys.filter((seen) => seen.key !== "anchor")) {
      const { status } = await ask(projectOf(key), value);
      expect({ key, status }).toEqual({ key, status: current.get(key) === value ? 200 : 401 });
    }
  });
  for (const project of projects) {
    const declared = [...changes.declared.keys()].filter((key) => projectOf(key) === project).length;
    // A user in addition to the keys, and the anchor.
    const fields = declared + 1 + (project === "first" ? 1 : 0);
    const found = await askRedis(fleet.redis.port, `HLEN ${credentialsKey({ namespace, name: project })}`);
    expect(found.trim()).toBe(`:${fields}`);
  }

  const { answered, failures } = await traffic.stop();
  expect(failures).toEqual([]);
  expect(answered).toBeGreaterThan(kills);
  expect(changes.count()).toBeGreaterThan(kills);
});
