import { describe, expect, it } from "vitest";
import { ApiFailure, type KubeObject } from "../../../../operator/kube/api.ts";
import type { DataEntry, DataInventory } from "../../../../operator/model/data-inventory.ts";
import { createDeletionInbox } from "../../../../operator/stored-data/deletion-inbox.ts";
import { deletionAnnotation } from "../../../../operator/stored-data/deletion-requests.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const at = "2025-10-01T00:00:00Z";
const ref = { namespace: "shop", name: "store" };
const books: DataEntry = { what: "resource", name: "books", uid: "u", namespaceUid: "n", retained: true };

/** The Secret as it is at the API server, and an inbox that looks at it. */
function world({ looksAt = () => true, entries = [books] }: { looksAt?: () => boolean; entries?: DataEntry[] } = {}) {
  const clock = manualClock();
  const inventories = new Map<string, DataInventory>([["shop/store", { policy: "Retain", projectUid: "p", entries }]]);
  let [annotations, refused]: [Record<string, string>, boolean] = [{ other: "stays" }, false];
  const [enqueued, warnings]: [string[], string[]] = [[], []];
  const inbox = createDeletionInbox({
    api: {
      async replace(_, object) {
        if (refused) throw new ApiFailure(409, { reason: "Conflict", message: "It has changed" });
        annotations = (object as unknown as KubeObject).metadata.annotations as Record<string, string>;
        return object as unknown as KubeObject;
      },
    },
    now: clock.now,
    inventories: () => inventories,
    looksAt,
    enqueue: (key) => void enqueued.push(key),
    warn: (message, facts) => void warnings.push(`${message}: ${Object.values(facts).join()}`),
  });
  return {
    inbox,
    clock,
    inventories,
    enqueued,
    warnings,
    asks: () => inbox.requestsOf(ref).map(({ text }) => text),
    write: (text: string) => {
      annotations = { ...annotations, [deletionAnnotation]: text };
    },
    conflict: (isOn: boolean) => {
      refused = isOn;
    },
    annotations: () => annotations,
    look: () =>
      inbox.sync({
        metadata: { namespace: "s", name: "ring", uid: "r", resourceVersion: "1", annotations },
      } as KubeObject),
  };
}

describe("what the Secret asks for", () => {
  it("is handed to its Project, and taken away once that has it on record; other annotations stay", async () => {
    const { inbox, asks, write, look, enqueued, annotations, clock } = world();
    const text = `shop/store/ApiResource/books@${at}`;
    write(`${text} shop/other@2025-10-02T00:00:00Z`);
    await look();
    expect(enqueued).toEqual(["shop/store"]);
    expect(asks()).toEqual([text]);
    expect(annotations()[deletionAnnotation]).toBe(text);
    inbox.markRecorded(inbox.requestsOf(ref), clock.now());
    await look();
    expect(annotations()).toEqual({ other: "stays" });
    expect(asks()).toEqual([]);
  });

  it("is kept until it was taken, however often it is looked at, and while somebody else writes the Secret", async () => {
    const { inbox, write, look, asks, annotations, conflict, clock } = world();
    write(`shop/store@${at}`);
    await look();
    await look();
    expect(annotations()[deletionAnnotation]).toBe(`shop/store@${at}`);
    inbox.markRecorded(inbox.requestsOf(ref), clock.now());
    conflict(true);
    await look();
    expect(annotations()[deletionAnnotation]).toBe(`shop/store@${at}`);
    conflict(false);
    await look();
    expect(annotations()).toEqual({ other: "stays" });
    // The same name, written once more, is asked again.
    write(`shop/store@${at}`);
    await look();
    expect(asks()).toEqual([`shop/store@${at}`]);
  });

  it("is weighed anew when somebody else took it away, and it comes back", async () => {
    const { inbox, write, look, asks, clock } = world();
    const text = `shop/store@${at}`;
    write(text);
    await look();
    inbox.markRecorded(inbox.requestsOf(ref), clock.now());
    write("");
    await look();
    write(text);
    await look();
    expect(asks()).toEqual([text]);
  });

  it("goes with a line in the log where nothing is kept so", async () => {
    const { write, look, warnings, annotations, enqueued } = world({
      entries: [{ ...books, retainedAt: "2025-10-05T00:00:00Z" }],
    });
    write(`shop/store@${at}`);
    await look();
    expect(annotations()).toEqual({ other: "stays" });
    expect([warnings, enqueued]).toEqual([
      [`No data are kept under a name in a deletion request: shop/store@${at}`],
      [],
    ]);
  });

  it("stays where its time came while its Project was being published: it was weighed before that, and not carried out", async () => {
    const { write, look, clock, annotations, asks, inbox } = world();
    const text = `shop/store@${new Date(clock.now() + 10).toISOString()}`;
    write(text);
    await look();
    const [requests, evaluatedAt] = [inbox.requestsOf(ref), clock.now()];
    clock.advance(10);
    inbox.markRecorded(requests, evaluatedAt);
    await look();
    expect([annotations()[deletionAnnotation], asks()]).toEqual([text, [text]]);
  });

  it("waits for its time, and for a Project that is not looked at", async () => {
    const { write, look, enqueued, clock, annotations, inbox } = world();
    const soon = new Date(clock.now() + 60_000).toISOString();
    write(`shop/store@${soon}`);
    await look();
    inbox.markRecorded(inbox.requestsOf(ref), clock.now());
    await look();
    expect([enqueued, annotations()[deletionAnnotation]]).toEqual([[], `shop/store@${soon}`]);
    clock.advance(60_000);
    await look();
    expect(enqueued).toEqual(["shop/store"]);
    const unseen = world({ looksAt: () => false });
    unseen.write(`shop/store@${at}`);
    await unseen.look();
    expect([unseen.enqueued, unseen.annotations()[deletionAnnotation]]).toEqual([[], `shop/store@${at}`]);
  });

  it("of the future goes at once with a line in the log: it would mean what nobody has kept yet", async () => {
    const { write, look, warnings, annotations, enqueued, asks, clock } = world();
    write(`shop/store@${new Date(clock.now() + 3_600_000).toISOString()}`);
    await look();
    expect([annotations(), enqueued, asks()]).toEqual([{ other: "stays" }, [], []]);
    expect(warnings).toEqual([expect.stringContaining("is in the future")]);
  });

  it("stays where it can't be read, and is told of once", async () => {
    const { write, look, warnings, annotations } = world();
    write("shop/store");
    await look();
    await look();
    expect(warnings).toEqual([expect.stringContaining('"shop/store" says no time')]);
    expect(annotations()[deletionAnnotation]).toBe("shop/store");
  });
});
