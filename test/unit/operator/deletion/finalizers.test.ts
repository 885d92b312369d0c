import { describe, expect, it } from "vitest";
import {
  applyFinalizer,
  type FinalizerInput,
  finalizer,
  wantsFinalizer,
} from "../../../../operator/deletion/finalizers.ts";
import { ApiFailure, type KubeApi, type KubeObject } from "../../../../operator/kube/api.ts";
import type { DataInventory } from "../../../../operator/model/data-inventory.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import { stored, terminating } from "../../../support/kubernetes/stored-crs.ts";

const finalizers = [finalizer];
const books = (metadata = {}) => stored("ApiResource", "books", { metadata });
const shop = (metadata = {}) => stored("Project", "shop", { metadata });
const common = { what: "resource", name: "books", uid: "ApiResource books", namespaceUid: "n" } as const;
const open: DataInventory = {
  policy: "Delete",
  projectUid: "Project shop",
  entries: [{ ...common, purgeFromRevision: 5 }],
};
const settled: DataInventory = { ...open, entries: [{ ...common, retained: true }] };

describe("the finalizer", () => {
  const input = (more: Partial<FinalizerInput>): FinalizerInput => ({
    object: books(),
    effectivePolicy: "Delete",
    mode: "cluster",
    inventory: undefined,
    ...more,
  });
  const going = { ...terminating, finalizers };
  const table: readonly [string, Partial<FinalizerInput>, boolean][] = [
    ["an object whose data go with it", {}, true],
    ["an object whose data stay", { effectivePolicy: "Retain" }, false],
    ["a Project whose data go with it", { object: shop() }, true],
    ["a user: it has no data", { object: stored("ProjectUser", "ann") }, false],
    ["a key: it has no data", { object: stored("ApiKey", "ci") }, false],
    ["an object that is going without it: none can be added", { object: books(terminating), inventory: open }, false],
    ["an object that is going, its data not yet gone", { object: books(going), inventory: open }, true],
    ["an object that is going, its data gone", { object: books(going), inventory: undefined }, false],
    ["an object that is going, its data released", { object: books(going), inventory: settled }, false],
    [
      "an object that is going, the data of another one open",
      { object: books({ ...going, uid: "x" }), inventory: open },
      false,
    ],
    [
      "an object that is going, with only somebody else's",
      { object: books({ ...terminating, finalizers: ["another"] }), inventory: open },
      false,
    ],
    ["a Project that is going, data of a child open", { object: shop(going), inventory: open }, true],
    ["a Project that is going, nothing open", { object: shop(going), inventory: settled }, false],
    ["an object of an operator of single namespaces", { mode: "namespaced" }, false],
    [
      "one that is going there, set by an operator of all",
      { mode: "namespaced", object: books(going), inventory: open },
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

describe("setting and dropping the finalizer", () => {
  it("does nothing when it is as it should be", async () => {
    const { api, calls } = answering();
    expect(await applyFinalizer(api, books({ finalizers }), true)).toEqual({ outcome: "unchanged" });
    expect(await applyFinalizer(api, books({ finalizers: ["another"] }), false)).toEqual({
      outcome: "unchanged",
    });
    expect(calls).toEqual([]);
  });

  it("applies nothing of the object but that", async () => {
    const answer = served(books({ finalizers }));
    const { api, calls } = answering(answer);
    expect(await applyFinalizer(api, books(), true)).toEqual({ outcome: "changed", object: answer });
    expect(calls).toEqual([{ verb: "apply", object: applied(finalizers) }]);
  });

  it("says that the object is gone with its last finalizer, so that no cache takes it back", async () => {
    const { api, calls } = answering(served(books({ ...terminating, finalizers: [] })));
    expect(await applyFinalizer(api, books({ ...terminating, finalizers }), false)).toEqual({
      outcome: "gone",
    });
    expect(calls).toEqual([{ verb: "apply", object: applied([]) }]);
  });

  it("leaves those of others", async () => {
    const answer = served(books({ ...terminating, finalizers: ["another"] }));
    const object = books({ ...terminating, finalizers: ["another", finalizer] });
    expect(await applyFinalizer(answering(answer).api, object, false)).toEqual({
      outcome: "changed",
      object: answer,
    });
  });

  it("drops one that somebody else set from an object that is going, by its present version", async () => {
    const stays = served(books({ ...terminating, finalizers: ["another", finalizer], resourceVersion: "8" }));
    const { api, calls } = answering(stays, served(books({ ...terminating, finalizers: ["another"] })));
    await applyFinalizer(api, books({ ...terminating, finalizers: ["another", finalizer] }), false);
    expect(calls[1]).toMatchObject({
      verb: "replace",
      object: { metadata: { resourceVersion: "8", finalizers: ["another"] }, spec: stays["spec"] },
    });
  });

  it("leaves one that somebody else set on an object that stays", async () => {
    const { api, calls } = answering(served(books({ finalizers })));
    expect(await applyFinalizer(api, books({ finalizers }), false)).toEqual({ outcome: "unchanged" });
    expect(calls.map(({ verb }) => verb)).toEqual(["apply"]);
  });

  it("takes an object for gone that is not there, and passes a conflict on", async () => {
    const gone = new ApiFailure(404, { reason: "NotFound", message: "no such apiresource" });
    expect(await applyFinalizer(answering(gone).api, books(), true)).toEqual({ outcome: "gone" });
    const conflict = new ApiFailure(409, { reason: "Conflict", message: "changed" });
    await expect(applyFinalizer(answering(conflict).api, books(), true)).rejects.toBe(conflict);
  });
});
