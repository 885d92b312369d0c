import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DevMessage } from "../../../../cli/dev/report/messages.ts";
import {
  createStoredObjectsCheck,
  type StoredObjectsCheck,
} from "../../../../cli/dev/stored-data/check-stored-objects.ts";
import type { JsonObject } from "../../../../core/config/types.ts";
import { createMemoryDirectory, type MemoryDirectory } from "../../../../dataplane/config/memory-directory.ts";
import { createEmbeddedStore } from "../../../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../../../dataplane/store/port.ts";
import { project, withResource } from "../../../support/http/projects.ts";
import { eventually } from "../../../support/time/eventually.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const notes = { project: { namespace: "default", name: "shop" }, resource: "notes" };
const clock = manualClock();
let store: Store;
let directory: MemoryDirectory;
let printed: string[];
let check: StoredObjectsCheck;

beforeEach(async () => {
  store = await createEmbeddedStore({ directory: ":memory:", clock });
  directory = createMemoryDirectory(clock);
  printed = [];
  start();
});

afterEach(async () => {
  await check.stop();
  await store.close();
});

function start(maxObjects?: number, from: Pick<Store, "pageAfter"> = store): void {
  const say = ({ text }: DevMessage) => void printed.push(text);
  check = createStoredObjectsCheck({
    directory: directory.directory,
    store: from,
    say,
    ...(maxObjects !== undefined && { maxObjects }),
  });
}

function serve(properties: JsonObject, keywords: JsonObject = {}, more: { readonly updates?: "Ratchet" } = {}): void {
  const schema = { type: "object", properties, ...keywords };
  directory.replace([project("shop", withResource("notes", { schema, ...more }))]);
  check.afterPass();
}

async function fill(count: number, member: (n: number) => string): Promise<void> {
  for (let n = 0; n < count; n++) {
    const id = `01a1fec3-9f61-7000-8a7b-${String(n).padStart(12, "0")}`;
    const text = `{"id":"${id}",${member(n)},"_metadata":{"created":1,"creator":"a","creator_type":"user"}}`;
    await store.create(notes, { id, owner: "user:a", text }, 1_000_000);
  }
}

async function ended(): Promise<void> {
  await eventually(() => expect(printed).toHaveLength(1));
}

describe("stored objects, after a schema has changed,", () => {
  it("are counted when they don't fit any more", async () => {
    await fill(120, (n) => (n % 40 === 0 ? '"pages":"many"' : '"pages":3'));
    serve({});
    serve({ pages: { type: "integer" } });
    await ended();
    expect(printed).toEqual([
      "default/shop/api/notes: 3 of 120 stored objects don't fit the new schema: reads return them unchanged, a PUT has to make them fit; for example 01a1fec3-9f61-7000-8a7b-000000000000 at /pages (type)",
    ]);
  });

  it("may stay as they are where updates ratchet, as the line says", async () => {
    await fill(1, () => '"pages":"many"');
    serve({});
    serve({ pages: { type: "integer" } }, {}, { updates: "Ratchet" });
    await ended();
    expect(printed[0]).toContain("reads return it unchanged, a PUT may keep what doesn't fit; for example ");
  });

  it("are counted by their data alone, whatever the schema says of other members", async () => {
    await fill(1, () => '"a":1');
    serve({ a: {} });
    serve({ a: { type: "integer" } }, { additionalProperties: false });
    await ended();
    expect(printed).toEqual(["default/shop/api/notes: the 1 stored object fits the new schema"]);
  });

  it("are said to fit when all do; nothing is said where there are none, or where the schema is as it was", async () => {
    serve({});
    serve({ a: { type: "integer" } });
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    await fill(2, () => '"a":1');
    serve({ a: { type: "integer" } });
    serve({ a: { type: "integer", minimum: 0 } });
    await ended();
    expect(printed).toEqual(["default/shop/api/notes: all 2 stored objects fit the new schema"]);
  });

  it("are looked at up to a bound, which the line names", async () => {
    start(60);
    await fill(100, () => '"a":"x"');
    serve({});
    serve({ a: { type: "integer" } });
    await ended();
    expect(printed[0]).toContain(": at least 60 of the first 60 stored objects don't fit the new schema");
  });

  it("are looked at a few at a time, so that requests go first in between", async () => {
    const sizes: number[] = [];
    let eventLoopTurns = 0;
    const count = () => {
      eventLoopTurns += 1;
      if (printed.length === 0) setImmediate(count);
    };
    start(undefined, {
      async pageAfter(...words) {
        const found = await store.pageAfter(...words);
        if (found.outcome === "page") sizes.push(found.texts.length);
        return found;
      },
    });
    await fill(500, () => '"a":1');
    serve({});
    serve({ a: { type: "string" } });
    setImmediate(count);
    await ended();
    expect(Math.max(...sizes)).toBeLessThanOrEqual(50);
    expect(eventLoopTurns).toBeGreaterThanOrEqual(9);
  });

  it("are counted for the newest schema only", async () => {
    await fill(200, () => '"a":1');
    serve({});
    serve({ a: { type: "string" } });
    serve({ a: { type: "integer" } });
    await ended();
    expect(printed).toEqual(["default/shop/api/notes: all 200 stored objects fit the new schema"]);
  });

  it("are left alone once dev mode ends", async () => {
    await fill(200, () => '"a":1');
    serve({});
    serve({ a: { type: "string" } });
    await check.stop();
    expect(printed).toEqual([]);
  });

  it("that can't be read are no failure of anything else: the line says so", async () => {
    start(undefined, { pageAfter: () => Promise.reject(new Error("gone")) });
    serve({});
    serve({ a: { type: "string" } });
    await ended();
    expect(printed).toEqual([
      "default/shop/api/notes: its stored objects can't be checked against the new schema: Error: gone",
    ]);
  });
});
