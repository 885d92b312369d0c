// What a client sees of a log of changes: some objects, a part of each, or the value at a path.
// Streams with equal views share the events that are made of a batch.

import { entityTag } from "../http/conditional-requests.ts";
import type { LogPosition } from "../store/ports/changes.ts";
import type { Path, Visibility } from "../store/ports/refs.ts";
import type { Batch, SeenChange } from "./batch.ts";
import { type ChangeEvent, eventPieces, largeData } from "./events.ts";
import { isBefore, laterOf, positionsText } from "./positions.ts";

export interface View {
  /** Events of the batch for a stream at `position`, which the batch covers. */
  eventsOf(batch: Batch, position: LogPosition): readonly ChangeEvent[] | Promise<readonly ChangeEvent[]>;
  /**
   * The newest entry whose effect those events may have, the batch's last one or a later one;
   * called after `eventsOf`.
   */
  seenIn(batch: Batch): LogPosition;
  /** The whole batch as server-sent events of one source, encoded once for all who see the same. */
  encoded?(batch: Batch): readonly Buffer[];
  /** It reads what it sends: how much that is, a batch doesn't say. */
  readonly reads?: true;
  /** Whether `encoded` takes no time. */
  isEncoded?(batch: Batch): boolean;
}

export interface ObjectsView {
  readonly resource: string;
  /** Of one object; absent = all. */
  readonly id?: string;
  readonly visible: Visibility;
  /** Whether an object of this text is shown. */
  matches(text: string): boolean;
  /** What is shown of it. */
  shown(text: string): string;
  /** Equal for views that show the same of an object. */
  readonly shownKey: string;
  /** Equal for views that show the same of a batch. */
  readonly key: string;
}

/** An object that doesn't match is sent as deleted, because the client may have it. */
export function objectsView(view: ObjectsView): View {
  const all = (batch: Batch): readonly ChangeEvent[] =>
    batch.rendered.share(view.key, () => batch.changes.flatMap((change) => objectEvents(view, batch, change)), sizeOf);
  const encodedKey = `${view.key} encoded`;
  const encoded = (batch: Batch): readonly Buffer[] =>
    eventPieces(all(batch), ({ position }) => positionsText([{ start: position, seen: batch.seen }])).map((piece) =>
      typeof piece === "string" ? Buffer.from(piece) : piece,
    );
  return {
    eventsOf: (batch, position) =>
      position === batch.from ? all(batch) : all(batch).filter((event) => isBefore(position, event.position)),
    seenIn: ({ seen }) => seen,
    encoded: (batch) => batch.rendered.share(encodedKey, () => encoded(batch), bytesOf),
    isEncoded: (batch) => batch.rendered.has(encodedKey),
  };
}

function sizeOf(list: readonly unknown[]): number {
  return list.length * 8;
}

/** Large pieces count with their events. */
function bytesOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + (length < largeData ? length : 8), 0);
}

function objectEvents(view: ObjectsView, batch: Batch, change: SeenChange): readonly ChangeEvent[] {
  const { id, owner, kind, position, text } = change;
  if (view.id !== undefined && view.id !== id) return [];
  if (view.visible.owner !== undefined && view.visible.owner !== owner) return [];
  if (kind === "delete" || text === undefined || !view.matches(text)) {
    return [deletedEvent(view, position, id)];
  }
  // Clients with other filters share it, too, if they are shown the same fields.
  const make = (): ChangeEvent => objectEvent(view, position, id, text);
  return [batch.rendered.share(`${view.shownKey} ${position}`, make, ({ data }) => 2 * data.length)];
}

export function objectEvent(
  { resource, shown }: Pick<ObjectsView, "resource" | "shown">,
  position: LogPosition,
  id: string,
  text: string,
): ChangeEvent {
  const etag = JSON.stringify(entityTag(text));
  const data = `{"resource":"${resource}","id":"${id}","etag":${etag},"object":${shown(text)}}`;
  return { name: "put", position, data };
}

export function deletedEvent(
  { resource }: Pick<ObjectsView, "resource">,
  position: LogPosition,
  id: string,
): ChangeEvent {
  return { name: "delete", position, data: `{"resource":"${resource}","id":"${id}"}` };
}

export interface ValueView {
  readonly rootKey: string;
  readonly path: Path;
  read(): Promise<ReadValue>;
}

export interface ReadValue {
  /** The text at the path; undefined = nothing. */
  readonly text: string | undefined;
  /** The newest entry once it was read. */
  readonly seen: LogPosition;
}

/** A guess: the length of a value isn't known before it is read. */
const usualValueBytes = 1024;

/** Sends the value when it differs from the one sent last. */
export function valueView(view: ValueView): View & {
  /** What is sent first. */
  begin(position: LogPosition, value: ReadValue): ChangeEvent;
} {
  /** Null until a value was sent. In the JSON form nobody knows what the client has. */
  let tag: string | undefined | null = null;
  const key = JSON.stringify(view.path);
  let seenLast: LogPosition | undefined;
  /** A failed read isn't kept: the batch is asked for again. */
  const readValue = async (batch: Batch): Promise<ReadValue> => {
    try {
      return await view.read();
    } catch (failure) {
      batch.rendered.forget(key);
      throw failure;
    }
  };
  return {
    reads: true,
    begin(position, { text }) {
      tag = text === undefined ? undefined : entityTag(text);
      return valueEvent(view, position, text);
    },
    async eventsOf(batch) {
      if (batch.changes.length === 0) return [];
      const { text, seen } = await batch.rendered.share(
        key,
        () => readValue(batch),
        () => usualValueBytes,
      );
      seenLast = seen;
      const next = text === undefined ? undefined : entityTag(text);
      if (next === tag) return [];
      tag = next;
      return [valueEvent(view, batch.end, text)];
    },
    seenIn: (batch) => (seenLast === undefined ? batch.seen : laterOf(batch.end, seenLast)),
  };
}

function valueEvent(
  { rootKey, path }: Pick<ValueView, "rootKey" | "path">,
  position: LogPosition,
  text: string | undefined,
): ChangeEvent {
  const where = `{"rootKey":"${rootKey}","path":${JSON.stringify(path)}`;
  if (text === undefined) return { name: "delete", position, data: `${where}}` };
  return { name: "put", position, data: `${where},"etag":${JSON.stringify(entityTag(text))},"value":${text}}` };
}
