// `npm run bench -- check [--objects N]`: how long a replica takes to check stored objects against
// their schema, and what that does to sorted lists of the same collection, which it serves
// meanwhile. Exits 1 beyond twice a goal.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { digestOf } from "../../core/config/canonical.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { objectChecks } from "../../core/config/object-check.ts";
import { type CheckOrders, createReplicaOrders } from "../../operator/publish/replica-orders.ts";
import { readArguments, wholeNumber } from "../../tools/script-arguments.ts";
import { begunPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { startReplica } from "../support/fleet/replica.ts";
import { keyOf } from "../support/http/projects.ts";
import { startRedis } from "../support/redis/redis.ts";
import { benchProject } from "./bench-project.ts";
import { lengthOf, machine, median, printTable } from "./figures.ts";
import { importRate, storedTexts } from "./import.ts";
import { p99Of } from "./neighbours.ts";

const goals = { seconds: 120, listRatio: 2, listMs: 100 };
const usualObjects = "1000000";
const objectsPerImport = 10_000;
const slack = 2;
const orderId = "check:bench";

export async function measureCheck(args: readonly string[]): Promise<void> {
  const { objects = usualObjects } = readArguments({ objects: { type: "string" } }, [], args).values;
  const count = wholeNumber("--objects", objects, objectsPerImport);
  const { rounds, seconds } = lengthOf({ rounds: 5, seconds: 3 });
  console.log(`${count} objects (${machine()})\n`);
  const redis = await startRedis();
  const folder = mkdtempSync(join(tmpdir(), "jsonplane-bench-"));
  const keyring = newKeyringText();
  writeFileSync(join(folder, "keyring"), keyring);
  const redisClient = await openRedisClient(redis.url);
  const publisher = await begunPublisher({ redisClient, keyring: parseKeyring(keyring) });
  const project = await benchProject();
  await publisher.publish(project);
  await publisher.complete();
  const replica = await startReplica({ redis: redis.url, keyring: join(folder, "keyring"), name: "bench" });
  try {
    const base = `${replica.origin}/default/bench`;
    for (let round = 0; round * objectsPerImport < count; round += 1) {
      await importRate({ base, admin: keyOf("admin") }, storedTexts(round, objectsPerImport));
    }
    const list = sortedList(base);
    const before: number[] = [];
    for (let round = 0; round < rounds; round += 1) before.push(await p99Of(list, seconds));
    const { schema, uid = "" } = project.resources.get("books") ?? {};
    const orders: CheckOrders = createReplicaOrders(redisClient, publisher, objectChecks);
    const resource = { project: project.project, resource: "books", uid };
    const began = performance.now();
    await orders.order(orderId, { ...resource, schema: digestOf(schema), stage: "live", generation: 1 });
    const during: number[] = [];
    const untilDone = checkedBy(orders, began);
    const listing = (async () => {
      while (!untilDone.isDone) during.push(await p99Of(list, seconds));
    })();
    const { checked, took } = await untilDone.done;
    await listing;
    if (checked !== count) throw new Error(`${checked} of ${count} objects were checked`);
    report(took, median(during), median(before));
  } finally {
    await replica.stop();
    redisClient.disconnect();
    await redis.stop();
    rmSync(folder, { recursive: true });
  }
}

interface Checking {
  readonly isDone: boolean;
  /** `took` in seconds. */
  readonly done: Promise<{ readonly checked: number; readonly took: number }>;
}

function checkedBy(orders: CheckOrders, began: number): Checking {
  const checking = { isDone: false, done: Promise.resolve({ checked: 0, took: 0 }) };
  const wait = async (): Promise<{ readonly checked: number; readonly took: number }> => {
    for (;;) {
      const state = (await orders.statesOf([orderId])).get(orderId);
      if (state?.state === "done") {
        checking.isDone = true;
        return { checked: state.result.checked, took: (performance.now() - began) / 1_000 };
      }
      await sleep(100);
    }
  };
  checking.done = wait();
  return checking;
}

function sortedList(base: string): () => Promise<void> {
  const options = { agent: new Agent({ keepAlive: true }), headers: { authorization: `apikey ${keyOf("admin")}` } };
  return () =>
    new Promise((resolve, reject) => {
      const sent = request(`${base}/api/books?_sort=price&_limit=20`, options, (response) => {
        if (response.statusCode !== 200) reject(new Error(`A list got ${response.statusCode}`));
        response.resume().once("end", resolve);
      });
      sent.once("error", reject).end();
    });
}

function report(took: number, during: number, before: number): void {
  printTable(
    ["what", "measured", "goal"],
    [
      ["check of all objects", `${took.toFixed(0)} s`, `≤ ${goals.seconds} s`],
      ["p99 of sorted lists of 20 before", `${before.toFixed(1)} ms`, ""],
      ["meanwhile", `${during.toFixed(1)} ms`, `≤ ${goals.listMs} ms`],
      ["ratio", (during / before).toFixed(2), `≤ ${goals.listRatio}`],
    ],
  );
  const isFar = took > goals.seconds * slack || during > goals.listMs || during / before > goals.listRatio * slack;
  process.exitCode = isFar ? 1 : 0;
}
