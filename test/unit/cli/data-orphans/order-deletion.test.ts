import { describe, expect, it } from "vitest";
import { orderDeletion } from "../../../../cli/data-orphans/order-deletion.ts";
import type { RetainedItem } from "../../../../cli/data-orphans/retained-item.ts";
import { systemTimers } from "../../../../core/timers.ts";
import { ApiFailure, type KubeObject } from "../../../../operator/kube/api.ts";
import type { DataEntry } from "../../../../operator/model/data-inventory.ts";
import { deletionAnnotation, maxAnnotationBytes } from "../../../../operator/stored-data/deletion-requests.ts";

const since = "2026-11-20T00:00:00.000Z";

function kept(name: string, more: Partial<DataEntry> = {}): RetainedItem {
  const entry: DataEntry = { what: "resource", name, uid: `u-${name}`, namespaceUid: "n", retained: true, ...more };
  return { project: { namespace: "shop", name: "store" }, entry, because: "ObjectDeleted", state: "Kept" };
}

type OperatorAction = "deletes" | "leaves" | "sleeps" | "orders" | "serves" | "servesAnew";

/** What is on record of an entry after an operator did so with it. */
function after(action: OperatorAction, entry: DataEntry): readonly DataEntry[] {
  if (action === "deletes") return [];
  if (action === "orders") return [{ ...entry, purgeFromRevision: 7 }];
  if (action === "serves") return [{ ...entry, uid: "of another object" }];
  if (action === "servesAnew") return [{ ...entry, uid: "of another object", startedEmpty: true }];
  return [entry];
}

/** An operator that does with each look at the Secret what a test says. */
function world(items: readonly RetainedItem[], operator: (name: string) => OperatorAction) {
  let entries = items.map(({ entry }) => entry);
  let annotations: Record<string, string> = { other: "stays" };
  let conflicts = 0;
  const written: string[] = [];
  const lines: string[] = [];
  const reconcile = (): void => {
    const names = (annotations[deletionAnnotation] ?? "").split("\n").filter((name) => name !== "");
    const left = names.filter((name) => operator(name) === "sleeps");
    const orderedAs = new Map(names.map((name) => [/([^/@]+)@/.exec(name)?.[1], name]));
    entries = entries.flatMap((entry) => {
      const ordered = orderedAs.get(entry.name);
      return ordered === undefined ? [entry] : after(operator(ordered), entry);
    });
    annotations = { other: "stays", ...(left.length > 0 && { [deletionAnnotation]: left.join("\n") }) };
  };
  const run = () =>
    orderDeletion(items, {
      api: {
        async get() {
          reconcile();
          const metadata = { namespace: "s", name: "ring", uid: "r", resourceVersion: "1", annotations };
          return { metadata } as unknown as KubeObject;
        },
        async replace(_, object) {
          if (conflicts-- > 0) throw new ApiFailure(409, { reason: "Conflict", message: "It has changed" });
          annotations = (object as unknown as KubeObject).metadata.annotations as Record<string, string>;
          written.push(annotations[deletionAnnotation] ?? "");
          return object as unknown as KubeObject;
        },
      },
      secret: { namespace: "s", name: "ring" },
      recordOf: async () => ({ policy: "Retain", projectUid: "p", entries }),
      timers: systemTimers,
      now: () => Date.parse("2026-11-23T00:00:00Z"),
      monotonic: () => 0,
      out: (line) => void lines.push(line),
      timeoutMs: 0,
    });
  return {
    run,
    lines,
    written,
    annotations: () => annotations,
    conflict: (times: number) => {
      conflicts = times;
    },
  };
}

describe("an order", () => {
  it("names each with the time since when it is kept, now where nobody knows it, beside other annotations", async () => {
    const { run, lines, written, annotations, conflict } = world(
      [kept("books", { retainedAt: since }), kept("films")],
      () => "deletes",
    );
    conflict(2);
    expect(await run()).toBe(0);
    expect(written).toEqual([
      `shop/store/ApiResource/books@${since}\nshop/store/ApiResource/films@2026-11-23T00:00:00.000Z`,
    ]);
    expect(lines).toEqual(["shop/store/ApiResource/books: deleted", "shop/store/ApiResource/films: deleted"]);
    expect(annotations()).toEqual({ other: "stays" });
  });

  it("says what an object took up meanwhile, and fails", async () => {
    const { run, lines } = world([kept("books"), kept("films")], (name) =>
      name.includes("books") ? "leaves" : "deletes",
    );
    expect(await run()).toBe(1);
    expect(lines).toEqual([
      "shop/store/ApiResource/books: not deleted, an object names them by now, or they are kept again",
      "shop/store/ApiResource/films: deleted",
    ]);
  });

  it("waits for what is being deleted already without ordering it anew, and fails while that is not done", async () => {
    const going = { ...kept("books", { purgeFromRevision: 7 }), state: "Deleting" } as const;
    const { run, lines, written } = world([going, kept("films")], () => "deletes");
    expect(await run()).toBe(1);
    expect(written).toEqual(["shop/store/ApiResource/films@2026-11-23T00:00:00.000Z"]);
    expect(lines).toEqual([
      "shop/store/ApiResource/films: deleted",
      "shop/store/ApiResource/books: ordered, replicas have not deleted the data yet: does one run? The order stands",
    ]);
  });

  it("doesn't call deleted what another object of the name has taken up, and serves", async () => {
    const { run, lines } = world([kept("books")], () => "serves");
    expect(await run()).toBe(1);
    expect(lines).toEqual([
      "shop/store/ApiResource/books: not deleted, an object names them by now, or they are kept again",
    ]);
  });

  it("calls deleted what went between two looks, although another object of the name is served by the second", async () => {
    const { run, lines } = world([kept("books")], () => "servesAnew");
    expect(await run()).toBe(0);
    expect(lines).toEqual(["shop/store/ApiResource/books: deleted"]);
  });

  it("of very many that no operator takes up is written as far as it can be read, and the rest is said not to be ordered", async () => {
    const items = Array.from({ length: 5_000 }, (_, at) => kept(`resource-${at}`, { retainedAt: since }));
    const { run, written, lines } = world(items, () => "sleeps");
    expect(await run()).toBe(1);
    expect(Math.max(...written.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(maxAnnotationBytes);
    const ordered = lines.filter((line) => line.endsWith("The order stands"));
    expect(ordered).toHaveLength(written.at(-1)?.split("\n").length ?? 0);
    const rest = lines.filter((line) => line.includes(": not ordered: "));
    expect([rest.length > 0, ordered.length + rest.length]).toEqual([true, 5_000]);
  });

  it.each([
    ["no operator", "sleeps", "the operator has not taken it up yet: is the operator running and leading?"],
    ["no replica", "orders", "replicas have not deleted the data yet: does one run?"],
  ] as const)("that waits for %s says so when its time is over, and that it stands", async (_, does, why) => {
    const { run, lines } = world([kept("books")], () => does);
    expect(await run()).toBe(1);
    expect(lines).toEqual([`shop/store/ApiResource/books: ordered, ${why} The order stands`]);
  });

  it("of very many is written some at a time", async () => {
    const { run, written, lines } = world(
      Array.from({ length: 3_000 }, (_, at) => kept(`resource-${at}`, { retainedAt: since })),
      () => "deletes",
    );
    expect(await run()).toBe(0);
    expect(written.length).toBeGreaterThan(2);
    expect(Math.max(...written.map(({ length }) => length))).toBeLessThan(maxAnnotationBytes);
    expect(new Set(lines).size).toBe(3_000);
  });
});
