// A publisher that is cut off, replaced, or loses Redis in the middle of what it does: what Redis
// holds then, and that the next publish completes it.

import { beforeEach, describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../core/errors/store-errors.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { createPurges } from "../../operator/publish/purges.ts";
import { NotTheWriter, RedisContested } from "../../operator/publish/refusals.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import {
  type Around,
  begunPublisher,
  entry,
  inventoryWith,
  manyUsers,
  newPublisher,
  openRedisClient,
  redisClientAround,
  storedFields,
  storedInventory,
} from "../support/fleet/publishing.ts";
import { changed, project, withKey, withResource, withRootKey, withUser } from "../support/http/projects.ts";
import { startTcpProxy, type TcpProxy } from "../support/process/tcp-proxy.ts";
import type { TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const keyring = parseKeyring(newKeyringText());
const ref = { namespace: "default", name: "shop" };
const shop = project("shop", withUser("ann"), withKey("ci"), withResource("books"), withRootKey("flags"));
/** Three steps of it. */
const large = manyUsers(shop, 450);
const other = project("other", withRootKey("flags"));
const books = inventoryWith(entry("books"));

class CutOff extends Error {}

let redis: TestRedis;
let redisClient: RedisClient;
let publisher: Publisher;

useEmptiedRedis(
  async (own) => {
    ({ redis, redisClient } = own);
    publisher = await begunPublisher({ redisClient, keyring });
  },
  { args: ["--appendonly", "yes", "--appendfsync", "always"] },
);

const around = (what: Omit<Around, "script">, script = "publish") =>
  newPublisher({ redisClient: redisClientAround(redisClient, { script, ...what }), keyring });
const cutOff = () => {
  throw new CutOff();
};
const unanswered = () => {
  throw new OutcomeUnknown("not answered");
};
const stored = () => storedInventory(redisClient, "default/shop");

async function expectWhole(): Promise<void> {
  const { config } = await (await begunPublisher({ redisClient, keyring })).load(ref);
  expect(config).toEqual(large);
}

describe("a publish of several steps", () => {
  it.each([1, 2, 3])(
    "that is cut off before step %i is completed by the next one, with its inventory",
    async (call) => {
      const broken = around({ call, before: cutOff });
      await broken.begin();
      await expect(broken.publish(large, books)).rejects.toThrow(CutOff);
      // What may be served by now is in the inventory; nothing is when nothing is served.
      expect(await stored()).toEqual(call === 1 ? undefined : books);
      const after = await begunPublisher({ redisClient, keyring });
      const fields = (await storedFields(redisClient, ref)).length;
      expect(fields).toBe([0, 200, 400][call - 1]);
      expect((await after.publish(large, books)).changed).toBe(456 - fields);
      expect(await stored()).toEqual(books);
      await expectWhole();
    },
  );

  it.each([1, 2, 3])("whose step %i was not answered is completed after a new beginning", async (call) => {
    const broken = around({ call, after: unanswered });
    await broken.begin();
    await expect(broken.publish(large, books)).rejects.toThrow(OutcomeUnknown);
    expect(broken.isWriter()).toBe(false);
    await broken.begin();
    expect((await broken.publish(large, books)).changed).toBe([256, 56, 0][call - 1]);
    expect(await stored()).toEqual(books);
    await expectWhole();
  });

  it("of which a step takes place late, after it was given up, is refused that step", async () => {
    let late = (): Promise<unknown> => Promise.resolve();
    const lateRedisClient: RedisClient = {
      ...redisClient,
      async run(script, keys, args) {
        if (!script.name.startsWith("publish") || !JSON.stringify(args).includes("resource:films")) {
          return await redisClient.run(script, keys, args);
        }
        late = () => redisClient.run(script, keys, args);
        throw new OutcomeUnknown("on its way");
      },
    };
    const giving = newPublisher({ redisClient: lateRedisClient, keyring });
    await giving.begin();
    await giving.publish(shop, books);
    await expect(giving.publish(changed(shop, withResource("films")), books)).rejects.toThrow(OutcomeUnknown);
    await giving.begin();
    await giving.load(ref);
    await late();
    await giving.publish(shop, books);
    expect(await storedFields(redisClient, ref)).not.toContain("resource:films");
  });

  it("purges nothing before the last step has taken it out of service", async () => {
    await publisher.publish(large, books);
    const pending = (purgeFromRevision: number) =>
      inventoryWith(entry("books", { purgeFromRevision, purgeCause: "p" }));
    const broken = around({ call: 2, before: cutOff });
    await broken.begin();
    const users = new Map([...large.users].map(([name, user]) => [name, { ...user, credentialRevision: "next" }]));
    const next = { ...shop, users, resources: new Map() };
    await expect(broken.publish(next, pending(0))).rejects.toThrow(CutOff);
    expect(await stored()).toEqual(pending(0));
    const after = await begunPublisher({ redisClient, keyring });
    const { revision } = await after.publish(next, (await after.load(ref)).data);
    expect(await stored()).toEqual(pending(revision));
  });

  it("looks at the inventory again when nobody knows whether it was written", async () => {
    await publisher.publish(shop, books);
    const pending = inventoryWith(entry("books", { purgeFromRevision: 0, purgeCause: "p" }));
    const broken = around({ call: 1, after: unanswered });
    await broken.begin();
    expect((await broken.load(ref)).data).toEqual(books);
    await expect(broken.publish({ ...shop, resources: new Map() }, pending)).rejects.toThrow(OutcomeUnknown);
    await broken.begin();
    expect((await broken.load(ref)).data).toEqual(await stored());
    expect((await stored())?.entries[0]?.purgeFromRevision).toBeGreaterThan(0);
    await broken.publish(shop, books);
    expect(await stored()).toEqual(books);
  });
});

describe("a publisher that is replaced", () => {
  it("in the middle of a publish writes nothing more, and the new one publishes the rest", async () => {
    const rival = newPublisher({ redisClient, keyring });
    const first = around({ call: 2, before: () => rival.begin() });
    await first.begin();
    await expect(first.publish(large, books)).rejects.toThrow(NotTheWriter);
    expect(await storedFields(redisClient, ref)).toHaveLength(200);
    expect(first.isWriter()).toBe(false);
    expect((await rival.publish(large, books)).changed).toBe(256);
    await expectWhole();
  });

  it("is told by every way of writing, and by a look", async () => {
    await publisher.publish(shop, books);
    const purges = createPurges(redisClient, publisher);
    const lost = async (write: () => Promise<unknown>): Promise<void> => {
      const mine = await begunPublisher({ redisClient, keyring });
      publisher = mine;
      await begunPublisher({ redisClient, keyring });
      expect(mine.isWriter()).toBe(true);
      await expect(write()).rejects.toThrow(NotTheWriter);
      expect(mine.isWriter()).toBe(false);
      await expect(mine.load(ref)).rejects.toThrow(NotTheWriter);
    };
    const order = { what: "resource", project: ref, name: "books" } as const;
    await lost(() => publisher.publish(changed(shop, withUser("bob"))));
    await lost(() => publisher.withdraw(ref));
    await lost(() => publisher.writeData(ref, undefined));
    await lost(() => publisher.complete());
    await lost(() => createPurges(redisClient, publisher).order("id", order));
    await lost(() => createPurges(redisClient, publisher).forget("id"));
    expect(await purges.isOrdered("id")).toBe(false);
    await begunPublisher({ redisClient, keyring });
    expect([await publisher.verify(), publisher.isWriter()]).toEqual(["lost", false]);
  });

  it("takes nothing from whoever began while it stood still behind its question", async () => {
    const rival = newPublisher({ redisClient, keyring });
    const late = newPublisher({ redisClient, keyring });
    const confirm = async () => {
      await rival.begin();
      return true;
    };
    await expect(late.begin({ confirm })).rejects.toThrow(NotTheWriter);
    expect([late.isWriter(), await rival.verify()]).toEqual([false, "writer"]);
  });

  it("does not begin, and disturbs nobody, when it may not write", async () => {
    const late = newPublisher({ redisClient, keyring });
    await expect(late.begin({ confirm: async () => false })).rejects.toThrow(NotTheWriter);
    expect([late.isWriter(), await publisher.verify()]).toEqual([false, "writer"]);
  });

  it("refuses a reseal and purges of another publisher's time", async () => {
    const rival = newPublisher({ redisClient, keyring });
    const purges = createPurges(redisClient, publisher);
    await purges.order("a", { what: "resource", project: ref, name: "books" });
    await rival.begin();
    await expect(purges.order("b", { what: "resource", project: ref, name: "books" })).rejects.toThrow(NotTheWriter);
    expect([await purges.isOrdered("a"), await purges.isOrdered("b")]).toEqual([true, false]);
  });
});

describe("a Redis that was emptied", () => {
  it("in the middle of a publish gets nothing more until its publisher has begun anew", async () => {
    const first = around({ call: 2, before: () => redisClient.write(configKeys.meta, "FLUSHALL") });
    await first.begin();
    await expect(first.publish(large, books)).rejects.toThrow(NotTheWriter);
    expect([await storedFields(redisClient, ref), await stored()]).toEqual([[], undefined]);
    await first.begin();
    expect((await first.publish(large, books)).changed).toBe(456);
    await expectWhole();
  });

  it("and begun anew in the middle of a publish gets nothing of that one", async () => {
    const first = around({
      call: 2,
      before: async () => {
        await redisClient.write(configKeys.meta, "FLUSHALL");
        await first.begin();
      },
    });
    await first.begin();
    await expect(first.publish(large, books)).rejects.toThrow(NotTheWriter);
    expect(await storedFields(redisClient, ref)).toEqual([]);
    // The new beginning is not ended by the old one's refusal.
    expect([first.isWriter(), await first.verify()]).toEqual([true, "writer"]);
    expect((await first.publish(large, books)).changed).toBe(456);
  });

  it("never takes a new writer for one of before", async () => {
    await redisClient.write(configKeys.meta, "FLUSHALL");
    await begunPublisher({ redisClient, keyring });
    await expect(publisher.publish(shop)).rejects.toThrow(NotTheWriter);
    expect(await storedFields(redisClient, ref)).toEqual([]);
  });

  it("is noticed by a look, has another name, and goes on with newer revisions", async () => {
    const name = async () => String(await redisClient.read(configKeys.meta, "HGET", configKeys.meta, "dataset_id"));
    const before = [await name(), (await publisher.publish(shop, books)).revision] as const;
    await redisClient.write(configKeys.meta, "FLUSHALL");
    expect(await publisher.verify()).toBe("lost");
    await publisher.begin();
    const { revision } = await publisher.publish(shop, books);
    expect(await name()).not.toBe(before[0]);
    expect(revision).toBeGreaterThan(before[1]);
  });

  it("that lost its newest writes is noticed by a look and by the next publish", async () => {
    await publisher.publish(shop, books);
    // As a failover leaves it: the epoch is there, the last step is not.
    const rewind = () => redisClient.write(configKeys.meta, "HSET", configKeys.meta, "revision", "5");
    await rewind();
    expect(await publisher.verify()).toBe("lost");
    await publisher.begin();
    const { revision } = await publisher.publish(changed(shop, withUser("bob")), books);
    await rewind();
    await expect(publisher.publish(other)).rejects.toThrow(NotTheWriter);
    await publisher.begin();
    expect((await publisher.publish(other)).revision).toBeGreaterThan(revision);
  });
});

describe("a Redis that goes away during a publish", () => {
  let proxy: TcpProxy;
  let through: RedisClient;
  beforeEach(async () => {
    proxy = await startTcpProxy(redis.port);
    through = await openRedisClient(`redis://127.0.0.1:${proxy.port}`);
    publisher = await begunPublisher({ redisClient: through, keyring });
  });

  const lose = async (direction: "requests" | "replies", write: () => Promise<unknown>): Promise<void> => {
    proxy.drop(direction);
    const outcome = write().catch((error: unknown) => error);
    await proxy.dropped();
    proxy.cut();
    expect(await outcome).toBeInstanceOf(OutcomeUnknown);
    await eventually(() => expect(through.ready()).toBe(true));
  };

  it.each(["requests", "replies"] as const)(
    "and loses the %s leaves an outcome that the next publish finds out",
    async (direction) => {
      await publisher.publish(shop, books);
      const next = changed(shop, withUser("bob"), withResource("films"));
      const inventory = inventoryWith(entry("books"), entry("films"));
      await lose(direction, () => publisher.publish(next, inventory));
      expect(await publisher.verify()).toBe("lost");
      await publisher.begin();
      expect((await publisher.publish(next, inventory)).changed).toBe(direction === "requests" ? 2 : 0);
      expect([await stored(), (await publisher.load(ref)).config]).toEqual([inventory, next]);
      await publisher.publish(other);
      through.disconnect();
      await proxy.stop();
    },
  );

  it("and is killed, then back, is written by the same publisher", async () => {
    await publisher.publish(shop, books);
    await redis.kill("SIGKILL");
    await expect(publisher.publish(large, books)).rejects.toThrow(Error);
    await expect(publisher.begin()).rejects.toBeInstanceOf(StoreUnavailable);
    await redis.restart();
    await eventually(() => expect(through.ready()).toBe(true));
    await publisher.begin();
    expect((await publisher.publish(large, books)).changed).toBe(450);
    await eventually(() => expect(redisClient.ready()).toBe(true));
    await expectWhole();
    through.disconnect();
    await proxy.stop();
  });
});

describe("many projects published at once", () => {
  it("get growing revisions, one after the other, and nobody is overtaken", async () => {
    const names = Array.from({ length: 40 }, (_, at) => project(`many-${at}`, withUser("ann")));
    const done = await Promise.all(names.map((config) => publisher.publish(config)));
    expect(new Set(done.map(({ revision }) => revision)).size).toBe(40);
    expect(publisher.newest()).toBe(Math.max(...done.map(({ revision }) => revision)));
    expect(await publisher.verify()).toBe("writer");
  });
});

describe("a project that is looked at from two sides at once", () => {
  it("is remembered once: what is published meanwhile goes when it is revoked", async () => {
    await publisher.publish(shop, books);
    const next = await begunPublisher({ redisClient, keyring });
    const [published] = await Promise.all([
      next.load(ref).then(() => next.publish(changed(shop, withUser("eve")), books)),
      // As the rotation of the ring asks, which is no worker of the project.
      next.sealedWith(ref),
    ]);
    expect((await next.load(ref)).revision).toBe(published.revision);
    const before = await storedFields(redisClient, ref);
    await next.publish(shop, books);
    expect((await storedFields(redisClient, ref)).length).toBe(before.length - 1);
  });
});

describe("a Redis of another installation", () => {
  it("is refused, left as it is, and taken over only when that was said", async () => {
    await publisher.publish(shop, books);
    await publisher.complete();
    const foreign = newPublisher({ redisClient, keyring, owner: "another" });
    await expect(foreign.begin()).rejects.toThrow(RedisContested);
    expect(await publisher.verify()).toBe("writer");
    await foreign.begin({ takeOver: true });
    expect([foreign.isWriter(), await publisher.verify()]).toEqual([true, "lost"]);
    // Replicas take nothing for gone until the new owner has published everything.
    expect(await redisClient.read(configKeys.meta, "HEXISTS", configKeys.meta, "complete")).toBe(0);
    await expect(publisher.begin()).rejects.toThrow(RedisContested);
    expect((await foreign.load(ref)).data).toEqual(books);
  });
});
