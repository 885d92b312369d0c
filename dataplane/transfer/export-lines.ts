// The lines of an export, in batches that are read when they are asked for. Where changes are
// logged, an export is exact without stopping writes: the log's position is taken first, then all
// objects are read, and what the log has had since then is read again. So the export has each
// object as it was when the reading ended, or as a later write left it.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import { keyOfProject } from "../../core/config/config-keys.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { Semaphore } from "../../core/semaphore.ts";
import { pause, type Timers } from "../../core/timers.ts";
import { ExportWriter } from "../../core/transfer/export-writer.ts";
import type { FairShareLimiter } from "../admission/fair-share.ts";
import type { ClientPosition } from "../changes/positions.ts";
import { mostBytes, type Release } from "../changes/unread-room.ts";
import type { Directory } from "../config/directory.ts";
import { maxObjectBytes } from "../operation/plan.ts";
import { requireNoLossMeanwhile } from "../operation/steps.ts";
import type { DataStore } from "../store/port.ts";
import type { CollectionRef, DocumentRef } from "../store/ports/refs.ts";
import { changedObjects, changesIn, LogGone, type LogRange } from "./changed-objects.ts";
import { type ExportPositions, exportPositionText } from "./export-positions.ts";
import { endOf, loggedSources, positionGone } from "./logged-sources.ts";
import type { ExportPlan, ExportRequest, ExportSource } from "./plan-export.ts";
import { readObjects } from "./read-objects.ts";

export interface LinesDeps {
  readonly store: DataStore;
  readonly directory: Pick<Directory, "dataLost">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly fairShare: FairShareLimiter;
  /** Each batch is read in a turn of it: one project after the other. */
  readonly scanSemaphore: Semaphore;
  /** Waits until there is room for what the client has not read. */
  readonly takeRoom: (bytes: number) => Promise<Release>;
  /** The same request unless something changed. Throws Problem where it is refused by now. */
  readonly decideAgainIfChanged: (request: ExportRequest) => ExportRequest | Promise<ExportRequest>;
}

/** Before a project that is busy is asked again. */
const retryMs = 200;

export function exportLines(deps: LinesDeps, request: ExportRequest, starts: ExportPositions): AsyncGenerator<Buffer> {
  return new Exporting(deps, request, starts).lines();
}

/** The store ends a batch with the object that exceeds a mebibyte. */
function largestBatch({ project }: ExportPlan): number {
  const { limits } = project.config;
  return mostBytes + Math.max(maxObjectBytes(limits), limits.maxDocumentBytes);
}

async function* once<T>(read: () => Promise<T>): AsyncGenerator<T> {
  yield await read();
}

class Exporting {
  readonly #deps: LinesDeps;
  readonly #plan: ExportPlan;
  readonly #starts: ExportPositions;
  readonly #writer = new ExportWriter();
  /** With the plan that counts now. */
  #request: ExportRequest;
  #inChanges = false;

  constructor(deps: LinesDeps, request: ExportRequest, starts: ExportPositions) {
    this.#deps = deps;
    this.#plan = request.plan;
    this.#starts = starts;
    this.#request = request;
  }

  async *lines(): AsyncGenerator<Buffer> {
    const { collections, documents, asked } = this.#plan;
    yield this.#head();
    if (asked.since === undefined) {
      for (const source of collections) yield* this.#objects(source);
      for (const source of documents) yield* this.#value(source);
    }
    const newest = new Map<ExportSource, string>();
    for (const source of loggedSources(this.#plan)) {
      newest.set(source, await this.#inTurn(() => this.#deps.store.newestChange(source.of)));
    }
    const ends = new Map<string, ClientPosition>();
    for (const [source, last] of newest) {
      yield* this.#changes(source, last);
      ends.set(source.name, await this.#inTurn(() => endOf(this.#deps.store, source, last)));
    }
    const hasAll = ends.size > 0 && ends.size === collections.length + documents.length;
    yield this.#writer.end(hasAll ? exportPositionText(ends) : undefined);
  }

  #head(): Buffer {
    const { project, collections, documents, asked } = this.#plan;
    const { owner, since, after } = asked;
    return this.#writer.head({
      exportedAt: new Date(this.#deps.clock.now()).toISOString(),
      resources: collections.map(({ of }) => of.resource),
      rootKeys: documents.map(({ of }) => of.rootKey),
      projectUid: project.config.uid,
      ...(owner !== undefined && { owner }),
      ...(since !== undefined && { since: exportPositionText(since) }),
      ...(after !== undefined && { after }),
      ...(since === undefined && this.#starts.size > 0 && { position: exportPositionText(this.#starts) }),
    });
  }

  async *#objects({ of }: ExportSource<CollectionRef>): AsyncGenerator<Buffer> {
    const { owner, after } = this.#plan.asked;
    const { resource } = of;
    // Resources are exported in order of their names.
    if (after !== undefined && resource < after.resource) return;
    const from = after?.resource === resource ? after.id : undefined;
    for await (const texts of this.#inTurns(readObjects(this.#deps.store, { collection: of, owner, after: from }))) {
      yield await this.#fairly(() => this.#writer.objects(resource, texts));
    }
  }

  /** A root key that stores nothing yet has its initial value, which its manifest says. */
  async *#value({ of }: ExportSource<DocumentRef>): AsyncGenerator<Buffer> {
    for await (const read of this.#inTurns(once(() => this.#deps.store.readAt(of, [])))) {
      if (read.outcome !== "found") return;
      yield await this.#fairly(() => this.#writer.item({ kind: "value", rootKey: of.rootKey, text: read.text }));
    }
  }

  async *#changes(source: ExportSource, last: string): AsyncGenerator<Buffer> {
    const { of, name } = source;
    const start = this.#starts.get(name)?.start ?? last;
    try {
      if ("resource" in of) yield* this.#changedObjects(of, { from: start, to: last });
      else yield* this.#changedValue(of, { from: start, to: last });
    } catch (error) {
      throw error instanceof LogGone ? positionGone(name, error.reason) : error;
    }
  }

  async *#changedObjects(of: CollectionRef, range: LogRange): AsyncGenerator<Buffer> {
    const { resource } = of;
    const changed = changedObjects(this.#deps.store, of, range, this.#plan.asked.owner);
    for await (const { texts, gone } of this.#inTurns(changed)) {
      yield* this.#beginChanges();
      yield await this.#fairly(() =>
        Buffer.concat([
          this.#writer.objects(resource, texts),
          this.#writer.items(gone.map((id) => ({ kind: "deleted", resource, id }))),
        ]),
      );
    }
  }

  /** The log doesn't say what has changed in a value. */
  async *#changedValue(of: DocumentRef, range: LogRange): AsyncGenerator<Buffer> {
    let isChanged = false;
    for await (const changes of this.#inTurns(changesIn(this.#deps.store, of, range))) {
      isChanged ||= changes.some(({ kind }) => kind !== "none");
    }
    if (!isChanged) return;
    yield* this.#beginChanges();
    yield* this.#value({ name: "", uid: "", of });
  }

  *#beginChanges(): Generator<Buffer> {
    if (!this.#inChanges) yield this.#writer.item({ kind: "changes" });
    this.#inChanges = true;
  }

  /**
   * The next batch is read while the client takes one: Redis and the replica work at once. Each has
   * room from before it is read until it was taken.
   */
  async *#inTurns<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
    const read = async () => {
      const release = await this.#deps.takeRoom(largestBatch(this.#plan));
      try {
        return { ...(await this.#inTurn(() => items.next())), release };
      } catch (error) {
        release();
        throw error;
      }
    };
    let reading = read();
    try {
      for (let batch = await reading; batch.done !== true; batch = await reading) {
        reading = read();
        // It is thrown where it is awaited, unless the client has left before.
        reading.catch(() => undefined);
        // So that Redis is asked for it before this batch takes the turn.
        await nextTurn();
        try {
          yield batch.value;
        } finally {
          batch.release();
        }
      }
    } finally {
      await items.return(undefined);
      await reading.then(({ release }) => release()).catch(() => undefined);
    }
  }

  /** Reads when it is the project's turn, unless the caller may no longer. */
  async #inTurn<T>(read: () => Promise<T>): Promise<T> {
    const { scanSemaphore, directory } = this.#deps;
    await this.#requireStillAllowed();
    await this.#patiently(() => scanSemaphore.acquire(keyOfProject(this.#plan.project.config)));
    try {
      return await read();
    } finally {
      scanSemaphore.release();
      requireNoLossMeanwhile(directory);
    }
  }

  async #requireStillAllowed(): Promise<void> {
    const current = await this.#deps.decideAgainIfChanged(this.#request);
    if (current === this.#request) return;
    const { collections, documents } = current.plan;
    const uids = new Map([...collections, ...documents].map(({ name, uid }) => [name, uid]));
    for (const { name, uid } of [...this.#plan.collections, ...this.#plan.documents]) {
      if (uids.get(name) !== uid) {
        throw new Problem("unknown_resource", `\`${name}\` was deleted, or may no longer be read; export again`);
      }
    }
    this.#request = current;
  }

  /** Computes when the project may. */
  async #fairly<T>(work: () => T): Promise<T> {
    return await this.#patiently(async () => await this.#deps.fairShare.of(this.#request.plan.project).runFairly(work));
  }

  /** A client that waits for the end of an export waits a little longer. */
  async #patiently<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof Problem) || !busyCodes.has(error.code)) throw error;
        await pause(this.#deps.timers, retryMs);
      }
    }
  }
}

const busyCodes: ReadonlySet<string> = new Set(["project_busy", "query_busy"]);
