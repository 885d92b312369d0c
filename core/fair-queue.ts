// A queue of items that wait in groups, such as the namespaces of their Projects. Groups take
// turns, and each hands out the item that has waited longest: one group with thousands delays no
// other.

/** Whether a group may have a turn now. */
export type MayHave = (group: string) => boolean;

export class FairQueue<T> {
  /** Groups with items, in the order of their next turns. */
  readonly #order = new FifoSet<string>();
  readonly #items = new Map<string, FifoSet<T>>();
  /** The groups that each item waits in. */
  readonly #groupsOf = new Map<T, string[]>();

  get size(): number {
    return this.#groupsOf.size;
  }

  has(item: T): boolean {
    return this.#groupsOf.has(item);
  }

  /** An item may wait in several groups. It comes with the first turn of any of them, and once. */
  add(item: T, group: string): void {
    const groups = this.#groupsOf.get(item);
    if (groups?.includes(group)) return;
    if (groups === undefined) this.#groupsOf.set(item, [group]);
    else groups.push(group);
    let items = this.#items.get(group);
    if (items === undefined) {
      items = new FifoSet();
      this.#items.set(group, items);
      this.#order.add(group);
    }
    items.add(item);
  }

  /** A group that may not have its turn now has the next one after all others. */
  shift(mayHave: MayHave = () => true): T | undefined {
    for (let left = this.#items.size; left > 0; left -= 1) {
      const group = this.#order.takeFirst();
      if (group === undefined) return undefined;
      this.#order.add(group);
      if (!mayHave(group)) continue;
      const item = this.#items.get(group)?.first();
      if (item !== undefined) this.remove(item);
      return item;
    }
    return undefined;
  }

  /** Whether it was there. */
  remove(item: T): boolean {
    const groups = this.#groupsOf.get(item);
    if (groups === undefined) return false;
    this.#groupsOf.delete(item);
    for (const group of groups) {
      const items = this.#items.get(group);
      items?.delete(item);
      if (items?.size !== 0) continue;
      this.#items.delete(group);
      this.#order.delete(group);
    }
    return true;
  }

  sizeOf(group: string): number {
    return this.#items.get(group)?.size ?? 0;
  }

  /** The group with the most items, and the one of them that came last. Passes over all groups. */
  largest(): { readonly group: string; readonly last: T } | undefined {
    const [first, ...others] = this.#items;
    if (first === undefined) return undefined;
    const [group, items] = others.reduce((most, each) => (each[1].size > most[1].size ? each : most), first);
    return { group, last: items.last() as T };
  }

  clear(): void {
    this.#order.clear();
    this.#items.clear();
    this.#groupsOf.clear();
  }
}

/**
 * First in, first out, as a Set keeps its order. One iterator serves all calls, and covers items
 * that are added later: a new one for each call would pass over everything that was deleted since
 * the Set's table was last made smaller.
 */
class FifoSet<T> {
  readonly #set = new Set<T>();
  #iterator = this.#set.values();
  /** Where the iterator stands; undefined once that was deleted. */
  #first: T | undefined;

  get size(): number {
    return this.#set.size;
  }

  add(item: T): void {
    this.#set.add(item);
  }

  delete(item: T): void {
    this.#set.delete(item);
    if (item === this.#first) this.#first = undefined;
    // An iterator that is not advanced keeps every former table of the Set in memory.
    if (this.#set.size === 0) this.#iterator = this.#set.values();
  }

  first(): T | undefined {
    if (this.#first !== undefined || this.#set.size === 0) return this.#first;
    let { value, done } = this.#iterator.next();
    // An iterator that has come to the end stays there.
    if (done) {
      this.#iterator = this.#set.values();
      ({ value } = this.#iterator.next());
    }
    this.#first = value;
    return value;
  }

  last(): T | undefined {
    return [...this.#set].at(-1);
  }

  takeFirst(): T | undefined {
    const item = this.first();
    if (item !== undefined) this.delete(item);
    return item;
  }

  clear(): void {
    this.#set.clear();
    this.#first = undefined;
    this.#iterator = this.#set.values();
  }
}
