// Writes below keys that no path of Redis JSON can name: reads the container, changes its text, and
// puts it back while it is still the same. Writes to one document run in batches, because each
// would lose against the others, and those of one container together, because each would read and
// write all of it. Refuses as the port says, and with WriteConflict when others change it faster
// than it can be put back.

import { setImmediate as eventLoopTurn } from "node:timers/promises";
import type { Clock } from "../../../../core/clock.ts";
import { WriteConflict } from "../../../../core/errors/store-errors.ts";
import type { SpliceRefusal } from "../../../../core/json/splice.ts";
import { pauseAfterConflict } from "../../conflicts.ts";
import type { DocumentRefusal } from "../../ports/documents.ts";
import type { IdempotencyRecord } from "../../ports/idempotency.ts";
import type { Path } from "../../ports/refs.ts";
import type { DocumentKeys } from "../keys.ts";
import { sha1 } from "../objects/objects.ts";
import type { DocumentScripts, MissingDocument } from "./document-scripts.ts";

/**
 * Time for attempts. On a busy machine one takes half a second for a large document, and a replica
 * may lose more than four in a row.
 */
const conflictBudgetMs = 5_000;
/**
 * Characters read without a break: some milliseconds, after which other requests have their turn.
 */
const charactersAtOnce = 1024 * 1024;

/** A change of a container's text by core/json/splice.ts, and of what is expected there. */
export type Change<Outcome extends string> = (
  text: string,
  location: ValueLocation,
) => { readonly outcome: Outcome; readonly document: string } | SpliceRefusal | { readonly outcome: "changed" };

export interface ValueLocation {
  /** From the container to the value. */
  readonly below: Path;
  /** Levels between the document's root and the container. */
  readonly depth: number;
}

export interface UnaddressableWrite {
  readonly keys: DocumentKeys;
  readonly path: Path;
  readonly maxBytes: number;
  readonly maxGrowth?: number | undefined;
  readonly record?: IdempotencyRecord | undefined;
}

/** One object type per outcome. */
type Applied<Outcome> = Outcome extends string ? { readonly outcome: Outcome; readonly growth?: number } : never;
export type ChangeResult<Outcome> = Applied<Outcome> | DocumentRefusal;

export interface ContainerChange {
  readonly write: UnaddressableWrite;
  readonly change: Change<string>;
}

/** All are of one container; where there are several, none has `maxGrowth` or a record. */
export type ContainerChanges = readonly [ContainerChange, ...ContainerChange[]];

/** How many segments from the start a path of Redis JSON can name. */
export type AddressableLength = (path: Path) => number;

export interface ContainerDeps {
  readonly scripts: DocumentScripts;
  readonly addressableLength: AddressableLength;
  readonly clock: Clock;
}

/** A result for each; `apart` when together they are too large, which says nothing of each. */
export async function changeContainer(
  { scripts, addressableLength, clock }: ContainerDeps,
  changes: ContainerChanges,
): Promise<readonly ChangeResult<string>[] | "apart"> {
  const deadline = clock.monotonic() + conflictBudgetMs;
  for (let attempts = 1; clock.monotonic() < deadline; attempts += 1) {
    const { keys, path } = changes[0].write;
    const container = await containerOf(scripts, keys, path.slice(0, addressableLength(path)));
    if ("outcome" in container) return changes.map(() => container);
    const results = await changeOnce(scripts, changes, container);
    if (results !== "conflict") return results;
    await pauseAfterConflict(attempts);
  }
  throw new WriteConflict("Others keep changing the document");
}

interface Container {
  readonly path: Path;
  readonly text: string;
}

/** The nearest container above the key that a path can name; else the entire document. */
async function containerOf(
  scripts: DocumentScripts,
  keys: DocumentKeys,
  named: Path,
): Promise<Container | MissingDocument> {
  const found = await scripts.read(keys, named);
  if (found.outcome === "found") return { path: named, text: found.text };
  if (found.outcome === "missing_document") return found;
  // Only the entire text shows where the path ends, and how.
  const document = await scripts.read(keys, []);
  return document.outcome === "found" ? { path: [], text: document.text } : { outcome: "missing_document" };
}

async function changeOnce(
  scripts: DocumentScripts,
  changes: ContainerChanges,
  container: Container,
): Promise<readonly ChangeResult<string>[] | "conflict" | "apart"> {
  const { text, results } = await changedText(changes, container);
  if (text === undefined) return results;
  const maxBytes = Math.min(...changes.map(({ write }) => write.maxBytes));
  // In bytes, as Redis stores it and counts it against the limits: fewer characters may be more
  // bytes.
  const shrinks = Buffer.byteLength(text) < Buffer.byteLength(container.text);
  const previous = sha1(container.text);
  const replacement = { ...changes[0].write, path: container.path, text, shrinks, maxBytes, previous };
  const reply = await scripts.replaceContainer(replacement);
  if (reply.outcome === "conflict") return "conflict";
  if (reply.outcome === "done") return results.map((each) => ({ ...reply, ...each }));
  return changes.length > 1 ? "apart" : [reply as ChangeResult<string>];
}

/** What all changes together make of the text; undefined when each is refused. */
async function changedText(
  changes: ContainerChanges,
  { path, text }: Container,
): Promise<{ readonly text: string | undefined; readonly results: readonly ChangeResult<string>[] }> {
  const results: ChangeResult<string>[] = [];
  let now = text;
  let isChanged = false;
  let passed = 0;
  for (const { write, change } of changes) {
    if (passed > charactersAtOnce) {
      passed = 0;
      await eventLoopTurn();
    }
    passed += now.length;
    const changed = change(now, { below: write.path.slice(path.length), depth: path.length });
    results.push({ outcome: changed.outcome } as ChangeResult<string>);
    if (!("document" in changed)) results[results.length - 1] = changed satisfies DocumentRefusal;
    else {
      now = changed.document;
      isChanged = true;
    }
  }
  return { text: isChanged ? now : undefined, results };
}

/** Writes that are carried out together. */
const maxTogether = 64;

export interface UnaddressablePaths {
  change<Outcome extends string>(write: UnaddressableWrite, change: Change<Outcome>): Promise<ChangeResult<Outcome>>;
  /**
   * Ends with the batch of a document that is under way, if any. Writes by plain paths wait for
   * that batch only: one in between would have it read and write again.
   */
  pendingBatch(key: string): Promise<void> | undefined;
}

interface Waiting extends ContainerChange {
  readonly resolve: (result: ChangeResult<string>) => void;
  readonly reject: (error: unknown) => void;
}

type Batch = readonly [Waiting, ...Waiting[]];

export function createUnaddressablePaths(deps: ContainerDeps): UnaddressablePaths {
  // By the document's key, of those that are being written: waiting writes. Their requests have
  // slots of their project's share.
  const queues = new Map<string, Waiting[]>();

  const batches = new Map<string, Promise<void>>();

  const containerName = ({ path }: UnaddressableWrite): string =>
    JSON.stringify(path.slice(0, deps.addressableLength(path)));
  /** Writes of one container; one with a `maxGrowth` or a record is a script call of its own. */
  const mayShareBatch = (one: UnaddressableWrite, other: UnaddressableWrite): boolean =>
    isPlain(one) && isPlain(other) && containerName(one) === containerName(other);
  const next = (queue: Waiting[]): Batch | undefined => nextBatch(queue, mayShareBatch);

  const drain = async (key: string, queue: Waiting[]): Promise<void> => {
    for (let batch = next(queue); batch !== undefined; batch = next(queue)) {
      const ended = carryOut(deps, batch);
      batches.set(key, ended);
      await ended;
      batches.delete(key);
      // Waiting writes by plain paths are sent first, so none comes between the next read and its
      // write.
      await eventLoopTurn();
    }
    queues.delete(key);
  };

  const enqueue = (waiting: Waiting): void => {
    const key = waiting.write.keys.value;
    const queue = queues.get(key);
    if (queue !== undefined) {
      queue.push(waiting);
      return;
    }
    const begun = [waiting];
    queues.set(key, begun);
    void drain(key, begun);
  };

  return {
    pendingBatch: (key) => batches.get(key),
    change: <Outcome extends string>(write: UnaddressableWrite, change: Change<Outcome>) =>
      new Promise<ChangeResult<Outcome>>((resolve, reject) => {
        enqueue({ write, change, resolve: (result) => resolve(result as ChangeResult<Outcome>), reject });
      }),
  };
}

/** Takes writes from the front that go together, in the order of arrival. */
function nextBatch(
  queue: Waiting[],
  mayShareBatch: (one: UnaddressableWrite, other: UnaddressableWrite) => boolean,
): Batch | undefined {
  const [first, ...others] = queue;
  if (first === undefined) return undefined;
  const apart = others.findIndex((other) => !mayShareBatch(first.write, other.write));
  const together = others.slice(0, Math.min(apart < 0 ? others.length : apart, maxTogether - 1));
  queue.splice(0, 1 + together.length);
  return [first, ...together];
}

function isPlain({ maxGrowth, record }: UnaddressableWrite): boolean {
  return maxGrowth === undefined && record === undefined;
}

/** Settles each of them; never rejects. */
async function carryOut(deps: ContainerDeps, batch: Batch): Promise<void> {
  try {
    const results = await changeContainer(deps, batch);
    if (results === "apart") {
      for (const one of batch) await carryOut(deps, [one]);
      return;
    }
    for (const [n, result] of results.entries()) batch[n]?.resolve(result);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
