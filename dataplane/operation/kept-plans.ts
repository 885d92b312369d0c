// Plans that were decided for earlier requests, by key, each until something of its project changes: what is in here may be used. Bounded
// by memory; which one makes room is found by SIEVE (Zhang and others, NSDI 2024): the oldest one that was not used since it was last
// looked at. So keys that come once, such as made-up queries, push out each other and nothing that is used, and a use costs one assignment.

import type { RequestShape } from "../route/request-target.ts";

export interface KeptPlans<Plan> {
  find(key: string): Plan | undefined;
  /** Grows with every change, and is only compared for equality: a plan may be kept with the generation in which it was decided. */
  generation(): number;
  keep(shape: KeptShape, plan: Plan, from: PlanSource): void;
  forget(key: string): void;
  /** Something changed that plans of this project were made from. */
  drop(project: string): void;
}

type KeptShape = Pick<RequestShape, "key" | "targetLength" | "queryLength">;

interface PlanSource {
  /** `<namespace>/<name>` of the project. */
  readonly project: string;
  /** `generation()` before anything was looked up for the plan. If it is another one now, the plan may be outdated already. */
  readonly generation: number;
}

interface Kept<Plan> {
  readonly key: string;
  readonly plan: Plan;
  readonly project: string;
  readonly bytes: number;
  isUsed: boolean;
  older: Kept<Plan> | undefined;
  newer: Kept<Plan> | undefined;
}

/** All plans of a replica: some ten thousand for API keys, fewer for tokens, whose text is longer. */
const maxBytes = 16 * 1024 * 1024;
/** Larger ones are not kept: a few of them would take the place of all others. */
const maxPlanBytes = 64 * 1024;
/** What plans of objects and values take, measured with their counters and callers. */
const usualBytes = 2_048;
/** What a query takes as an object, measured for filters of every operator, with up to twenty indexes: for each character that it has as text … */
const bytesPerQueryCharacter = 96;
/** … and for each of its parameters. */
const bytesPerParameter = 1_536;

export function createKeptPlans<Plan extends {}>(limit = maxBytes): KeptPlans<Plan> {
  const kept = new Map<string, Kept<Plan>>();
  const ofProject = new Map<string, Set<Kept<Plan>>>();
  const evictionList = createEvictionList<Plan>();
  let bytes = 0;
  let generation = 0;

  const remove = (each: Kept<Plan>): void => {
    kept.delete(each.key);
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

  const add = (each: Kept<Plan>): void => {
    makeRoom(each.bytes);
    kept.set(each.key, each);
    evictionList.add(each);
    bytes += each.bytes;
    const siblings = ofProject.get(each.project);
    if (siblings === undefined) ofProject.set(each.project, new Set([each]));
    else siblings.add(each);
  };

  const forget = (key: string): void => {
    const each = kept.get(key);
    if (each !== undefined) remove(each);
  };

  return {
    find(key) {
      const each = kept.get(key);
      if (each === undefined) return undefined;
      each.isUsed = true;
      return each.plan;
    },
    generation: () => generation,
    keep(shape, plan, { project, generation: before }) {
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
      for (const each of ofProject.get(project) ?? []) remove(each);
    },
  };
}

/** An upper bound, but for some kinds of filters by a tenth. */
function bytesOf({ key, targetLength, queryLength }: KeptShape): number {
  const query = key.slice(key.length - queryLength);
  const parameters = queryLength === 0 ? 0 : query.split("&").length;
  // Node reads both as one byte a character. The key counts twice, for what is made of it; parts of the target are kept with the whole.
  const texts = 2 * key.length + targetLength;
  return usualBytes + texts + bytesPerQueryCharacter * queryLength + bytesPerParameter * parameters;
}

interface EvictionList<Plan> {
  add(each: Kept<Plan>): void;
  remove(each: Kept<Plan>): void;
  /** From old to new, then from the oldest again; undefined where there is none. */
  next(): Kept<Plan> | undefined;
}

/** A list of its own: an iterator of the map, kept between two uses, would hold every table that the map ever had. */
function createEvictionList<Plan>(): EvictionList<Plan> {
  let oldest: Kept<Plan> | undefined;
  let newest: Kept<Plan> | undefined;
  let hand: Kept<Plan> | undefined;
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
