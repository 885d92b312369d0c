// Lines of an import on their way into the store, a group at a time: read, validated and written in
// the fair share of the project, several groups at once. Lines for one object or value are written
// in their order.

import { errorCatalogue } from "../../core/errors/catalogue.ts";
import { Problem } from "../../core/errors/problem.ts";
import { createKeyedMutex } from "../../core/keyed-mutex.ts";
import type { Slot } from "../admission/fair-share.ts";
import { tooManyBodies } from "../http/read-body.ts";
import { requireDataNotLost } from "../operation/steps.ts";
import type { ImportSummary } from "./import-summary.ts";
import type { ImportedFile, NumberedItem } from "./imported-file.ts";
import type { ImportDeps, ImportPlan, ImportRequest } from "./plan-import.ts";
import { type AllowedLine, allowedLine, type ReadyLine } from "./ready-line.ts";

/** While one is written the next ones are read. */
const groupsAtOnce = 4;
/** Of a group, which hold Redis as long as one read. */
const linesPerWeight = { create: 4, replace: 1 };
const minWeight = 2;

interface Sorted {
  readonly ready: readonly ReadyLine[];
  readonly refused: readonly (readonly [line: number, problem: Problem])[];
}

export class ImportedGroups {
  readonly #deps: ImportDeps;
  readonly #file: ImportedFile;
  readonly #summary: ImportSummary;
  readonly #order = createKeyedMutex();
  readonly #underWay = new Set<Promise<void>>();
  #request: ImportRequest;
  #failure: { readonly error: unknown } | undefined;

  constructor(
    deps: ImportDeps,
    request: ImportRequest,
    { file, summary }: { readonly file: ImportedFile; readonly summary: ImportSummary },
  ) {
    this.#deps = deps;
    this.#request = request;
    this.#file = file;
    this.#summary = summary;
  }

  /** Begins to write a group. Resolves when there is room for the next one. */
  async add(lines: readonly Uint8Array[]): Promise<void> {
    const { mode, limiter, project } = this.#request.plan;
    const bytes = lines.reduce((sum, { length }) => sum + length, 0);
    const memory = this.#deps.bodyBudget.of(project);
    if (!memory.take(bytes)) throw tooManyBodies();
    let slot: Slot | undefined;
    const end = (): void => {
      memory.release(bytes);
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
    await Promise.all(this.#underWay);
    this.#requireNoFailure();
  }

  #requireNoFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #read(lines: readonly Uint8Array[], slot: Slot): Promise<readonly NumberedItem[]> {
    const items: NumberedItem[] = [];
    for (const bytes of lines) {
      const item = await this.#request.plan.limiter.runFairly(() => this.#file.read(bytes), slot);
      if (item !== undefined) items.push(item);
    }
    return items;
  }

  /** What may be written now. Begins again where the project has changed in between. */
  async #prepare(items: readonly NumberedItem[], slot: Slot): Promise<readonly ReadyLine[]> {
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

  async #sort(plan: ImportPlan, items: readonly NumberedItem[], slot: Slot): Promise<Sorted> {
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
