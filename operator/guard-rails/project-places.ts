// In which order the Projects of each namespace count towards the number that the platform allows: the oldest first, so that a new one
// takes no older one's place. Kept as Projects come and go. Names the keys of Projects that have to be looked at again.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Project } from "../model/objects.ts";
import { isDeleting } from "../model/project-objects.ts";
import { bySeniority, type Claimant } from "../model/seniority.ts";

export interface ProjectPlaces {
  /** Takes over a Project as it is now. Returns the keys of other Projects that get or lose a place among the allowed ones by that. */
  put(project: Project): readonly string[];
  remove(ref: ProjectRef): readonly string[];
  /** The Project's number among those of its namespace, beginning with 1; of one that is not counted, the next free one. */
  placeOf(ref: ProjectRef): number;
}

/** `isCounted`: whether this installation serves the Project. `maxOf` a namespace: how many are allowed; undefined = any number. */
export function createProjectPlaces(
  isCounted: (project: Project) => boolean,
  maxOf: (namespace: string) => number | undefined,
): ProjectPlaces {
  /** By namespace, the oldest first. */
  const orders = new Map<string, Claimant[]>();
  const counted = new Map<string, Claimant>();

  const add = (claimant: Claimant): readonly string[] => {
    const { namespace } = claimant.metadata;
    const order = orders.get(namespace) ?? [];
    orders.set(namespace, order);
    const index = indexIn(order, claimant);
    order.splice(index, 0, claimant);
    counted.set(keyOfProject(claimant.metadata), claimant);
    const max = maxOf(namespace);
    return max === undefined || index >= max ? [] : keysAt(order, max);
  };

  const take = (claimant: Claimant): readonly string[] => {
    const { namespace } = claimant.metadata;
    const order = orders.get(namespace) ?? [];
    const index = indexIn(order, claimant);
    order.splice(index, 1);
    if (order.length === 0) orders.delete(namespace);
    counted.delete(keyOfProject(claimant.metadata));
    const max = maxOf(namespace);
    return max === undefined || index >= max ? [] : keysAt(order, max - 1);
  };

  const remove: ProjectPlaces["remove"] = (ref) => {
    const former = counted.get(keyOfProject(ref));
    return former === undefined ? [] : take(former);
  };

  return {
    put(project) {
      const former = counted.get(keyOfProject(project.metadata));
      const counts = isCounted(project) && !isDeleting(project);
      if (counts && former?.metadata.uid === project.metadata.uid) return [];
      const left = former === undefined ? [] : take(former);
      const { metadata } = project;
      return counts ? [...left, ...add({ metadata })] : left;
    },
    remove,
    placeOf(ref) {
      const order = orders.get(ref.namespace) ?? [];
      const claimant = counted.get(keyOfProject(ref));
      return (claimant === undefined ? order.length : indexIn(order, claimant)) + 1;
    },
  };
}

/** Where it is, or is to be put: no two are equal. */
function indexIn(order: readonly Claimant[], claimant: Claimant): number {
  let [low, high] = [0, order.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bySeniority(order[middle] as Claimant, claimant) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function keysAt(order: readonly Claimant[], index: number): readonly string[] {
  const claimant = order[index];
  return claimant === undefined ? [] : [keyOfProject(claimant.metadata)];
}
