// References that declare a log of changes, and what is read of one.

import type { ChangeLogConfig } from "../../../core/config/types.ts";
import type { ChangeLogs, LoggedRef, LogPosition } from "../../../dataplane/store/ports/changes.ts";
import type { CollectionRef, DocumentRef } from "../../../dataplane/store/ports/refs.ts";
import { freshCollection, freshDocument } from "./fixture.ts";

interface Logged {
  readonly changes: ChangeLogConfig;
}
export type LoggedCollection = CollectionRef & Logged;
export type LoggedDocument = DocumentRef & Logged;

const changes: ChangeLogConfig = { retentionSeconds: 3_600, maxEntries: 10_000 };

export function loggedCollection(): LoggedCollection {
  return { ...freshCollection(), changes };
}

export function loggedDocument(): LoggedDocument {
  return { ...freshDocument(), changes };
}

/** The same, as a replica whose configuration declares no log has it. */
export function unlogged<Ref extends LoggedRef>(of: Ref): Ref extends CollectionRef ? CollectionRef : DocumentRef;
export function unlogged({ changes: _, ...rest }: LoggedRef): LoggedRef {
  return rest;
}

type Entry = readonly [kind: string, id: string, owner: string];

/** Fails where the position is not good any more. */
export async function entriesAfter(store: ChangeLogs, of: LoggedRef, position: LogPosition): Promise<readonly Entry[]> {
  const read = await store.changesAfter(of, position, 1_000);
  if (read.outcome !== "changes") throw new Error(`The position is ${read.outcome}`);
  return read.changes.map(({ kind, id, owner }) => [kind, id, owner] as const);
}
