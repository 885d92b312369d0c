// One reflector for all namespaces, or one for each of those that are named, behind one view: whoever looks doesn't know which.

import type { KubeObject, ListScope } from "../kube/api.ts";
import { createReflector, type Reflector, type ReflectorOptions } from "./reflector.ts";
import type { Watched } from "./watched.ts";

export interface NamespacesOptions extends Omit<ReflectorOptions, "scope"> {
  readonly scope: Omit<ListScope, "namespace">;
  /** None = all. */
  readonly namespaces: readonly string[];
}

export function reflectNamespaces({ namespaces, scope, ...options }: NamespacesOptions): Reflector {
  if (namespaces.length === 0) return createReflector({ ...options, scope });
  const byNamespace = new Map(
    [...new Set(namespaces)].map((namespace) => [
      namespace,
      createReflector({ ...options, scope: { ...scope, namespace } }),
    ]),
  );
  const reflectors = [...byNamespace.values()];
  return {
    watched: joined(byNamespace),
    start() {
      for (const reflector of reflectors) reflector.start();
    },
    async stop() {
      await Promise.all(reflectors.map((reflector) => reflector.stop()));
    },
    lastActivity: () => oldest(reflectors.map((reflector) => reflector.lastActivity())),
  };
}

function joined(byNamespace: ReadonlyMap<string, Reflector>): Watched {
  const of = ({ metadata }: KubeObject): Watched | undefined => byNamespace.get(metadata.namespace)?.watched;
  return {
    get: (namespace, name) => byNamespace.get(namespace)?.watched.get(namespace, name),
    *all() {
      for (const { watched } of byNamespace.values()) yield* watched.all();
    },
    synced: () => [...byNamespace.values()].every(({ watched }) => watched.synced()),
    note: (object) => of(object)?.note(object),
    noteRemoved: (object) => of(object)?.noteRemoved(object),
  };
}

/** The one that was heard longest ago says how old the view may be; undefined while one was never heard. */
function oldest(moments: readonly (number | undefined)[]): number | undefined {
  const known = moments.filter((moment) => moment !== undefined);
  return known.length < moments.length ? undefined : Math.min(...known);
}
