import { beforeEach, describe, expect, it } from "vitest";
import type { CopyOrder, CopyProgress, CopyResult } from "../../../../core/config/copy-order.ts";
import type { CompiledProject, JsonObject, ProjectRef } from "../../../../core/config/types.ts";
import type { DataInventory } from "../../../../operator/model/data-inventory.ts";
import type { Project } from "../../../../operator/model/objects.ts";
import type { RolloutState } from "../../../../operator/publish/acknowledgements.ts";
import type { OrderState } from "../../../../operator/publish/replica-orders.ts";
import { createDataCopies, type DataCopies } from "../../../../operator/stored-data/data-copies.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";

type Loaded = { config?: CompiledProject; data?: DataInventory; revision: number };

let now = 0;
let given: Map<string, CopyOrder>;
let states: Map<string, OrderState<CopyProgress, CopyResult>>;
let published: Map<string, Loaded>;
let projects: Map<string, Project>;
let rollout: RolloutState;
let enqueued: string[];
let copies: DataCopies;
let unreadable: string | undefined;
let isCurrent: boolean;

const redis = {
  copyOrders: {
    order: async (id: string, order: CopyOrder) => void given.set(id, order),
    forget: async (id: string) => void given.delete(id),
    all: async () => given,
    statesOf: async (ids: readonly string[]) =>
      new Map(
        ids.map((id) => [
          id,
          states.get(id) ?? (given.has(id) ? { state: "open", figures: undefined } : { state: "lost" }),
        ]),
      ),
  },
  publisher: {
    async load({ name }: ProjectRef) {
      if (name === unreadable) throw new Error("unreadable");
      return published.get(name) ?? { revision: 0 };
    },
    writeData: async ({ name }: ProjectRef, data: DataInventory) =>
      void published.set(name, { ...(published.get(name) as Loaded), data }),
  },
  acknowledgements: { rolloutOf: () => rollout },
} as never;

const properties = { name: { type: "string" }, email: { type: "string" }, address: { properties: { street: {} } } };
const inventory: DataInventory = { policy: "Delete", projectUid: "", entries: [] };

beforeEach(() => {
  [now, given, states, enqueued, rollout] = [0, new Map(), new Map(), [], "programmed"];
  [projects, published, unreadable, isCurrent] = [new Map(), new Map(), undefined, true];
  declare("shop", { copies: { allow: "Namespace" } });
  declare("preview", {
    dataSourceRef: { kind: "Project", name: "shop" },
    dataSource: { resources: ["users"], rootKeys: ["settings"], omit: ["users.email", "users.address.street"] },
  });
  serve("shop", { properties });
  serve("preview", { properties });
  start();
});

function start(): void {
  copies = createDataCopies({
    now: () => now,
    redis: () => redis,
    projectOf: ({ name }) => projects.get(name),
    isCurrent: () => isCurrent,
    enqueue: (key) => void enqueued.push(key),
  });
}

function declare(name: string, spec: JsonObject | Project["spec"], more: object = {}): void {
  const { metadata } = projects.get(name) ?? {};
  projects.set(name, {
    ...(stored("Project", name, { ...(metadata && { metadata }), spec: spec as JsonObject }) as Project),
    ...more,
  });
}

function serve(name: string, schema: JsonObject | undefined, more: object = {}, rootKeys = ["settings"]): void {
  const { uid } = (projects.get(name) as Project).metadata;
  const resources = new Map(schema === undefined ? [] : [["users", { schema, ...more }]]);
  const config = { project: { uid }, resources, rootKeys: new Map(rootKeys.map((key) => [key, {}])) };
  published.set(name, { config: config as never, data: inventory, revision: 1 });
}

const preview = () => projects.get("preview") as Project;
const pass = () => copies.reportOf(preview(), redis);
const why = async () => (await pass())?.why;
const [id] = [() => [...given.keys()][0] ?? ""];
const result: CopyResult = { copied: 9, refused: 0, examples: [], endedAt: 5 };
const find = (state: OrderState<CopyProgress, CopyResult>) => states.set(id(), state);
const looked = async () => {
  await copies.refresh();
  return enqueued.splice(0);
};

it("a copy is ordered once every replica serves both Projects, and once only, from Projects of the same namespace", async () => {
  rollout = "waiting";
  expect(await why()).toMatchObject({ reason: "WaitingToCopy" });
  expect(given.size).toBe(0);
  rollout = "programmed";
  expect(await why()).toEqual({ reason: "Copying", message: 'The data of Project "shop" are being copied' });
  start();
  rollout = "waiting";
  expect(await why()).toMatchObject({ reason: "Copying" });
  expect([...given.values()]).toEqual([
    {
      project: { namespace: "default", name: "preview" },
      uid: preview().metadata.uid,
      source: { name: "shop", uid: projects.get("shop")?.metadata.uid },
      resources: ["users"],
      rootKeys: ["settings"],
      omit: [
        { resource: "users", path: ["email"] },
        { resource: "users", path: ["address", "street"] },
      ],
    },
  ]);
});

it("nothing is asked of Redis for a Project that declares none", async () => {
  expect(await copies.reportOf(projects.get("shop"), undefined as never)).toBeUndefined();
});

describe("nothing is copied, and the status says why,", () => {
  const cases: Record<string, readonly [given: () => void, reason: string, says: string]> = {
    "while there is no such Project": [() => projects.delete("shop"), "SourceNotFound", 'has no Project "shop"'],
    "while it is being deleted": [
      () => declare("shop", {}, { metadata: { ...projects.get("shop")?.metadata, deletionTimestamp: "now" } }),
      "SourceNotFound",
      'has no Project "shop"',
    ],
    "unless it allows copies": [() => declare("shop", { copies: {} }), "CopyNotAllowed", "spec.copies.allow"],
    "while it is not served": [() => published.delete("shop"), "SourceNotFound", "is not served"],
    "while another of its name is served": [
      () => published.set("shop", { ...published.get("preview"), revision: 1 }),
      "SourceNotFound",
      "is not served",
    ],
    "while it waits for a copy itself": [
      () => declare("shop", { copies: { allow: "Namespace" }, dataSourceRef: { kind: "Project", name: "other" } }),
      "WaitingToCopy",
      "waits for data of another Project itself",
    ],
    "where both wait for each other's data": [
      () => declare("shop", { dataSourceRef: { kind: "Project", name: "preview" } }),
      "InvalidSpec",
      "preview for shop for preview: delete one",
    ],
    "while it lacks a resource": [() => serve("shop", undefined), "SourceNotFound", 'serves no ApiResource "users"'],
    "while the new one lacks a resource": [
      () => serve("preview", undefined),
      "WaitingToCopy",
      'no ApiResource "users"',
    ],
    "while the new one lacks a root key": [
      () => serve("preview", { properties }, {}, []),
      "WaitingToCopy",
      'no RootKey "settings"',
    ],
    "where a field that is left out is misspelt": [
      () => serve("shop", { properties: { ...properties, email: false, e_mail: {} } }),
      "InvalidSpec",
      'declares no "email": did you mean "e_mail"?',
    ],
    "while objects are migrated to a schema in which a field that is left out has another name": [
      () =>
        serve("shop", { properties }, { nextSchema: { properties: { name: {}, mail: {} } }, nextSchemaBinds: true }),
      "InvalidSpec",
      'declares no "email": did you mean "mail"?',
    ],
    "where a field that is left out is required": [
      () => serve("preview", { properties, allOf: [{ required: ["email"] }] }),
      "InvalidSpec",
      'requires "email"',
    ],
  };
  for (const [name, [given, reason, says]] of Object.entries(cases)) {
    it(name, async () => {
      given();
      expect(await why()).toMatchObject({ reason, message: expect.stringContaining(says) });
    });
  }

  it("and a copy under way ends: its order is held, and with consent goes on where it had come to", async () => {
    await pass();
    const progress = { at: 0, after: "x", copied: 3, refused: 0, examples: [] };
    find({ state: "open", figures: progress });
    declare("shop", {});
    expect(await looked()).toEqual(["default/preview"]);
    expect(await pass()).toMatchObject({ why: { reason: "CopyNotAllowed" }, figures: { copied: 3 } });
    const held = id();
    expect([...given.values()]).toMatchObject([{ progress, isHeld: true }]);
    await pass();
    expect([id(), await looked()]).toEqual([held, []]);
    declare("shop", { copies: { allow: "Namespace" } });
    expect(await looked()).toEqual(["default/preview"]);
    expect(await why()).toMatchObject({ reason: "Copying" });
    expect([...given.values()]).toEqual([expect.not.objectContaining({ isHeld: true })]);
    expect([...given.values()]).toMatchObject([{ progress }]);
    expect([await why(), given.size]).toMatchObject([{ reason: "Copying" }, 1]);
  });

  it("and what another Project of the name has is copied from its beginning", async () => {
    await pass();
    find({ state: "open", figures: { at: 0, after: "x", copied: 3, refused: 0, examples: [] } });
    declare("shop", { copies: { allow: "Namespace" } }, { metadata: { name: "shop", namespace: "default", uid: "b" } });
    await pass();
    serve("shop", { properties });
    await pass();
    expect([...given.values()]).toMatchObject([{ source: { uid: "b" } }]);
    expect([...given.values()]).toEqual([expect.not.objectContaining({ progress: expect.anything() })]);
  });
});

it("a Project that can't be read hides none behind it", async () => {
  declare("other", { dataSourceRef: { kind: "Project", name: "gone" }, dataSource: { resources: ["users"] } });
  await copies.reportOf(projects.get("other"), redis);
  await pass();
  declare("shop", {});
  unreadable = "gone";
  await expect(copies.refresh()).rejects.toThrow("unreadable");
  expect(enqueued).toEqual(["default/preview"]);
});

it("an order that a restored Redis has brought back is taken back", async () => {
  await pass();
  const [order] = [...given.values()] as [CopyOrder];
  given.set("copy:back", { ...order, uid: "another" });
  copies.onSessionBegun();
  await copies.refresh();
  expect([...given.keys()]).not.toContain("copy:back");
});

it("progress is said every five seconds, and a full quota at once", async () => {
  await pass();
  expect(await looked()).toEqual([]);
  const figures = { at: 0, copied: 3, refused: 0, examples: [] };
  find({ state: "open", figures });
  expect(await looked()).toEqual([]);
  now += 5_000;
  expect(await looked()).toEqual(["default/preview"]);
  find({ state: "open", figures: { ...figures, isFull: true } });
  expect(await looked()).toEqual(["default/preview"]);
  expect(await pass()).toEqual({
    why: expect.objectContaining({ reason: "QuotaExceeded" }),
    figures: { ...figures, isFull: true },
  });
});

it("what was copied stands with the data and in the status, and whichever is lost, it is not copied again", async () => {
  await pass();
  find({ state: "done", result });
  expect(await looked()).toEqual(["default/preview"]);
  expect(await pass()).toEqual({ figures: result });
  expect(published.get("preview")?.data).toEqual({ ...inventory, copied: result });
  expect(given.size).toBe(1);

  const condition = { type: "Populated", status: "True" };
  const dataSource = { copied: 9, refused: 0, completedAt: "1970-01-01T00:00:00Z" };
  declare("preview", preview().spec, { status: { conditions: [condition], dataSource } });
  expect(await looked()).toEqual([]);
  expect(given.size).toBe(0);
  serve("preview", { properties });
  expect(await pass()).toEqual({});
  expect(published.get("preview")?.data?.copied).toMatchObject({ copied: 9 });
  declare("preview", preview().spec, { status: {} });
  expect(await pass()).toMatchObject({ figures: { copied: 9 } });
  expect(given.size).toBe(0);
});

it("the order of a Project that goes is taken back, but not where the objects are not known now", async () => {
  await pass();
  projects.delete("preview");
  isCurrent = false;
  expect([await looked(), given.size]).toEqual([[], 1]);
  isCurrent = true;
  expect([await looked(), given.size]).toEqual([[], 0]);
});
