// A collection as a page shows it: an array that follows what is stored. Own writes show at once,
// and are taken back if the server refuses them.

import type { LiveQuery, RequestOptions, ResourceChange, ResourceShape } from "./api.ts";
import { mergePatch } from "./merge-patch.ts";
import { type Comparison, orderOf } from "./order.ts";

/** What it needs of the resource. */
interface Source<R extends ResourceShape> {
  watch(query: LiveQuery<R>): AsyncIterable<ResourceChange<R["object"]>>;
  create(fields: R["create"], options?: RequestOptions): Promise<R["object"]>;
  update(id: string, patch: R["patch"], options?: RequestOptions): Promise<R["object"]>;
  edit(id: string, change: Change<R>, options?: RequestOptions): Promise<R["object"]>;
  delete(id: string, options?: RequestOptions): Promise<void>;
}

type Change<R extends ResourceShape> = (current: R["object"]) => R["patch"] | undefined;

/** A write that isn't in what the server has sent yet. */
interface Pending<Item> {
  readonly kind: "create" | "update" | "delete";
  /** Of the object; of one that isn't created yet, one of its own. */
  id: string;
  /** What it makes of what is stored. */
  apply: (stored: Item | undefined) => Item | undefined;
  /** Whether the server has carried it out. */
  isAnswered: boolean;
  /** Answered before it began: whatever has stored it has stored these, too. */
  readonly before: readonly Pending<Item>[];
  /** What it has stored. */
  etag?: string | undefined;
  /** Events since it began; without a tag, the object was deleted. */
  readonly events: { readonly id: string; readonly etag: string | undefined }[];
}

/** How long an own write may hide what another one, perhaps a later one, has stored. */
const unsureMs = 1_000;

/** For one loop. Its writes reject where the server refuses them, and are taken back. */
export class LiveList<R extends ResourceShape> implements AsyncIterable<readonly R["object"][]> {
  readonly #resource: Source<R>;
  readonly #etags: WeakMap<object, string>;
  readonly #query: LiveQuery<R>;
  readonly #compare: Comparison;
  readonly #stored = new Map<string, R["object"]>();
  readonly #pending = new Set<Pending<R["object"]>>();
  #changed = Promise.withResolvers<void>();
  #hasListed = false;

  constructor(resource: Source<R>, etags: WeakMap<object, string>, query: LiveQuery<R>) {
    this.#resource = resource;
    this.#etags = etags;
    this.#query = query;
    this.#compare = orderOf([query.sort ?? []].flat());
  }

  /** As they are shown now, in the order of `sort`. */
  get items(): readonly R["object"][] {
    const shown = new Map(this.#stored);
    for (const { kind, id, apply, isAnswered, events } of this.#pending) {
      const object = apply(shown.get(id));
      if (object === undefined) shown.delete(id);
      else shown.set(id, object);
      // One of these may be what is being created: it would be there twice.
      if (kind === "create" && !isAnswered) for (const event of events) shown.delete(event.id);
    }
    return [...shown.values()].sort(this.#compare);
  }

  /** The items at first and whenever they have changed; slow readers get only the newest. */
  async *[Symbol.asyncIterator](): AsyncGenerator<readonly R["object"][]> {
    const ending = new AbortController();
    const signal = AbortSignal.any([this.#query.signal ?? ending.signal, ending.signal]);
    let hasEnded = false;
    const following = this.#follow({ ...this.#query, signal }).finally(() => {
      hasEnded = true;
      this.#changed.resolve();
    });
    // Thrown below, once it is waited for.
    following.catch(() => undefined);
    try {
      while (!hasEnded) {
        await this.#changed.promise;
        this.#changed = Promise.withResolvers();
        if (this.#hasListed && !signal.aborted && !hasEnded) yield this.items;
      }
      await following;
    } finally {
      ending.abort();
    }
  }

  /** Shows it with an id of its own until the server has answered. */
  async create(fields: R["create"], options?: RequestOptions): Promise<R["object"]> {
    const id = `new-${crypto.randomUUID()}`;
    const pending = this.#show("create", id, () => ({ ...(fields as object), id }));
    return await this.#settle(pending, this.#resource.create(fields, options));
  }

  async update(id: string, patch: R["patch"], options?: RequestOptions): Promise<R["object"]> {
    const pending = this.#show("update", id, (stored) => stored && (mergePatch(stored, patch) as R["object"]));
    return await this.#settle(pending, this.#resource.update(id, patch, options));
  }

  /** Shows what `change` makes of the shown object, and stores what it makes of the stored one. */
  async edit(id: string, change: Change<R>, options?: RequestOptions): Promise<R["object"]> {
    const apply = (stored?: R["object"]) => {
      try {
        return stored && (mergePatch(stored, change(stored) ?? {}) as R["object"]);
      } catch {
        // The resource throws it, to the caller of this.
        return stored;
      }
    };
    return await this.#settle(this.#show("update", id, apply), this.#resource.edit(id, change, options));
  }

  async delete(id: string, options?: RequestOptions): Promise<void> {
    const pending = this.#show("delete", id, () => undefined);
    await this.#settle(pending, this.#resource.delete(id, options));
  }

  #show(kind: Pending<never>["kind"], id: string, apply: Pending<R["object"]>["apply"]): Pending<R["object"]> {
    const before = [...this.#pending].filter((other) => other.isAnswered && other.id === id);
    const pending = { kind, id, apply, isAnswered: false, before, events: [] };
    this.#pending.add(pending);
    this.#changed.resolve();
    return pending;
  }

  async #settle<T>(pending: Pending<R["object"]>, answer: Promise<T>): Promise<T> {
    try {
      const object = await answer;
      pending.isAnswered = true;
      if (object !== undefined) this.#note(pending, object as R["object"]);
      this.#dropIfStored(pending);
      return object;
    } catch (error) {
      this.#pending.delete(pending);
      throw error;
    } finally {
      this.#changed.resolve();
    }
  }

  #note(pending: Pending<R["object"]>, object: R["object"]): void {
    pending.id = object.id;
    pending.etag = this.#etags.get(object);
    if (pending.kind === "create") pending.apply = (stored) => stored ?? object;
  }

  /** The answer and the event of one write come in any order. */
  #dropIfStored(pending: Pending<R["object"]>): void {
    const { kind, id, isAnswered, etag } = pending;
    if (!isAnswered) return;
    const stored = this.#stored.get(id);
    const events = pending.events.filter((event) => event.id === id);
    const isStored = {
      create: stored !== undefined || events.length > 0,
      update: events.some((event) => event.etag === etag || event.etag === undefined) || this.#tagOf(stored) === etag,
      delete: stored === undefined,
    };
    if (isStored[kind]) for (const each of [pending, ...pending.before]) this.#pending.delete(each);
    // The event may be that of an earlier write, or of a later one that replaces its own.
    else if (kind === "update" && events.length > 0) setTimeout(() => this.#drop(pending), unsureMs);
  }

  #drop(pending: Pending<R["object"]>): void {
    if (this.#pending.delete(pending)) this.#changed.resolve();
  }

  async #follow(query: LiveQuery<R>): Promise<void> {
    for await (const change of this.#resource.watch(query)) {
      this.#take(change);
      this.#changed.resolve();
    }
  }

  #take(change: ResourceChange<R["object"]>): void {
    if (change.kind === "list") {
      this.#takeList(change.objects);
      return;
    }
    const { id } = change;
    this.#noteEvent(id, change.kind === "put" ? this.#tagOf(change.object) : undefined);
    if (change.kind === "put") this.#stored.set(id, change.object);
    else this.#stored.delete(id);
    for (const pending of this.#pending) this.#dropIfStored(pending);
  }

  /** What was carried out before is in the list. */
  #takeList(objects: readonly R["object"][]): void {
    for (const pending of this.#pending) if (pending.isAnswered) this.#pending.delete(pending);
    for (const object of objects) this.#noteEvent(object.id, this.#tagOf(object));
    this.#stored.clear();
    // To sort later what is nearly sorted is quick.
    for (const object of objects.toSorted(this.#compare)) this.#stored.set(object.id, object);
    this.#hasListed = true;
  }

  #noteEvent(id: string, etag: string | undefined): void {
    for (const { kind, events } of this.#pending) {
      if (kind !== "create" || !this.#stored.has(id)) events.push({ id, etag });
    }
  }

  #tagOf(object: R["object"] | undefined): string | undefined {
    return object && this.#etags.get(object);
  }
}
