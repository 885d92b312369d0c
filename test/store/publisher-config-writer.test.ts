// The operator's right to write configuration, kept up over a Redis that is away, emptied or taken
// by another, on real Redis.

import { describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { copies } from "../../core/config/copy-order.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { objectChecks } from "../../core/config/object-check.ts";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { systemTimers } from "../../core/timers.ts";
import { createAcknowledgements } from "../../operator/publish/acknowledgements.ts";
import {
  type ConfigWriter,
  type ConfigWriterDeps,
  createConfigWriter,
  type OpenRedis,
} from "../../operator/publish/config-writer.ts";
import { createPurges } from "../../operator/publish/purges.ts";
import { NotTheWriter, RedisContested } from "../../operator/publish/refusals.ts";
import { createReplicaOrders } from "../../operator/publish/replica-orders.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import { begunPublisher, newPublisher, openRedisClient, storedFields } from "../support/fleet/publishing.ts";
import { changed, project, withRootKey, withUser } from "../support/http/projects.ts";
import { freePort } from "../support/process/free-port.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const keyring = parseKeyring(newKeyringText());
const ref = { namespace: "default", name: "shop" };
const shop = project("shop", withUser("ann"));

let redis: TestRedis;
let redisClient: RedisClient;
let writer: ConfigWriter;
let opened = 0;
let begun: (readonly string[])[] = [];

useEmptiedRedis((own) => {
  ({ redis, redisClient } = own);
  opened = 0;
  begun = [];
});

async function open(url = redis.url): Promise<OpenRedis> {
  opened += 1;
  const own = await openRedisClient(url);
  const publisher = newPublisher({ redisClient: own, keyring });
  return {
    redisClient: own,
    publisher,
    purges: createPurges(own, publisher),
    checkOrders: createReplicaOrders(own, publisher, objectChecks),
    copyOrders: createReplicaOrders(own, publisher, copies),
    acknowledgements: createAcknowledgements({ redisClient: own, timers: systemTimers }),
  };
}

function newWriter(deps: Partial<ConfigWriterDeps> = {}): ConfigWriter {
  return createConfigWriter({
    open,
    confirm: async () => true,
    takeOver: false,
    // What stands in Redis when it is told.
    onSessionBegun: async ({ publisher }) => {
      begun.push((await publisher.published()).map(({ name }) => name));
    },
    ...deps,
  });
}

const clients = async () =>
  String(await redisClient.read("x", "CLIENT", "LIST"))
    .trim()
    .split("\n").length;

describe("a writer of configuration", () => {
  it("begins once for all who ask at the same time, and tells of it before anything is written", async () => {
    writer = newWriter();
    const configs = await Promise.all(
      [1, 2, 3].map(async (number) => {
        const config = await writer.session();
        await config.publisher.publish(project(`p${number}`));
        return config;
      }),
    );
    expect([new Set(configs).size, opened, begun]).toEqual([1, 1, [[]]]);
    await writer.session();
    await writer.verify();
    expect(begun).toHaveLength(1);
    writer.close();
  });

  it("refuses while Redis is away at first, and begins when it is there", async () => {
    const port = await freePort();
    writer = newWriter({ open: () => open(`redis://127.0.0.1:${port}`) });
    await expect(writer.session()).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(writer.verify()).rejects.toBeInstanceOf(StoreUnavailable);
    const late = await startRedis({ port });
    await writer.verify();
    expect((await writer.session()).publisher.isWriter()).toBe(true);
    expect([opened, begun.length]).toEqual([3, 1]);
    writer.close();
    await late.stop();
  });

  it("begins anew when a look finds Redis emptied", async () => {
    writer = newWriter();
    const { publisher } = await writer.session();
    await publisher.publish(shop);
    await redisClient.write(configKeys.meta, "FLUSHALL");
    await writer.verify();
    expect(begun).toEqual([[], []]);
    expect((await (await writer.session()).publisher.publish(shop)).changed).toBe(3);
    expect(opened).toBe(1);
    writer.close();
  });

  it("begins anew, once, after publishes found that they could not write", async () => {
    writer = newWriter();
    const { publisher } = await writer.session();
    await publisher.publish(shop);
    await begunPublisher({ redisClient, keyring });
    const refused = await Promise.allSettled(
      [1, 2, 3].map((at) => publisher.publish(changed(shop, withRootKey(`k${at}`)))),
    );
    expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    await Promise.all([writer.session(), writer.verify(), writer.session()]);
    expect(begun).toEqual([[], ["shop"]]);
    writer.close();
  });

  it("does not begin for a process that lost the Lease, and asks again the next time", async () => {
    let leads = false;
    writer = newWriter({ confirm: async () => leads });
    await expect(writer.session()).rejects.toBeInstanceOf(NotTheWriter);
    await expect(writer.verify()).rejects.toBeInstanceOf(NotTheWriter);
    expect([begun, await redisClient.read(configKeys.meta, "EXISTS", configKeys.meta)]).toEqual([[], 0]);
    leads = true;
    await writer.session();
    expect(begun).toEqual([[]]);
    writer.close();
  });

  it("begins again when it could not be told of the beginning", async () => {
    let fails = true;
    writer = newWriter({
      onSessionBegun: async () => {
        begun.push([]);
        if (fails) throw new StoreUnavailable("away");
      },
    });
    await expect(writer.session()).rejects.toBeInstanceOf(StoreUnavailable);
    fails = false;
    // A look does not wait for the backoff.
    await writer.verify();
    expect(begun).toHaveLength(2);
    writer.close();
  });

  it("refuses the Redis of another installation, every time, unless it is to be taken over", async () => {
    await newPublisher({ redisClient, keyring, owner: "another" }).begin();
    writer = newWriter();
    await expect(writer.session()).rejects.toBeInstanceOf(RedisContested);
    await expect(writer.session()).rejects.toBeInstanceOf(RedisContested);
    writer.close();
    const taken: unknown[] = [];
    const taking = newWriter({ takeOver: true, onTakenOver: (refusal) => void taken.push(refusal) });
    await (await taking.session()).publisher.publish(shop);
    expect(taken).toEqual([expect.any(RedisContested)]);
    expect(await storedFields(redisClient, ref)).toHaveLength(3);
    taking.close();
  });

  it("leaves no connection when it is closed while it opens, and opens none afterwards", async () => {
    const before = await clients();
    writer = newWriter();
    const beginning = writer.session();
    writer.close();
    await expect(beginning).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(writer.session()).rejects.toBeInstanceOf(StoreUnavailable);
    expect([opened, begun]).toEqual([1, []]);
    await eventually(async () => expect(await clients()).toBe(before));
  });
});

describe("two installations with copies of one key ring, each with a Lease of its own", () => {
  it("don't take the Redis from one another, be the first one there or away, and the second costs it no beginning", async () => {
    const first = newWriter();
    await (await first.session()).publisher.publish(shop);
    const copy = newPublisher({ redisClient, keyring, owner: "copy" });
    for (let look = 0; look < 3; look += 1) {
      await expect(copy.begin()).rejects.toBeInstanceOf(RedisContested);
      await first.verify();
    }
    expect(begun).toEqual([[]]);
    first.close();
    await expect(copy.begin()).rejects.toBeInstanceOf(RedisContested);
    await begunPublisher({ redisClient, keyring });
  });

  it("are told apart without a word to the API server, and by what each look finds", async () => {
    await newPublisher({ redisClient, keyring, owner: "there" }).begin();
    let asked = 0;
    const refusals: string[] = [];
    writer = newWriter({
      confirm: async () => {
        asked += 1;
        return true;
      },
      onRefused: ({ name, facts }) => void refusals.push(`${name} ${facts["owner"]}`),
    });
    await expect(writer.verify()).rejects.toBeInstanceOf(RedisContested);
    // Whoever asks meanwhile hears what the last look found.
    await expect(writer.session()).rejects.toBeInstanceOf(RedisContested);
    await expect(writer.verify()).rejects.toBeInstanceOf(RedisContested);
    expect([refusals, asked, begun]).toEqual([["RedisContested there", "RedisContested there"], 0, []]);
    await redisClient.write(configKeys.meta, "FLUSHALL");
    await writer.verify();
    expect([asked, begun]).toEqual([1, [[]]]);
    writer.close();
  });
});

describe.each([
  ["a copy of the ring", keyring],
  ["another ring", parseKeyring(newKeyringText())],
])("a person gives the Redis to an installation with %s", (_, ring) => {
  const one = () => newPublisher({ redisClient, keyring, owner: "one" });
  const two = () => newPublisher({ redisClient, keyring: ring, owner: "two" });
  const take = { takeOver: true };

  it("once: who loses it again leaves it, also where both were told to take it", async () => {
    const [first, second] = [one(), two()];
    await first.begin(take);
    await second.begin(take);
    expect(await first.verify()).toBe("lost");
    for (let look = 0; look < 2; look += 1) await expect(first.begin(take)).rejects.toBeInstanceOf(RedisContested);
    expect(await second.verify()).toBe("writer");
    // Another term of its leader; that one has the person's word again.
    const restarted = one();
    await restarted.begin(take);
    expect(await second.verify()).toBe("lost");
    await expect(second.begin(take)).rejects.toBeInstanceOf(RedisContested);
    expect(await restarted.verify()).toBe("writer");
  });

  it("also where that one has begun in a Redis of its own before", async () => {
    const first = one();
    await first.begin(take);
    await redisClient.write(configKeys.meta, "FLUSHALL");
    await two().begin();
    await expect(first.begin(take)).rejects.toBeInstanceOf(RedisContested);
  });

  it("and one that goes back behind that is the former installation's again, until a person says so anew", async () => {
    await one().begin();
    await redisClient.write(configKeys.meta, "SAVE");
    const second = two();
    await second.begin(take);
    await redisClient.write(configKeys.meta, "DEBUG", "RELOAD", "NOSAVE");
    expect(await second.verify()).toBe("lost");
    await expect(second.begin(take)).rejects.toBeInstanceOf(RedisContested);
    const restarted = two();
    await restarted.begin(take);
    expect(await restarted.verify()).toBe("writer");
  });
});
