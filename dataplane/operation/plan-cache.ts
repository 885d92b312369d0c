// A cache of plans by key, each valid until something of its project changes. Bounded by memory;
// evicts by SIEVE (Zhang et al., NSDI 2024): the oldest plan that was not used since the last pass.
// So keys that come once, such as made-up queries, evict each other only, and a use costs one
// assignment.

import type { RequestShape } from "../route/request-target.ts";

export interface PlanCache<Plan> {
  find(key: string): Plan | undefined;
  /** Grows with every change of configuration. */
  generation(): number;
  /** Whether nothing of the project changed since this generation; false for NaN. */
  isCurrent(project: string, generation: number): boolean;
  put(shape: CachedShape, plan: Plan, from: PlanSource): void;
  forget(key: string): void;
  /** Something changed that plans of this project were made from. */
  drop(project: string): void;
}

type CachedShape = Pick<RequestShape, "key" | "targetLength" | "queryLength">;

interface PlanSource {
  /** `<namespace>/<name>` of the project. */
  readonly project: string;
  /** `generation()` before anything was looked up for the plan. */
  readonly generation: number;
}

interface Entry<Plan> {
  readonly key: string;
  readonly plan: Plan;
  readonly project: string;
  readonly bytes: number;
  isUsed: boolean;
  older: Entry<Plan> | undefined;
  newer: Entry<Plan> | undefined;
}

/** All plans of a replica: some ten thousand for API keys, fewer for tokens. */
const maxBytes = 16 * 1024 * 1024;
/** A few larger ones would evict all others. */
const maxPlanBytes = 64 * 1024;
/** What plans of objects and values take, measured with their counters and callers. */
const usualBytes = 2_048;
/** Memory of a parsed query, measured with every operator: for each character of its text … */
const bytesPerQueryCharacter = 96;
/** … and for each of its parameters. */
const bytesPerParameter = 1_536;

export function createPlanCache<Plan extends {}>(limit = maxBytes): PlanCache<Plan> {
  const entries = new Map<string, Entry<Plan>>();
  const ofProject = new Map<string, Set<Entry<Plan>>>();
  /** The generation with which each project changed last. */
  const changedWith = new Map<string, number>();
  const evictionList = createEvictionList<Plan>();
  let bytes = 0;
  let generation = 0;

  const remove = (each: Entry<Plan>): void => {
    entries.delete(each.key);
    evictionList.remove(each);
    bytes -= each.bytes;
    const siblings = ofProject.get(each.project);
    siblings?.delete(each);
    if (siblings?.size === 0) ofProject.delete(each.project);
  };

  const makeRoom = (needed: number): void => {
    while (bytes + needed > limit) {
      const each = evictionList.next();
      if (each === undefined) return;
      if (each.isUsed) each.isUsed = false;
      else remove(each);
    }
  };

  const add = (each: Entry<Plan>): void => {
    makeRoom(each.bytes);
    entries.set(each.key, each);
    evictionList.add(each);
    bytes += each.bytes;
    const siblings = ofProject.get(each.project);
    if (siblings === undefined) ofProject.set(each.project, new Set([each]));
    else siblings.add(each);
  };

  const forget = (key: string): void => {
    const each = entries.get(key);
    if (each !== undefined) remove(each);
  };

  return {
    find(key) {
      const each = entries.get(key);
      if (each === undefined) return undefined;
      each.isUsed = true;
      return each.plan;
    },
    generation: () => generation,
    isCurrent: (project, before) => before >= (changedWith.get(project) ?? 0),
    put(shape, plan, { project, generation: before }) {
      if (before !== generation) return;
      const { key } = shape;
      const size = bytesOf(shape);
      if (size > Math.min(maxPlanBytes, limit)) return;
      // Two requests may have been decided at once.
      forget(key);
      add({ key, plan, project, bytes: size, isUsed: false, older: undefined, newer: undefined });
    },
    forget,
    drop(project) {
      generation += 1;
      changedWith.set(project, generation);
      for (const each of ofProject.get(project) ?? []) remove(each);
    },
  };
}

/** An upper bound, but for some kinds of filters by a tenth. */
function bytesOf({ key, targetLength, queryLength }: CachedShape): number {
  const query = key.slice(key.length - queryLength);
  const parameters = queryLength === 0 ? 0 : query.split("&").length;
  // One byte a character in Node. The key counts twice, for what is made of it.
  const texts = 2 * key.length + targetLength;
  return usualBytes + texts + bytesPerQueryCharacter * queryLength + bytesPerParameter * parameters;
}

interface EvictionList<Plan> {
  add(each: Entry<Plan>): void;
  remove(each: Entry<Plan>): void;
  /** From old to new, then from the oldest again; undefined where there is none. */
  next(): Entry<Plan> | undefined;
}

/** An iterator of the map, kept between two uses, would keep every table that the map ever had. */
function createEvictionList<Plan>(): EvictionList<Plan> {
  let oldest: Entry<Plan> | undefined;
  let newest: Entry<Plan> | undefined;
  let hand: Entry<Plan> | undefined;
  return {
    add(each) {
      each.older = newest;
      if (newest === undefined) oldest = each;
      else newest.newer = each;
      newest = each;
    },
    remove(each) {
      const { older, newer } = each;
      if (older === undefined) oldest = newer;
      else older.newer = newer;
      if (newer === undefined) newest = older;
      else newer.older = older;
      if (hand === each) hand = newer;
    },
    next() {
      const each = hand ?? oldest;
      hand = each?.newer;
      return each;
    },
  };
}
