// Who of those that wait is next: the namespace with the fewest places of its own has its turn, and of those with equally many the one whose last
// turn is longest ago. So nobody waits for all that somebody else has asked for. What several namespaces ask for waits once for each.

export interface Asked {
  /** As `<namespace>/<name>`. */
  readonly projects: ReadonlySet<string>;
}

export class FairWaiting<T extends Asked> {
  readonly #maxOfNamespace: number;
  /** By namespace, in the order of their last turns. */
  readonly #lanes = new Map<string, Set<T>>();

  constructor(maxOfNamespace: number) {
    this.#maxOfNamespace = maxOfNamespace;
  }

  /** Also where it waits already, and more projects ask for it. */
  add(asked: T): void {
    for (const namespace of namespacesOf(asked)) this.#addTo(namespace, asked);
  }

  /** For `project`, too, which may not ask for it any more. */
  remove(asked: T, project?: string): void {
    const namespaces = namespacesOf(asked);
    for (const namespace of project === undefined ? namespaces : namespaces.add(namespaceOf(project))) {
      const lane = this.#lanes.get(namespace);
      lane?.delete(asked);
      if (lane?.size === 0) this.#lanes.delete(namespace);
    }
  }

  /** Undefined while every namespace that waits has as many places as it may. */
  take(underWay: Iterable<T>): T | undefined {
    const places = new Map<string, number>();
    for (const each of underWay) {
      for (const namespace of namespacesOf(each)) places.set(namespace, (places.get(namespace) ?? 0) + 1);
    }
    let next: string | undefined;
    let fewest = this.#maxOfNamespace;
    for (const namespace of this.#lanes.keys()) {
      const taken = places.get(namespace) ?? 0;
      if (taken < fewest) [next, fewest] = [namespace, taken];
    }
    const [asked] = this.#lanes.get(next ?? "") ?? [];
    if (next === undefined || asked === undefined) return undefined;
    this.remove(asked);
    this.#moveToEnd(next);
    return asked;
  }

  clear(): void {
    this.#lanes.clear();
  }

  #addTo(namespace: string, asked: T): void {
    const lane = this.#lanes.get(namespace);
    if (lane === undefined) this.#lanes.set(namespace, new Set([asked]));
    else lane.add(asked);
  }

  #moveToEnd(namespace: string): void {
    const lane = this.#lanes.get(namespace);
    if (lane === undefined) return;
    this.#lanes.delete(namespace);
    this.#lanes.set(namespace, lane);
  }
}

function namespacesOf({ projects }: Asked): Set<string> {
  return new Set([...projects].map(namespaceOf));
}

function namespaceOf(project: string): string {
  return project.slice(0, project.indexOf("/"));
}
