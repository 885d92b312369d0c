// One reflector for all namespaces, or one for each of those that are named, behind one view:
// readers don't know which. A namespace that the server refuses to list, because the right to ask
// went with it, holds up none of the others.

import { pause } from "../../core/timers.ts";
import type { KubeObject, ListScope } from "../kube/api.ts";
import type { Watched } from "./object-cache.ts";
import { createReflector, type Reflector } from "./reflector.ts";
import type { ReflectorOptions } from "./reflector-options.ts";

export interface NamespacesOptions extends Omit<ReflectorOptions, "scope"> {
  readonly scope: Omit<ListScope, "namespace">;
  /** None = all. */
  readonly namespaces: readonly string[];
}

export interface NamespacesReflector extends Omit<Reflector, "isCurrent" | "confirm"> {
  /**
   * Whether what is kept of this namespace began with a complete list, and is not known to be
   * behind.
   */
  isCurrent(namespace: string): boolean;
  /**
   * Resolves once what is kept is no older than this call. Of named namespaces, those that the
   * server refuses to list are not known then; where all are asked for at once, it goes on asking.
   * Rejects when the signal is aborted.
   */
  confirm(signal: AbortSignal): Promise<void>;
}

const refusedMs = 1_000;

export function reflectNamespaces({ namespaces, scope, ...options }: NamespacesOptions): NamespacesReflector {
  if (namespaces.length === 0) {
    const reflector = createReflector({ ...options, scope });
    return {
      ...reflector,
      isCurrent: () => reflector.isCurrent(),
      async confirm(signal) {
        while (!(await reflector.confirm(signal))) await pause(options.timers, refusedMs, signal);
      },
    };
  }
  const byNamespace = new Map(
    [...new Set(namespaces)].map((namespace) => [
      namespace,
      createReflector({ ...options, scope: { ...scope, namespace } }),
    ]),
  );
  const reflectors = [...byNamespace.values()];
  return {
    watched: joined(byNamespace),
    isCurrent: (namespace) => byNamespace.get(namespace)?.isCurrent() ?? false,
    async confirm(signal) {
      await Promise.all(reflectors.map((reflector) => reflector.confirm(signal)));
    },
    forbidden: () => reflectors.every((reflector) => reflector.forbidden()),
    isMissing: () => reflectors.some((reflector) => reflector.isMissing()),
    start() {
      for (const reflector of reflectors) reflector.start();
    },
    async stop() {
      await Promise.all(reflectors.map((reflector) => reflector.stop()));
    },
    lastActivity: () => oldest(allowedOf(reflectors).map((reflector) => reflector.lastActivity())),
  };
}

function joined(byNamespace: ReadonlyMap<string, Reflector>): Watched {
  const of = ({ metadata }: KubeObject): Watched | undefined => byNamespace.get(metadata.namespace)?.watched;
  return {
    get: (namespace, name) => byNamespace.get(namespace)?.watched.get(namespace, name),
    *all() {
      for (const { watched } of byNamespace.values()) yield* watched.all();
    },
    // With nothing but refusals nothing is known.
    synced: () => {
      const reflectors = [...byNamespace.values()];
      const known = reflectors.filter(({ watched }) => watched.synced());
      return known.length > 0 && reflectors.every((each) => known.includes(each) || each.forbidden());
    },
    applyOwnWrite: (object) => of(object)?.applyOwnWrite(object),
    applyOwnDelete: (object) => of(object)?.applyOwnDelete(object),
  };
}

/** Those that the server answers, or all of them where it refuses all. */
function allowedOf(reflectors: readonly Reflector[]): readonly Reflector[] {
  const allowed = reflectors.filter((reflector) => !reflector.forbidden());
  return allowed.length === 0 ? reflectors : allowed;
}

/**
 * The one whose last activity is oldest says how old the view may be; undefined while one had none.
 */
function oldest(moments: readonly (number | undefined)[]): number | undefined {
  const known = moments.filter((moment) => moment !== undefined);
  return known.length < moments.length ? undefined : Math.min(...known);
}
