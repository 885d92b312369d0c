// Lines of an import on their way into the store, a group at a time: read, validated and written in
// the fair share of the project, several groups at once. Lines for one object or value are written
// in their order.

import { errorCatalogue } from "../../core/errors/catalogue.ts";
import { Problem } from "../../core/errors/problem.ts";
import { createKeyedMutex } from "../../core/keyed-mutex.ts";
import { depthOfLine } from "../../core/transfer/read-line.ts";
import type { Slot } from "../admission/fair-share.ts";
import type { MemoryShare } from "../admission/memory-budgets.ts";
import { readInTurns } from "../http/read-body.ts";
import { requireDataNotLost } from "../operation/steps.ts";
import { maxDepth } from "../store/ports/documents.ts";
import type { ImportSummary } from "./import-summary.ts";
import type { ImportedFile, ImportedItem } from "./imported-file.ts";
import type { ImportDeps, ImportPlan, ImportRequest } from "./plan-import.ts";
import { type AllowedLine, allowedLine, type ReadyLine } from "./ready-line.ts";

/** While one is written the next ones are read. */
const groupsAtOnce = 4;
/** Of a group, which hold Redis as long as one read. */
const linesPerWeight = { create: 4, replace: 1 };
const minWeight = 2;

/** Lines that are written together. */
export interface LineGroup {
  readonly lines: readonly Uint8Array[];
  /** Of all lines, which are counted in `memory`. */
  readonly bytes: number;
}

interface GroupsContext {
  readonly file: ImportedFile;
  readonly summary: ImportSummary;
  /** Gets the bytes of a group back once it is written. */
  readonly memory: MemoryShare;
}

interface Sorted {
  readonly ready: readonly ReadyLine[];
  readonly refused: readonly (readonly [line: number, problem: Problem])[];
}

export class ImportedGroups {
  readonly #deps: ImportDeps;
  readonly #file: ImportedFile;
  readonly #summary: ImportSummary;
  readonly #memory: MemoryShare;
  readonly #order = createKeyedMutex();
  readonly #underWay = new Set<Promise<void>>();
  #request: ImportRequest;
  #failure: { readonly error: unknown } | undefined;

  constructor(deps: ImportDeps, request: ImportRequest, { file, summary, memory }: GroupsContext) {
    this.#deps = deps;
    this.#request = request;
    this.#file = file;
    this.#summary = summary;
    this.#memory = memory;
  }

  /** Begins to write a group. Resolves when the next one may begin. */
  async add({ lines, bytes }: LineGroup): Promise<void> {
    const { mode, limiter } = this.#request.plan;
    let slot: Slot | undefined;
    const end = (): void => {
      this.#memory.release(bytes);
      slot?.release(0);
    };
    try {
      slot = await limiter.acquire(Math.max(minWeight, Math.ceil(lines.length / linesPerWeight[mode])), 0, bytes);
      const ready = await this.#prepare(await this.#read(lines, slot), slot);
      const ended: Promise<void> = Promise.all(ready.map((line) => this.#write(line))).then(() => {
        end();
        this.#underWay.delete(ended);
      });
      this.#underWay.add(ended);
    } catch (error) {
      end();
      throw error;
    }
    if (this.#underWay.size >= groupsAtOnce) await Promise.race(this.#underWay);
    this.#requireNoFailure();
  }

  /** Resolves once nothing is being written. Throws what failed, so that it is not lost. */
  async settled(): Promise<void> {
    await this.ended();
    this.#requireNoFailure();
  }

  /** The same, whatever failed. */
  async ended(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  #requireNoFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #read(lines: readonly Uint8Array[], slot: Slot): Promise<readonly ImportedItem[]> {
    const items: ImportedItem[] = [];
    const { limiter } = this.#request.plan;
    for (const bytes of lines) {
      const json = await readInTurns(bytes, limiter, slot, depthOfLine(maxDepth));
      const item = await limiter.runFairly(() => this.#file.read(bytes, json), slot);
      if (item !== undefined) items.push(item);
    }
    return items;
  }

  /** What may be written now. Begins again where the project has changed in between. */
  async #prepare(items: readonly ImportedItem[], slot: Slot): Promise<readonly ReadyLine[]> {
    for (;;) {
      const request = this.#request;
      const { ready, refused } = await this.#sort(request.plan, items, slot);
      this.#request = await this.#deps.decideAgainIfChanged(request);
      if (this.#request !== request) continue;
      requireDataNotLost(this.#deps.directory);
      for (const [line, problem] of refused) this.#summary.refuse(line, problem);
      return ready;
    }
  }

  async #sort(plan: ImportPlan, items: readonly ImportedItem[], slot: Slot): Promise<Sorted> {
    const ready: ReadyLine[] = [];
    const refused: [number, Problem][] = [];
    for (const item of items) {
      try {
        const allowed = allowedLine(plan, item);
        if (!plan.isDryRun) await this.#declareIndexes(allowed);
        ready.push(await plan.limiter.runFairly(allowed.ready, slot));
      } catch (error) {
        if (!isOfLine(error)) throw error;
        refused.push([item.line, error]);
      }
    }
    return { ready, refused };
  }

  async #declareIndexes({ target }: AllowedLine): Promise<void> {
    const preparing = target && this.#deps.preparer.prepare(target.resource, target.collection);
    if (preparing !== undefined) await preparing;
  }

  /** Never rejects. */
  async #write({ line, key, write }: ReadyLine): Promise<void> {
    try {
      this.#summary.count(await this.#order.run(key, write));
    } catch (error) {
      if (isOfLine(error)) this.#summary.refuse(line, error);
      else this.#failure ??= { error };
    }
  }
}

/** Whether it says something of one line, and nothing of the next ones. */
function isOfLine(error: unknown): error is Problem {
  if (!(error instanceof Problem)) return false;
  const { status } = errorCatalogue[error.code];
  return status < 500 && status !== 429;
}
