// Objects that expire while Redis stands still, or while a replica that removes them is killed:
// from their time on no replica may show one, and then they are gone, although nobody asks.

import { expiryIndex } from "../../../dataplane/store/expiry.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import { apikey, project, withKey, withResource } from "../../support/http/projects.ts";
import { expectIndexesExact } from "../../support/redis/check-integrity.ts";
import { openRedisStore } from "../../support/redis/open-store.ts";
import { fillCollection, objectOf } from "../../support/store/stored-objects.ts";
import { eventually } from "../../support/time/eventually.ts";
import type { Target } from "../ask.ts";
import { oneServer } from "../redis-deployments.ts";
import type { Scenario, Stage } from "../scenario.ts";
import { untilAllReplicas } from "../until-replicas.ts";

const ref = { namespace: "default", name: "checkout" };
const path = "/default/checkout/api/carts";
const as = apikey("checkout");
const expiry = { field: { name: "until", path: ["until"] } } as const;
const n = { name: "n", path: ["n"] };
const carts = { project: ref, resource: "carts", expiry };
/** Several steps of a removal. */
const expiring = 600;
const kept = 3;

export const objectsExpire: Scenario = {
  name: "expiry",
  does: "six hundred objects expire in one moment, in which Redis is paused, or a replica killed; again and again",
  plan: { redis: oneServer("none") },
  seconds: 24,
  async run(stage) {
    const { config, redis, replicas } = stage.world;
    const shop = project(
      ref.name,
      withKey("checkout", { role: "Administrators" }),
      withResource("carts", { scope: { read: "All" }, indexes: ["n"], expiry }),
    );
    const published = await config.insist((publisher) => publisher.publish(shop));
    await untilAllReplicas(stage, ({ revision }) => revision >= published.revision);
    const store = await openRedisStore({ url: redis.url });
    try {
      await store.declareIndexes(carts, [n, expiryIndex(expiry)], published.revision);
      for (let round = 0; stage.left() > 0; round += 1) {
        await fill(store, round);
        await (round % 2 === 0 ? pausedRedis(stage) : killedReplica(stage));
        await Promise.all(replicas.map((replica) => check(stage, replica, (round + 1) * kept)));
        // The one that had taken the collection may be dead: its hold lasts ten seconds.
        const left = async () => (await store.collectionSize(carts)).objects;
        await eventually(
          async () => {
            if ((await left()) > (round + 1) * kept) throw new Error(`${await left()} objects are left`);
          },
          { withinMs: 20_000, everyMs: 100 },
        );
        await expectIndexesExact(store, carts, ["apikey:checkout"]);
      }
    } finally {
      await store.close();
    }
  },
};

async function fill(store: Store, round: number): Promise<void> {
  const first = 1 + round * (expiring + kept);
  const end = JSON.stringify(new Date(Date.now() + 2_000).toISOString());
  const create: Store["create"] = (collection, object) => store.create(collection, object, 1_000_000);
  await fillCollection({ create }, carts, expiring + kept, (at) =>
    objectOf(first + at, { n: `${at}`, until: at < expiring ? end : "null" }, "apikey:checkout"),
  );
  const last = Date.parse(JSON.parse(end) as string);
  await new Promise((resume) => setTimeout(resume, Math.max(0, last - Date.now() - 50)));
}

async function pausedRedis({ world, history, pause }: Stage): Promise<void> {
  history.fault("redis is paused");
  await world.redis.server.kill("SIGSTOP");
  await pause(200, 800);
  await world.redis.server.kill("SIGCONT");
}

async function killedReplica({ world, history, random, pause }: Stage): Promise<void> {
  const replica = random.pick(world.replicas);
  await pause(50, 400);
  history.fault(`kill -9 ${replica.name}`);
  await replica.kill();
  await pause(0, 200);
  await replica.start();
}

/** A replica that just started may refuse; what it answers is without what has expired. */
async function check({ asker, history }: Stage, replica: Target, expected: number): Promise<void> {
  for (const query of ["?_limit=1", "?_limit=1&_sort=n", "?_limit=1&n:ge=0", "?_limit=1&_cursor="]) {
    const answer = await asker.ask(replica, { path: path + query, as });
    if (answer.status !== 200) continue;
    const { count } = JSON.parse(answer.text) as { readonly count: number };
    if (count !== expected) history.unexpected(`${replica.name} counts ${count} of ${expected} objects by ${query}`);
  }
}
