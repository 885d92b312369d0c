import { beforeEach, describe, expect, it } from "vitest";
import { digestOf } from "../../../../core/config/canonical.ts";
import type { CheckOrder } from "../../../../core/config/object-check.ts";
import type { JsonObject, ResourceConfig } from "../../../../core/config/types.ts";
import { compileResource } from "../../../../operator/compile/child-configs.ts";
import { servedConfigs } from "../../../../operator/compile/compile-children.ts";
import { createResourceCheck } from "../../../../operator/compile/resource-check.ts";
import type { ApiResource } from "../../../../operator/model/objects.ts";
import type { RolloutState } from "../../../../operator/publish/acknowledgements.ts";
import type { CheckOrders, CheckState } from "../../../../operator/publish/replica-orders.ts";
import type { Condition } from "../../../../operator/status/conditions.ts";
import { eventsOf } from "../../../../operator/status/events-of.ts";
import { storedObjectsStatus } from "../../../../operator/status/stored-objects-status.ts";
import { createObjectChecks, type ObjectChecks } from "../../../../operator/stored-data/object-checks.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";

const loose: JsonObject = { type: "object" };
const strict: JsonObject = { type: "object", required: ["price"] };
const example = { id: "1", pointer: "", keyword: "required" };

let now = 0;
let given: Map<string, CheckOrder>;
let states: Map<string, CheckState>;
let enqueued: string[];
let books: ApiResource;
let isGone = false;
let checks: ObjectChecks;

const orders: CheckOrders = {
  order: async (id, order) => void given.set(id, order),
  forget: async (id) => void given.delete(id),
  all: async () => given,
  statesOf: async (ids) =>
    new Map(
      ids.map((id) => [
        id,
        states.get(id) ?? (given.has(id) ? { state: "open", figures: undefined } : { state: "lost" }),
      ]),
    ),
};

beforeEach(() => {
  now = Date.parse("2026-01-01T00:00:00Z");
  [given, states, enqueued, isGone] = [new Map(), new Map(), [], false];
  books = stored("ApiResource", "books");
  serve(loose);
  start();
});

function start(): void {
  checks = createObjectChecks({
    now: () => now,
    orders: () => orders,
    resourceOf: () => (isGone ? undefined : books),
    enqueue: (key) => void enqueued.push(key),
  });
}

function serve(schema: JsonObject, schemaChange: JsonObject = { storedObjects: "Report" }): void {
  const { status } = books as { readonly status?: object };
  books = stored("ApiResource", "books", {
    metadata: books.metadata,
    spec: { projectRef: { name: "shop" }, schema, schemaChange },
    ...(status && { status }),
  }) as ApiResource;
}

/** A pass of the operator; the status is written. Returns what it says. */
async function pass(rollout: RolloutState = "programmed", liveSchema = books.spec.schema): Promise<unknown> {
  const { uid } = books.metadata;
  const config = { resources: new Map([["books", { uid, schema: liveSchema }]]) } as never;
  const objects = { ref: { namespace: "default", name: "shop" }, resources: [books] } as never;
  const reports = await checks.reportsOf({ objects, config, heldSchemas: new Map(), rollout }, orders);
  const { members, conditions } = storedObjectsStatus(books, reports.get(uid), now);
  const { status = {} } = books as { readonly status?: { readonly conditions?: readonly Condition[] } };
  const events = eventsOf(status.conditions ?? [], conditions).map(({ note }) => note);
  books = { ...books, status: { ...members, conditions } } as never;
  return { ...members, events, valid: conditions[0]?.status };
}

const ids = () => [...given.keys()];
const find = (invalid: number) => {
  const examples = invalid > 0 ? [example] : [];
  states.set(ids()[0] ?? "", { state: "done", result: { checked: 9, invalid, examples, endedAt: now } });
};
const lookedAt = async () => {
  await checks.refresh();
  return enqueued.splice(0);
};

it("a check is ordered once every replica serves the schema, and once only", async () => {
  for (const rollout of ["waiting", "no_replicas"] as const) await pass(rollout);
  await pass("programmed", strict);
  expect(ids()).toEqual([]);
  await pass();
  await pass();
  start();
  await pass();
  const { uid } = books.metadata;
  expect([...given.values()]).toEqual([
    {
      project: { namespace: "default", name: "shop" },
      resource: "books",
      uid,
      schema: digestOf(loose),
      stage: "live",
      generation: 1,
    },
  ]);
});

it("nothing is ordered or asked of an ApiResource that declares none", async () => {
  serve(loose, {});
  const asked = () => {
    throw new Error("Redis was asked");
  };
  const none = { order: asked, forget: asked, all: asked, statesOf: asked };
  const objects = { resources: [books] } as never;
  expect(
    await checks.reportsOf({ objects, config: undefined, heldSchemas: new Map(), rollout: "programmed" }, none),
  ).toEqual(new Map());
});

it("what was found is said once, is forgotten then, and stands while the schema is the same", async () => {
  await pass();
  expect(await lookedAt()).toEqual([]);
  find(2);
  expect([await lookedAt(), await lookedAt()]).toEqual([["default/shop"], []]);
  expect(await pass()).toMatchObject({
    storedObjects: { checked: 9, invalid: 2, examples: [example], checkedAt: "2026-01-01T00:00:00Z" },
    events: [
      "2 of 9 stored objects don't meet the schema, such as 1 at / (required); GET /api/books?_valid=false lists them",
    ],
  });
  expect([await lookedAt(), ids()]).toEqual([[], []]);
  expect(await pass()).toMatchObject({ storedObjects: { invalid: 2 }, events: [] });
  expect(ids()).toEqual([]);
});

it("another schema is checked anew; the status says meanwhile of which one its figures are", async () => {
  await pass();
  find(0);
  await pass();
  serve(strict);
  const former = { storedObjects: { schema: digestOf(loose), invalid: 0, observedGeneration: 1 } };
  expect(await pass("waiting")).toMatchObject({ ...former, valid: "True" });
  expect(await pass()).toMatchObject({ ...former, valid: "Unknown" });
  expect([...given.values()].map(({ schema }) => schema)).toEqual([digestOf(strict)]);
});

it("a schema that comes back is checked anew: what was found of it was before another one was live", async () => {
  await pass();
  find(0);
  await pass();
  for (const [generation, schema] of [
    [2, strict],
    [3, loose],
  ] as const) {
    books = { ...books, metadata: { ...books.metadata, generation } };
    serve(schema);
    await pass();
  }
  now += 1_000;
  expect(await pass()).toMatchObject({ valid: "Unknown", storedObjects: { observedGeneration: 1 } });
  find(4);
  expect(await pass()).toMatchObject({ valid: "False", storedObjects: { observedGeneration: 3, invalid: 4 } });
});

it("what was found of another schema within the same second is said as well", async () => {
  await pass();
  find(0);
  await pass();
  serve(strict);
  await pass();
  await pass();
  find(3);
  expect(await lookedAt()).toEqual(["default/shop"]);
  expect(await pass()).toMatchObject({ storedObjects: { schema: digestOf(strict), invalid: 3 }, valid: "False" });
});

it("invalid objects are checked again after an hour, and valid ones never", async () => {
  await pass();
  find(1);
  await pass();
  await lookedAt();
  now += 3_599_000;
  await pass();
  expect(ids()).toEqual([]);
  now += 1_000;
  expect(await pass()).toMatchObject({ storedObjects: { invalid: 1, checkedAt: "2026-01-01T00:00:00Z" } });
  expect(ids()).toHaveLength(1);
  find(0);
  await pass();
  await lookedAt();
  now += 10_000_000;
  await pass();
  expect(ids()).toEqual([]);
});

it("an order that Redis lost is given again; one that nobody wants any more is forgotten", async () => {
  await pass();
  given.clear();
  expect(await lookedAt()).toEqual(["default/shop"]);
  await pass();
  expect(ids()).toHaveLength(1);
  isGone = true;
  expect([await lookedAt(), ids()]).toEqual([[], []]);
});

/** A pass that compiles: what is published follows from what was found. */
async function refusingPass(published: Published): Promise<Verdicts> {
  const { uid } = books.metadata;
  const project = (of: object) => ({ resources: new Map([["books", { uid, ...of }]]) }) as never;
  const objects = { ref: { namespace: "default", name: "shop" }, resources: [books] } as never;
  const heldSchemas = await checks.heldSchemas(objects, project(published), orders);
  const result = compileResource(books, { checkResource: createResourceCheck(), heldSchemas }, [published as never]);
  const [config] = servedConfigs(books, result, []);
  const rollout = "programmed" as const;
  const reports = await checks.reportsOf({ objects, config: project(config as object), heldSchemas, rollout }, orders);
  books = { ...books, status: storedObjectsStatus(books, reports.get(uid), now).members } as never;
  const { schema, nextSchema, nextSchemaBinds, migration } = config as ResourceConfig;
  return { reason: result.ok ? "live" : result.refusal.reason, schema, nextSchema, nextSchemaBinds, migration };
}

interface Published {
  readonly schema: JsonObject;
  readonly nextSchema?: JsonObject;
  readonly nextSchemaBinds?: true | undefined;
}

interface Verdicts {
  readonly reason: string;
  readonly schema: JsonObject;
  readonly nextSchema: JsonObject | undefined;
  readonly nextSchemaBinds: true | undefined;
  readonly migration: ResourceConfig["migration"];
}

describe("with Refuse, a new schema", () => {
  beforeEach(() => {
    books = { ...books, metadata: { ...books.metadata, generation: 2 } };
    serve(strict, { storedObjects: "Refuse" });
  });
  const looking = { schema: loose, nextSchema: strict, nextSchemaBinds: undefined };
  const binding = { ...looking, nextSchemaBinds: true } as const;
  const looked = { reason: "CheckingStoredObjects", ...looking };
  const bound = { reason: "CheckingStoredObjects", ...binding };
  const refused = { reason: "StoredObjectsInvalid", ...looking };
  const stages = () => [...given.values()].map(({ stage, generation }) => [stage, generation]);

  it("is looked at first, binds writes then, is checked once more, and is live once all stored objects meet it", async () => {
    expect(await refusingPass({ schema: loose })).toMatchObject(looked);
    expect(stages()).toEqual([["look", 2]]);
    expect(await refusingPass(looking)).toMatchObject(looked);
    find(0);
    expect(await lookedAt()).toEqual(["default/shop"]);
    expect(await refusingPass(looking)).toMatchObject(bound);
    expect(stages()).toEqual([["final", 2]]);
    expect(await refusingPass(binding)).toMatchObject(bound);
    find(0);
    expect(await lookedAt()).toEqual(["default/shop"]);
    const live = { reason: "live", schema: strict, nextSchema: undefined };
    expect(await refusingPass(binding)).toMatchObject(live);
    expect(books.status).toMatchObject({ storedObjects: { checked: 9, invalid: 0, checkedAt: expect.any(String) } });
    expect([await lookedAt(), ids()]).toEqual([[], []]);
    expect(await refusingPass({ schema: strict })).toMatchObject(live);
    expect(ids()).toEqual([]);
  });

  it("is not decided upon in the middle of a pass: what was found meanwhile is said by the next one", async () => {
    await refusingPass({ schema: loose });
    const { statesOf } = orders;
    const found = (): void => find(2);
    const meanwhile: CheckOrders = {
      ...orders,
      async statesOf(asked) {
        found();
        return await statesOf(asked);
      },
    };
    const { uid } = books.metadata;
    const config = { resources: new Map([["books", { uid, ...looking }]]) } as never;
    const objects = { ref: { namespace: "default", name: "shop" }, resources: [books] } as never;
    const heldSchemas = new Map([[uid, { stage: "look" } as const]]);
    const reports = await checks.reportsOf({ objects, config, heldSchemas, rollout: "programmed" }, meanwhile);
    expect(reports.get(uid)).toEqual({ schema: digestOf(strict) });
    expect(await lookedAt()).toEqual(["default/shop"]);
    expect(ids()).toHaveLength(1);
  });

  it("is refused as long as some don't meet it, binds nobody, and is tried again after an edit", async () => {
    await refusingPass({ schema: loose });
    find(2);
    expect(await lookedAt()).toEqual(["default/shop"]);
    expect(await refusingPass(looking)).toMatchObject(refused);
    expect(books.status).toMatchObject({ storedObjects: { invalid: 2 } });
    expect([await lookedAt(), await lookedAt(), stages()]).toEqual([[], [], [["look", 2]]]);
    start();
    expect(await refusingPass(looking)).toMatchObject(refused);
    books = { ...books, metadata: { ...books.metadata, generation: 3 } };
    expect(await refusingPass(looking)).toMatchObject(looked);
    expect(stages()).toEqual([["look", 3]]);
  });

  it("is refused by the last check as well, which finds what was written after the look", async () => {
    await refusingPass({ schema: loose });
    find(0);
    await refusingPass(looking);
    find(1);
    expect(await refusingPass(binding)).toMatchObject(refused);
    expect(books.status).toMatchObject({ storedObjects: { invalid: 1 } });
  });

  it("is looked at every ten minutes while it is refused, and goes on once all meet it", async () => {
    await refusingPass({ schema: loose });
    find(2);
    await refusingPass(looking);
    await lookedAt();
    for (const invalid of [1, 0]) {
      now += 600_000;
      expect(await lookedAt()).toEqual(["default/shop"]);
      expect(await refusingPass(looking)).toMatchObject(refused);
      expect(await lookedAt()).toEqual([]);
      expect(await refusingPass(looking)).toMatchObject(refused);
      find(invalid);
      expect(await lookedAt()).toEqual(["default/shop"]);
      expect(await refusingPass(looking)).toMatchObject(invalid === 0 ? bound : refused);
      expect(books.status).toMatchObject({ storedObjects: { invalid: 1 } });
    }
    expect(stages()).toEqual([["final", 2]]);
  });

  it("is live at once where the manifest stops to ask for the check, which is then made of the live one", async () => {
    await refusingPass({ schema: loose });
    serve(strict);
    expect(await refusingPass(looking)).toMatchObject({ reason: "live", schema: strict });
    expect(stages()).toEqual([["live", 2]]);
  });

  it("is checked anew where it was left and came back meanwhile: it bound no writes in between", async () => {
    await refusingPass({ schema: loose });
    find(0);
    books = { ...books, metadata: { ...books.metadata, generation: 4 } };
    expect(await refusingPass({ schema: loose })).toMatchObject(looked);
    expect(stages()).toEqual([["look", 4]]);
    expect(states.has(ids()[0] ?? "")).toBe(false);
  });

  it("that was refused and is live by a manifest that only asks for a report is counted anew", async () => {
    await refusingPass({ schema: loose });
    find(2);
    await refusingPass(looking);
    books = { ...books, metadata: { ...books.metadata, generation: 3 } };
    serve(strict);
    await refusingPass({ schema: loose, nextSchema: strict });
    expect(stages()).toEqual([["live", 3]]);
  });

  it("is published and ordered with the patch that objects go through first, and live without it", async () => {
    const migrate = [{ op: "add", path: "/price", value: 0 }];
    serve(strict, { storedObjects: "Refuse", migrate });
    expect(await refusingPass({ schema: loose })).toMatchObject({ ...looked, migration: migrate });
    expect([...given.values()]).toMatchObject([{ stage: "look", migration: digestOf(migrate) }]);
    find(0);
    expect(await refusingPass({ ...looking })).toMatchObject({ ...bound, migration: migrate });
    expect([...given.values()]).toMatchObject([{ stage: "final", migration: digestOf(migrate) }]);
    find(0);
    const live = await refusingPass({ ...binding });
    expect([live.reason, live.migration]).toEqual(["live", undefined]);
    serve(strict, { storedObjects: "Refuse", migrate: [{ op: "remove", path: "/id" }] });
    const stopped = { reason: "InvalidSpec", schema: loose, nextSchema: undefined, migration: undefined };
    expect(await refusingPass({ ...looking, migration: migrate } as Published)).toMatchObject(stopped);
  });

  it("holds what names its fields back with it, and binds nobody once the spec can't be used", () => {
    const { metadata } = books;
    const spec = {
      unique: [{ fields: ["sku"], ignoreCase: false }],
      expiry: { field: "until" },
      indexes: ["sku"],
      limits: { maxObjects: 7 },
    };
    const given = { ...books.spec, ...spec } as ApiResource["spec"];
    const compiled = (edited: object, served: object) => {
      const context = { checkResource: createResourceCheck(), heldSchemas: new Map() };
      const edit = { ...books, metadata, spec: { ...given, ...edited } } as ApiResource;
      return servedConfigs(edit, compileResource(edit, context, [served as never]), []);
    };
    const former = { schema: loose, indexes: [], expiry: { afterSeconds: 5 } };
    const until = { type: "string", format: "date-time" };
    const schema: JsonObject = { ...strict, properties: { sku: { type: "string", maxLength: 9 }, until } };
    const [held] = compiled({ schema }, former);
    expect(held).toMatchObject({ ...former, nextSchema: schema, maxObjects: 7 });
    expect(held?.unique).toBeUndefined();
    expect(compiled({ schema, indexes: ["a..b"] }, held as object)).toEqual([
      { ...held, nextSchema: undefined, nextSchemaBinds: undefined },
    ]);
  });
});
