// Redis restarted, emptied, or full of what nobody declared, under a running fleet.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { kinds } from "../../core/manifests/object.ts";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { shop } from "../support/fleet/shop.ts";
import { startTraffic } from "../support/fleet/traffic.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { customResources, folderOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { refusedWrites } from "../support/redis/refused-writes.ts";
import { eventually } from "../support/time/eventually.ts";

let fleet: OwnFleet;

beforeAll(async () => {
  fleet = await startFleet({ operatorArgs: ["--lease-duration", "4s"] });
});
afterAll(() => fleet?.stop());

const seconds = 1_000;
const patience = { withinMs: 60 * seconds };

/** A served project of its own. */
async function served(name = "shop"): Promise<string> {
  const namespace = await fleet.api.namespace();
  await fleet.api.apply(shop({ name, keys: { [`${name}-key`]: "one" } }), { namespace });
  await fleet.ready(namespace);
  return namespace;
}

function get(path: string, key?: string) {
  const [replica] = fleet.replicas;
  if (replica === undefined) throw new Error("There is no replica");
  return replica.send(path, key === undefined ? {} : { as: `apikey ${key}` });
}

async function ask(...words: readonly string[]): Promise<string> {
  return await askRedis(fleet.redis.port, words.join(" "));
}

/** Names of the projects that Redis holds configuration of. */
async function isPublished(name: string): Promise<boolean> {
  return (await ask("HEXISTS", configKeys.projects, name)).startsWith(":1");
}

/** An edit becomes live, and is said to be. */
async function expectWorking(namespace: string, longest: number): Promise<void> {
  await fleet.api.apply(shop({ keys: { "shop-key": "one" }, longest }), { namespace });
  // A Secret that is there before may be that of a key which was deleted.
  await fleet.ready(namespace);
  const key = await fleet.secret(namespace, "shop-key-api-key", "apiKey");
  const asked = { method: "POST", body: { title: "x".repeat(longest + 1) }, as: `apikey ${key}` };
  await eventually(async () => {
    const answer = await fleet.replicas[0]?.send(`/${namespace}/shop/api/items`, asked);
    expect(answer?.text).toContain(` ${longest} `);
  });
}

describe("Redis", () => {
  it("restarted empty is filled again by itself, and everything works again", async () => {
    const namespace = await served();
    const key = await fleet.secret(namespace, "shop-key-api-key", "apiKey");
    expect((await get(`/${namespace}/shop/api/items`, key)).status).toBe(200);
    await fleet.redis.restart();
    await eventually(async () => expect(await isPublished(`${namespace}/shop`)).toBe(true), patience);
    await eventually(async () => expect((await get(`/${namespace}/shop/api/items`, key)).status).toBe(200));
    await expectWorking(namespace, 20);
  });

  it("emptied while it runs is filled again within seconds, and no request fails", async () => {
    const namespace = await served();
    const key = await fleet.secret(namespace, "shop-key-api-key", "apiKey");
    const path = `/${namespace}/shop/api/items`;
    expect((await get(path, key)).status).toBe(200);
    const traffic = startTraffic(
      () => get(path),
      () => get(path, key),
    );
    const projects = await ask("HLEN", configKeys.projects);
    await ask("FLUSHALL");
    await eventually(async () => {
      expect(await ask("HLEN", configKeys.projects)).toBe(projects);
      expect(await ask("HGET", configKeys.meta, "complete")).toContain("1");
    }, patience);
    await expectWorking(namespace, 21);
    const { answered, failures } = await traffic.stop();
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(20);
  });

  it("emptied refuses keys that were withdrawn before", async () => {
    const namespace = await served();
    const key = await fleet.secret(namespace, "shop-key-api-key", "apiKey");
    const path = `/${namespace}/shop/api/items`;
    await apiObject(fleet.api, `${folderOf("ApiKey", namespace)}/shop-key`, { method: "DELETE" });
    await eventually(async () => expect((await get(path, key)).status).toBe(401));
    await ask("FLUSHALL");
    const traffic = startTraffic(async () => {
      const answer = await get(path, key);
      return answer.status === 401 ? { ...answer, status: 200 } : { ...answer, status: 599 };
    });
    await eventually(async () => expect(await isPublished(`${namespace}/shop`)).toBe(true), patience);
    await expectWorking(namespace, 22);
    expect((await traffic.stop()).failures).toEqual([]);
  });
});

describe.each([
  ["READONLY", "it is a replica"],
  ["MISCONF", "it can't save its data"],
] as const)("Redis that refuses writes with %s", (code, why) => {
  it("is named in the condition of what can't be published, and all is published once it takes writes again", async () => {
    const namespace = await fleet.api.namespace();
    await refusedWrites[code].enter(fleet.redis);
    try {
      await fleet.api.apply(shop(), { namespace });
      await eventually(async () => {
        const { conditions = [] } = (await fleet.get("Project", namespace, "shop")).status ?? {};
        const ready = conditions.find(({ type }) => type === "Ready");
        expect(ready).toMatchObject({
          status: "False",
          reason: "PublishFailed",
          message: expect.stringContaining(why),
        });
      }, patience);
    } finally {
      await refusedWrites[code].leave(fleet.redis);
    }
    await fleet.ready(namespace);
  });
});

describe("Redis whose memory is used up", () => {
  it("keeps no Project from being deleted together with its data", async () => {
    const namespace = await fleet.api.namespace();
    await fleet.api.apply(shop({ keys: { "shop-key": "one" }, deletionPolicy: "Delete" }), { namespace });
    await fleet.ready(namespace);
    const key = await fleet.secret(namespace, "shop-key-api-key", "apiKey");
    const path = `/${namespace}/shop/api/items`;
    const made = { method: "POST", body: { title: "one" }, as: `apikey ${key}` };
    expect((await fleet.replicas[0]?.send(path, made))?.status).toBe(201);
    await refusedWrites.OOM.enter(fleet.redis);
    try {
      expect((await fleet.replicas[0]?.send(path, made))?.status).toBe(507);
      await eventually(async () => {
        const metrics = (await fleet.operators[0]?.metrics()) ?? "";
        expect(metrics).toContain('jsonplane_redis_memory_max_bytes{server="primary"} 1\n');
        expect(metrics).toMatch(/^jsonplane_redis_memory_used_bytes\{server="primary"\} [0-9]{6,}$/m);
      }, patience);
      await apiObject(fleet.api, `${folderOf("Project", namespace)}/shop`, { method: "DELETE" });
      await eventually(async () => {
        const kindsLeft = (await customResources(fleet.api, namespace)).map(({ kind }) => kind);
        expect(kindsLeft).not.toContain("Project");
      }, patience);
      expect(await ask("EXISTS", `jp:{${namespace}/shop/items}:ids`)).toContain(":0");
      expect(await ask("HLEN", configKeys.orders)).toContain(":0");
    } finally {
      await refusedWrites.OOM.leave(fleet.redis);
    }
  });
});

describe("Redis that went back to a backup under a running operator", () => {
  /** As a failover to a replica that lagged does, too. */
  async function restoreBackup(): Promise<void> {
    await fleet.redis.kill();
    await fleet.redis.restart();
  }

  it("has what was revoked, withdrawn and changed since revoked, withdrawn and changed again, and loses no key that was made since", async () => {
    const [namespace, gone] = [await served(), await served()];
    const [key, goneKey] = await Promise.all(
      [namespace, gone].map((each) => fleet.secret(each, "shop-key-api-key", "apiKey")),
    );
    const statusOf = async (where: string, as?: string) => (await get(`/${where}/shop/api/items`, as)).status;
    expect(await ask("SAVE")).toContain("OK");
    await fleet.api.apply(shop({ keys: { newer: "one" } }), { namespace });
    await apiObject(fleet.api, `${folderOf("ApiKey", namespace)}/shop-key`, { method: "DELETE" });
    for (const kind of kinds) await apiObject(fleet.api, folderOf(kind, gone), { method: "DELETE" });
    await fleet.ready(namespace);
    const newer = await fleet.secret(namespace, "newer-api-key", "apiKey");
    const now = async () => [
      await statusOf(namespace, key),
      await statusOf(namespace, newer),
      await statusOf(gone, goneKey),
      await isPublished(`${gone}/shop`),
    ];
    const expected = [401, 200, 404, false];
    await eventually(async () => expect(await now()).toEqual(expected), patience);
    for (const operator of fleet.operators) operator.signal("SIGSTOP");
    await restoreBackup();
    expect(await isPublished(`${gone}/shop`)).toBe(true);
    for (const operator of fleet.operators) operator.signal("SIGCONT");
    await eventually(async () => expect(await now()).toEqual(expected), patience);
    // What a process says comes a moment after what it does.
    await eventually(() =>
      expect(fleet.operators[0]?.log()).toContain("Redis lost published Projects; publishing them first"),
    );
    await expectWorking(namespace, 23);
  });
});

describe("a broken record of one Project's data", () => {
  it("leaves that one as it is, says how to go on, and holds up no other", async () => {
    const [broken, other, gone] = [await served(), await served(), await served()];
    const field = `${broken}/shop`;
    await ask("HSET", configKeys.data, field, "nonsense");
    await stopOperators();
    await deleteAll(gone);
    await fleet.addOperator();
    await expectWorking(other, 41);
    // What has no object any more is looked for once everything else is published.
    await eventually(async () => expect((await get(`/${gone}/shop/api/items`)).status).toBe(404), patience);
    await fleet.api.apply(shop({ keys: { "shop-key": "one" }, longest: 42 }), { namespace: broken });
    await eventually(async () => {
      const objects = JSON.stringify(await customResources(fleet.api, broken));
      expect(objects).toContain(`field ${field} of the hash ${configKeys.data}`);
    });
    const key = await fleet.secret(broken, "shop-key-api-key", "apiKey");
    expect((await get(`/${broken}/shop/api/items`, key)).status).toBe(200);
    await ask("HDEL", configKeys.data, field);
    await expectWorking(broken, 43);
  });
});

describe("a project whose objects went while no operator ran", () => {
  it("is withdrawn when one comes, and what remains is served throughout", async () => {
    const [left, gone] = [await served(), await served()];
    await stopOperators();
    await deleteAll(gone);
    const traffic = startTraffic(() => get(`/${left}/shop/api/items`));
    await fleet.addOperator();
    await eventually(async () => expect((await get(`/${gone}/shop/api/items`)).status).toBe(404), patience);
    expect(await isPublished(`${gone}/shop`)).toBe(false);
    expect((await traffic.stop()).failures).toEqual([]);
  });

  it("is withdrawn when most have gone, once the API server was asked for each", async () => {
    const namespace = await fleet.api.namespace();
    const names = Array.from({ length: 24 }, (_, index) => `shop-${index}`);
    await fleet.api.apply(names.map((name) => shop({ name, keys: {} })).join("\n---\n"), { namespace });
    await fleet.ready(namespace);
    await stopOperators();
    await deleteAll(namespace);
    await fleet.addOperator();
    await eventually(
      async () => {
        for (const name of names) expect(await isPublished(`${namespace}/${name}`)).toBe(false);
      },
      { withinMs: 120 * seconds },
    );
  });
});

async function stopOperators(): Promise<void> {
  await Promise.all(fleet.operators.map((operator) => operator.stop()));
}

async function deleteAll(namespace: string): Promise<void> {
  // Nothing runs that could do what a finalizer asks for.
  for (const kind of kinds) await apiObject(fleet.api, folderOf(kind, namespace), { method: "DELETE" });
  await eventually(async () => expect(await customResources(fleet.api, namespace)).toEqual([]));
}
