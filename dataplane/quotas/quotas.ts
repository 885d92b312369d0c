// The usage of every project that has a quota, kept while it has one; any other project costs one look at its configuration.

import type { Clock } from "../../core/clock.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Directory, LiveProject } from "../config/directory.ts";
import type { Store } from "../store/port.ts";
import { createByteCounter } from "./count-bytes.ts";
import type { Figures } from "./figures.ts";
import { guardedStore } from "./guarded-store.ts";
import { createProjectUsage, type ProjectUsage } from "./project-usage.ts";
import { readFigures } from "./read-figures.ts";

export interface Quotas {
  /** The store for the project's writes: the very store where there is no quota. */
  storeFor(project: LiveProject): Store;
  /** Ends the work in the background. */
  close(): Promise<void>;
}

interface Guarded {
  readonly usage: ProjectUsage;
  /** As of the last request; what the store is asked for follows it. */
  project: LiveProject;
  store: Store;
}

export function createQuotas(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly directory: Pick<Directory, "projects">;
}): Quotas {
  const { store, clock, directory } = deps;
  const guarded = new Map<string, Guarded>();
  const counter = createByteCounter(store);

  const read = async (project: LiveProject): Promise<Figures> => {
    const { figures, uncounted } = await readFigures(store, project);
    for (const collection of uncounted) counter.start(collection);
    return figures;
  };

  const guard = (project: LiveProject): Guarded => {
    forgetGone(guarded, directory.projects());
    const made: Guarded = {
      usage: createProjectUsage(() => read(made.project), clock),
      project,
      store,
    };
    guarded.set(nameOf(project.config), made);
    return made;
  };

  return {
    storeFor(project) {
      const { quota } = project.config.limits;
      if (quota === undefined) return store;
      const known = guarded.get(nameOf(project.config)) ?? guard(project);
      if (known.project !== project || known.store === store) {
        known.project = project;
        known.store = guardedStore(store, known.usage, quota);
      }
      return known.store;
    },
    close: counter.close,
  };
}

function forgetGone(guarded: Map<string, Guarded>, projects: readonly ProjectRef[]): void {
  const names = new Set(projects.map(nameOf));
  for (const name of guarded.keys()) if (!names.has(name)) guarded.delete(name);
}

function nameOf({ namespace, name }: ProjectRef): string {
  return `${namespace}/${name}`;
}
