// Exports while others write: compared with the log of changes, and without one.

import { beforeEach, expect, it } from "vitest";
import type { Change } from "../../dataplane/store/ports/changes.ts";
import { changesIn } from "../../dataplane/transfer/changed-objects.ts";
import { parseExportPosition } from "../../dataplane/transfer/export-positions.ts";
import { make } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { applied, type Exported, readExported } from "../support/transfer/exported.ts";

const admin = apikey("admin");
const changes = { retentionSeconds: 3_600, maxEntries: 100_000 };
const shop = project(
  "shop",
  withKey("admin", { role: "Administrators" }),
  withResource("counters", { changes }),
  withResource("plain"),
);
const objects = 600;
const writers = 8;

/** Numbers of writes by id. */
type Writes = ReadonlyMap<string, number>;

describeServedOnBothStores("an export while others write", (serve) => {
  let served: Served;
  beforeEach(async () => {
    served = await serve(shop);
  });

  async function fill(resource: string): Promise<readonly string[]> {
    const made = await Promise.all(Array.from({ length: objects }, () => make(served, resource, { n: 0 }, admin)));
    return made.map(({ id }) => id);
  }

  async function exported(resource: string, since?: string): Promise<Exported> {
    const behind = since === undefined ? "" : `&_since=${encodeURIComponent(since)}`;
    return readExported((await served.send(`/export?_resource=${resource}${behind}`, { as: admin })).text);
  }

  /** Repeats the export until others wrote during one, which then has their changes at its end. */
  async function exportedAmidWrites(resource: string): Promise<Exported> {
    let found = await exported(resource);
    while (!found.items.some(({ kind }) => kind === "changes")) found = await exported(resource);
    return found;
  }

  /** Counts objects of its own up. Every fifth time it deletes one and makes another. */
  async function write(resource: string, own: string[], isStopped: () => boolean): Promise<void> {
    const written = new Map<string, number>();
    for (let round = 0; !isStopped(); round += 1) {
      const at = (round * 7) % own.length;
      const id = own[at] ?? "";
      const path = `/api/${resource}/${id}`;
      if (round % 5 === 4) {
        await served.send(path, { method: "DELETE", as: admin });
        own[at] = (await make(served, resource, { n: 0 }, admin)).id;
      } else {
        const n = (written.get(id) ?? 0) + 1;
        written.set(id, n);
        await served.send(path, { method: "PUT", body: { n }, as: admin });
      }
    }
  }

  async function whileWritten<T>(resource: string, ids: readonly string[], run: () => Promise<T>): Promise<T> {
    let isStopped = false;
    const writing = Array.from({ length: writers }, (_, writer) =>
      write(
        resource,
        ids.filter((_id, at) => at % writers === writer),
        () => isStopped,
      ),
    );
    try {
      return await run();
    } finally {
      isStopped = true;
      await Promise.all(writing);
    }
  }

  /** What the log has from one position to another, over what was there at the first. */
  async function logged(before: Writes, from: string, to: string): Promise<Writes> {
    const collection = { project: { namespace: served.namespace, name: "shop" }, resource: "counters", changes };
    const writes = new Map(before);
    const add = ({ kind, id }: Change): void => {
      if (kind === "delete") writes.delete(id);
      else writes.set(id, (writes.get(id) ?? -1) + 1);
    };
    for await (const found of changesIn(served.store, collection, { from, to })) found.forEach(add);
    return writes;
  }

  it("has each object as at its position, or as a later write left it, and what changed since in further ones", async () => {
    const ids = await fill("counters");
    const nothing = new Map(ids.map((id) => [id, 0]));
    const { start: beginning } = endOf(await exported("counters"));
    const pieces: Exported[] = [];
    await whileWritten("counters", ids, async () => {
      pieces.push(await exportedAmidWrites("counters"));
      for (let round = 0; round < 3; round += 1) pieces.push(await exported("counters", pieces.at(-1)?.end.position));
    });
    for (const [at, piece] of pieces.entries()) {
      const { start, seen } = endOf(piece);
      const found = counted(pieces.slice(0, at + 1));
      const atPosition = await logged(nothing, beginning, start);
      const later = await logged(atPosition, start, seen);
      expect(wrongIn(found, atPosition, later)).toEqual([]);
    }
    const rest = await exported("counters", pieces.at(-1)?.end.position);
    expect(applied([...pieces, rest])).toEqual(applied([await exported("counters")]));
  });

  it("has, without a log, each object once that is there all the time, and no position", async () => {
    const ids = await fill("plain");
    const { items, end } = await whileWritten("plain", ids.slice(0, objects / 2), () => exported("plain"));
    const found = items.map((item) => (item.kind === "object" ? item.text.slice(7, 43) : item.kind));
    expect(new Set(found).size).toBe(found.length);
    expect(found).toEqual(expect.arrayContaining(ids.slice(objects / 2)));
    expect(end.position).toBeUndefined();
  });
});

function endOf({ end }: Exported): { readonly start: string; readonly seen: string } {
  const position = parseExportPosition(end.position ?? "", "`end`").get("api/counters");
  if (position === undefined) throw new Error("The export has a position");
  return position;
}

function counted(pieces: readonly Exported[]): Writes {
  return new Map(Array.from(applied(pieces).values(), (text) => [text.slice(7, 43), JSON.parse(text).n as number]));
}

/** Ids of objects that are neither as at the position, nor as a write soon behind it left them. */
function wrongIn(found: Writes, atPosition: Writes, later: Writes): readonly string[] {
  const isRight = (id: string): boolean => {
    const n = found.get(id);
    if (n === undefined) return !atPosition.has(id) || !later.has(id);
    return n >= (atPosition.get(id) ?? 0) && n <= (later.get(id) ?? n) && (atPosition.has(id) || later.has(id));
  };
  return [...new Set([...found.keys(), ...atPosition.keys(), ...later.keys()])].filter((id) => !isRight(id));
}
