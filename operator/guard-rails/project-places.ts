// The order in which the Projects of a namespace count towards maxProjects: the oldest first, so that a new Project never displaces an older
// one. Creation timestamps have a resolution of one second: among Projects created in the same second, those that already had a place come
// first, then those seen first. `put` and `remove` return the keys of Projects that must be reconciled again.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Project } from "../model/objects.ts";
import { isDeleting } from "../model/project-objects.ts";
import { hadPlace } from "./count-limits.ts";

export interface ProjectPlaces {
  /** Takes over a Project as it is now. Returns the keys of other Projects that get or lose a place among the allowed ones by that. */
  put(project: Project): readonly string[];
  remove(ref: ProjectRef): readonly string[];
  /** The Project's number among those of its namespace, beginning with 1; of one that is not counted, the next free one. */
  placeOf(ref: ProjectRef): number;
}

interface Counted {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Unix milliseconds. */
  readonly created: number;
  /** Of those that were created in the same second. */
  readonly rank: number;
}

/** Rank within one second, from the status: it had a place, or it had none. A Project without a status gets the next number. */
const first = 0;
const second = 1;

/** `maxOf` a namespace: how many are allowed; undefined = any number. */
export function createProjectPlaces(maxOf: (namespace: string) => number | undefined): ProjectPlaces {
  /** By namespace, the first first. */
  const orders = new Map<string, Counted[]>();
  const counted = new Map<string, Counted>();
  let lastRank = second;

  const rankOf = (project: Project): number => {
    const had = hadPlace(project);
    if (had !== undefined) return had ? first : second;
    lastRank += 1;
    return lastRank;
  };

  const add = (project: Counted): readonly string[] => {
    const order = orders.get(project.namespace) ?? [];
    orders.set(project.namespace, order);
    const index = indexIn(order, project);
    order.splice(index, 0, project);
    counted.set(keyOfProject(project), project);
    const max = maxOf(project.namespace);
    return max === undefined || index >= max ? [] : keysAt(order, max);
  };

  const take = (project: Counted): readonly string[] => {
    const order = orders.get(project.namespace) ?? [];
    const index = indexIn(order, project);
    order.splice(index, 1);
    if (order.length === 0) orders.delete(project.namespace);
    counted.delete(keyOfProject(project));
    const max = maxOf(project.namespace);
    return max === undefined || index >= max ? [] : keysAt(order, max - 1);
  };

  return {
    put(project) {
      const { namespace, name, uid, creationTimestamp } = project.metadata;
      const former = counted.get(keyOfProject(project.metadata));
      const counts = !isDeleting(project);
      if (counts && former?.uid === uid) return [];
      const left = former === undefined ? [] : take(former);
      if (!counts) return left;
      const created = Date.parse(creationTimestamp);
      return [...left, ...add({ namespace, name, uid, created, rank: rankOf(project) })];
    },
    remove(ref) {
      const former = counted.get(keyOfProject(ref));
      return former === undefined ? [] : take(former);
    },
    placeOf(ref) {
      const order = orders.get(ref.namespace) ?? [];
      const project = counted.get(keyOfProject(ref));
      return (project === undefined ? order.length : indexIn(order, project)) + 1;
    },
  };
}

/** Where it is, or is to be put: no two are equal. */
function indexIn(order: readonly Counted[], project: Counted): number {
  let [low, high] = [0, order.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(order[middle] as Counted, project)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBefore(one: Counted, other: Counted): boolean {
  if (one.created !== other.created) return one.created < other.created;
  return one.rank === other.rank ? one.name < other.name : one.rank < other.rank;
}

function keysAt(order: readonly Counted[], index: number): readonly string[] {
  const project = order[index];
  return project === undefined ? [] : [keyOfProject(project)];
}
