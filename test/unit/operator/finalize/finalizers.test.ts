import { describe, expect, it } from "vitest";
import {
  applyFinalizer,
  type FinalizerInput,
  type OwnFinalizers,
  ownFinalizers,
  wantsFinalizer,
} from "../../../../operator/finalize/finalizers.ts";
import { ApiFailure, type KubeApi, type KubeObject } from "../../../../operator/kube/api.ts";
import type { DataRecord } from "../../../../operator/model/data-record.ts";
import { finalizer } from "../../../../operator/model/finalizer.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import { stored, terminating } from "../../../support/kubernetes/stored-crs.ts";

const finalizers = [finalizer];
const bluesName = "blue.jsonplane.io/purge";
const own: OwnFinalizers = { mine: finalizer, droppable: new Set([finalizer]) };
const blue: OwnFinalizers = { mine: bluesName, droppable: new Set([bluesName]) };
const books = (metadata = {}) => stored("ApiResource", "books", { metadata });
const shop = (metadata = {}) => stored("Project", "shop", { metadata });
const common = { what: "resource", name: "books", uid: "ApiResource books", namespaceUid: "n" } as const;
const open: DataRecord = {
  policy: "Delete",
  projectUid: "Project shop",
  entries: [{ ...common, purgeFromRevision: 5 }],
};
const settled: DataRecord = { ...open, entries: [{ ...common, retained: true }] };

describe("the finalizer", () => {
  const input = (more: Partial<FinalizerInput>): FinalizerInput => ({
    object: books(),
    effectivePolicy: "Delete",
    mode: "cluster",
    record: undefined,
    own,
    ...more,
  });
  const going = { ...terminating, finalizers };
  const table: readonly [string, Partial<FinalizerInput>, boolean][] = [
    ["an object whose data go with it", {}, true],
    ["an object whose data stay", { effectivePolicy: "Retain" }, false],
    ["a Project whose data go with it", { object: shop() }, true],
    ["a user: it has no data", { object: stored("ProjectUser", "ann") }, false],
    ["a key: it has no data", { object: stored("ApiKey", "ci") }, false],
    ["an object that is going without it: none can be added", { object: books(terminating), record: open }, false],
    ["an object that is going, its data not yet gone", { object: books(going), record: open }, true],
    ["an object that is going, its data gone", { object: books(going), record: undefined }, false],
    ["an object that is going, its data released", { object: books(going), record: settled }, false],
    [
      "an object that is going, the data of another one open",
      { object: books({ ...going, uid: "x" }), record: open },
      false,
    ],
    ["an object that is going, with only another operator's", { object: books(going), record: open, own: blue }, false],
    ["a Project that is going, data of a child open", { object: shop(going), record: open }, true],
    ["a Project that is going, nothing open", { object: shop(going), record: settled }, false],
    ["an object of an operator of single namespaces", { mode: "namespaced" }, false],
    [
      "one that is going there, set by an operator of all",
      { mode: "namespaced", object: books(going), record: open },
      false,
    ],
  ];
  it.each(table)("stands, or not, on %s", (_, more, expected) => {
    expect(wantsFinalizer(input(more))).toBe(expected);
  });
});

interface Call {
  readonly verb: "apply" | "replace";
  readonly object: unknown;
}

/** Answers applies, then replaces, in order; a failure is thrown. */
function answering(...answers: readonly unknown[]): {
  readonly api: Pick<KubeApi, "apply" | "replace">;
  readonly calls: Call[];
} {
  const calls: Call[] = [];
  const rest = [...answers];
  const answer = async (call: Call): Promise<KubeObject> => {
    calls.push(call);
    const next = rest.shift();
    if (next instanceof Error) throw next;
    return next as KubeObject;
  };
  return {
    api: {
      apply: (_, object) => answer({ verb: "apply", object }),
      replace: (_, object) => answer({ verb: "replace", object }),
    },
    calls,
  };
}

const served = (object: CustomResource): KubeObject => object as unknown as KubeObject;
const applied = (list: readonly string[]) => ({
  apiVersion: "jsonplane.io/v1alpha1",
  kind: "ApiResource",
  metadata: { namespace: "default", name: "books", uid: "ApiResource books", resourceVersion: "7", finalizers: list },
});

it("an operator's finalizer has the name of its class, and it drops no other", () => {
  expect(ownFinalizers(undefined)).toEqual(own);
  expect(ownFinalizers("blue")).toEqual(blue);
  expect(ownFinalizers("blue", "here/ring/id")).toEqual({ ...blue, installation: "here/ring/id" });
});

describe("the annotation beside a finalizer", () => {
  const ours = { ...own, installation: "here/ring/id" };
  const others = { "blue.jsonplane.io/installation": "blue/ring/id" };
  const marked = {
    annotations: { ...others, "jsonplane.io/installation": "here/ring/id", "example.org/team": "shop" },
  };
  const sent = async (object: CustomResource, wanted: boolean): Promise<unknown> => {
    const { api, calls } = answering(served(object));
    await applyFinalizer(api, object, { wanted, own: ours });
    return (calls[0]?.object as { metadata: unknown } | undefined)?.metadata;
  };

  it("names the installation, comes with the finalizer, where that stands too, and goes with it", async () => {
    const both = [bluesName, finalizer];
    const named = { ...others, "jsonplane.io/installation": "here/ring/id" };
    expect(await sent(books({ finalizers: [bluesName], annotations: others }), true)).toMatchObject({
      finalizers: both,
      annotations: named,
    });
    expect(await sent(books({ finalizers }), true)).toMatchObject({
      annotations: { "jsonplane.io/installation": "here/ring/id" },
    });
    expect(await sent(books({ finalizers: both, ...marked }), true)).toBeUndefined();
    const dropped = (await sent(books({ finalizers: both, ...marked }), false)) as { annotations: unknown };
    expect(dropped).toMatchObject({ finalizers: [bluesName] });
    expect(dropped.annotations).toEqual(others);
  });
});

describe("setting and dropping the finalizer", () => {
  it("does nothing when it is as it should be", async () => {
    const { api, calls } = answering();
    expect(await applyFinalizer(api, books({ finalizers }), { wanted: true, own })).toEqual({ outcome: "unchanged" });
    expect(await applyFinalizer(api, books({ finalizers: ["another"] }), { wanted: false, own })).toEqual({
      outcome: "unchanged",
    });
    expect(calls).toEqual([]);
  });

  it("applies nothing of the object but that", async () => {
    const answer = served(books({ finalizers }));
    const { api, calls } = answering(answer);
    expect(await applyFinalizer(api, books(), { wanted: true, own })).toEqual({ outcome: "changed", object: answer });
    expect(calls).toEqual([{ verb: "apply", object: applied(finalizers) }]);
  });

  it("says that the object is gone with its last finalizer, so that no cache takes it back", async () => {
    const { api, calls } = answering(served(books({ ...terminating, finalizers: [] })));
    expect(await applyFinalizer(api, books({ ...terminating, finalizers }), { wanted: false, own })).toEqual({
      outcome: "gone",
    });
    expect(calls).toEqual([{ verb: "apply", object: applied([]) }]);
  });

  it("is written beside that of another operator, by the version that was looked at, and leaves it there when it goes", async () => {
    const both = served(books({ finalizers: [finalizer, bluesName] }));
    const set = answering(both);
    await applyFinalizer(set.api, books({ finalizers }), { wanted: true, own: blue });
    expect(set.calls).toEqual([{ verb: "apply", object: applied([finalizer, bluesName]) }]);
    const dropped = answering(served(books({ ...terminating, finalizers })));
    const going = books({ ...terminating, finalizers: [finalizer, bluesName] });
    expect(await applyFinalizer(dropped.api, going, { wanted: false, own: blue })).toMatchObject({
      outcome: "changed",
    });
    expect(dropped.calls).toEqual([{ verb: "apply", object: applied(finalizers) }]);
  });

  it("leaves those of others", async () => {
    const answer = served(books({ ...terminating, finalizers: ["another"] }));
    const object = books({ ...terminating, finalizers: ["another", finalizer] });
    expect(await applyFinalizer(answering(answer).api, object, { wanted: false, own })).toEqual({
      outcome: "changed",
      object: answer,
    });
  });

  it("drops one that somebody else set from an object that is going, by its present version", async () => {
    const stays = served(books({ ...terminating, finalizers: ["another", finalizer], resourceVersion: "8" }));
    const { api, calls } = answering(stays, served(books({ ...terminating, finalizers: ["another"] })));
    await applyFinalizer(api, books({ ...terminating, finalizers: ["another", finalizer] }), { wanted: false, own });
    expect(calls[1]).toMatchObject({
      verb: "replace",
      object: { metadata: { resourceVersion: "8", finalizers: ["another"] }, spec: stays["spec"] },
    });
  });

  it("leaves one that somebody else set on an object that stays", async () => {
    const { api, calls } = answering(served(books({ finalizers })));
    expect(await applyFinalizer(api, books({ finalizers }), { wanted: false, own })).toEqual({ outcome: "unchanged" });
    expect(calls.map(({ verb }) => verb)).toEqual(["apply"]);
  });

  it("takes an object for gone that is not there, and passes a conflict on", async () => {
    const gone = new ApiFailure(404, { reason: "NotFound", message: "no such apiresource" });
    expect(await applyFinalizer(answering(gone).api, books(), { wanted: true, own })).toEqual({ outcome: "gone" });
    const conflict = new ApiFailure(409, { reason: "Conflict", message: "changed" });
    await expect(applyFinalizer(answering(conflict).api, books(), { wanted: true, own })).rejects.toBe(conflict);
  });
});
