// Reads what has changed in a collection between two positions of its log: the objects as they are
// now, and which are gone. An object that changed several times may come several times. Throws
// LogGone where the log no longer has an entry that is needed.

import { idIn } from "../../core/object-id.ts";
import { isBefore } from "../changes/positions.ts";
import type { Change, ChangeLogs, LogPosition } from "../store/ports/changes.ts";
import type { ObjectLists } from "../store/ports/lists.ts";
import type { CollectionRef, DocumentRef, Owner } from "../store/ports/refs.ts";

/** `expired`: the log has dropped the entry. `lost`: a failover or a purge has. */
export class LogGone extends Error {
  override readonly name = "LogGone";
  readonly reason: "expired" | "lost";

  constructor(reason: "expired" | "lost") {
    super(`A log of changes has no longer what is needed: ${reason}`);
    this.reason = reason;
  }
}

export interface LogRange {
  /** Excluded. */
  readonly from: LogPosition;
  /** Included. */
  readonly to: LogPosition;
}

export interface ChangedObjects {
  readonly texts: readonly string[];
  /** Ids of objects that don't exist now. */
  readonly gone: readonly string[];
}

const entriesPerRead = 500;

export async function* changedObjects(
  store: Pick<ChangeLogs, "changesAfter"> & Pick<ObjectLists, "readObjects">,
  collection: CollectionRef,
  range: LogRange,
  owner: Owner | undefined,
): AsyncGenerator<ChangedObjects> {
  for await (const changes of changesIn(store, collection, range)) {
    const wanted = changes.filter((change) => change.kind !== "none" && (owner ?? change.owner) === change.owner);
    const gone = new Set(wanted.map(({ id }) => id));
    for await (const texts of store.readObjects(collection, [...gone])) {
      for (const text of texts) gone.delete(idIn(text));
      if (texts.length > 0) yield { texts, gone: [] };
    }
    if (gone.size > 0) yield { texts: [], gone: [...gone] };
  }
}

/** Some at a time. */
export async function* changesIn(
  store: Pick<ChangeLogs, "changesAfter">,
  of: CollectionRef | DocumentRef,
  { from, to }: LogRange,
): AsyncGenerator<readonly Change[]> {
  if (isBefore(to, from)) throw new LogGone("lost");
  for (let position = from; isBefore(position, to); ) {
    const read = await store.changesAfter(of, position, entriesPerRead);
    if (read.outcome !== "changes") throw new LogGone(read.outcome);
    const changes = read.changes.filter((change) => !isBefore(to, change.position));
    const last = changes.at(-1);
    // The end of the range was there before.
    if (last === undefined) throw new LogGone("lost");
    yield changes;
    position = last.position;
  }
}
