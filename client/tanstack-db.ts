// A collection of TanStack DB that follows a resource. Its writes wait while no answer comes, and
// are taken back where the server refuses them.

import type { BaseCollectionConfig, CollectionConfig, PendingMutation, SyncConfig } from "@tanstack/db";
import type { ApiShape, ResourceChange, ResourceName, ResourceOf, ResourceShape, WatchQuery } from "./api.ts";
import type { Client } from "./index.ts";
import { pause } from "./pause.ts";
import { create, type Fields, remove, type UntypedResource, update } from "./until-answered.ts";
import { changesBetween } from "./writes.ts";

/** An object. The server adds `_metadata`. */
export type RowOf<A extends ApiShape, Name extends ResourceName<A>> = Row<ResourceOf<A, Name>["object"]>;
type Row<Item> = Omit<Item, "_metadata"> & { readonly _metadata?: Item[keyof Item & "_metadata"] };

export interface JsonplaneCollectionConfig<A extends ApiShape, Name extends ResourceName<A>>
  extends Pick<BaseCollectionConfig<RowOf<A, Name>, string>, "id" | "gcTime" | "startSync" | "autoIndex">,
    Omit<WatchQuery<ResourceOf<A, Name>>, "signal"> {
  readonly client: Client<A>;
  /** It has to declare `spec.changes`. */
  readonly resource: Name;
  /**
   * By default `id`: then a new row has an id of its own until the server has given it another one.
   * With a field that is unique on the server, a row keeps its key.
   */
  readonly getKey?: ((row: RowOf<A, Name>) => string) | undefined;
  /** Told why it follows the resource no more, once it is ready: else that is not handled. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** For `createCollection`. */
export function jsonplaneCollectionOptions<A extends ApiShape, Name extends ResourceName<A>>(
  config: JsonplaneCollectionConfig<A, Name>,
): CollectionConfig<RowOf<A, Name>, string> {
  const { client, resource, getKey = idOf, filter, pageSize, onState, onError, ...passed } = config;
  // Within, nothing is known of the fields.
  const rows = new Rows(client as unknown as Client, resource, getKey as (row: Fields) => string);
  const follow = (sync: Sync) => {
    const ending = new AbortController();
    const { signal } = ending;
    rows.follow(sync, { filter: filter ?? {}, pageSize, onState, signal }).catch((error: unknown) => {
      if (signal.aborted) return;
      if (sync.collection.status === "loading") sync.markError(error);
      else if (onError === undefined) throw error;
      else onError(error);
    });
    return () => ending.abort();
  };
  const written = async ({ transaction }: { readonly transaction: { readonly mutations: readonly Mutation[] } }) => {
    await Promise.all(transaction.mutations.map((each) => rows.write(each)));
  };
  const handlers = { onInsert: written, onUpdate: written, onDelete: written };
  const options = { ...passed, getKey, sync: { rowUpdateMode: "full", sync: follow }, ...handlers };
  return options as unknown as CollectionConfig<RowOf<A, Name>, string>;
}

type Sync = Parameters<SyncConfig<Fields, string>["sync"]>[0];
type Mutation = PendingMutation<Fields>;
interface Told {
  readonly key: string;
  readonly object: Fields;
}
interface Answer {
  readonly type: Mutation["type"];
  readonly object: Fields;
  /** Inserted here, and perhaps not told yet. */
  readonly isNew: boolean;
}

const idOf = (row: object) => (row as Fields).id;
/** What a copy of a row has besides its fields: the server's, and the library's own. */
const added = new Set(["id", "_metadata", "$synced", "$origin", "$key", "$collectionId", "$hasPendingWrites"]);
const fieldsOf = (row: object) => Object.fromEntries(Object.entries(row).filter(([name]) => !added.has(name)));
/** How long an answered write may hide what has replaced it. */
const unsureMs = 1_000;

class Rows {
  readonly #client: Client;
  readonly #resource: UntypedResource;
  readonly #getKey: (row: Fields) => string;
  /** What the server has told, by ids. */
  readonly #told = new Map<string, Told>();
  /** The ids of the rows: while it lists, two objects may have one key after the other. */
  readonly #ids = new Map<string, string>();
  /** The last write of each key that is under way. */
  readonly #last = new Map<string, Promise<Fields>>();
  /** The last answer to a write of each object that has not been told yet. */
  readonly #answers = new Map<string, Answer>();
  #changed = Promise.withResolvers<void>();
  /** Resolved while the stream is there; undefined where nothing is followed. */
  #live: PromiseWithResolvers<void> | undefined;

  constructor(client: Client, resource: string, getKey: (row: Fields) => string) {
    this.#client = client;
    this.#resource = client.resource(resource);
    this.#getKey = getKey;
  }

  async follow(sync: Sync, query: WatchQuery<ResourceShape>): Promise<void> {
    let live = Promise.withResolvers<void>();
    this.#live = live;
    const onState = (state: "live" | "reconnecting") => {
      if (state === "live") live.resolve();
      else this.#live = live = Promise.withResolvers();
      query.onState?.(state);
    };
    try {
      for await (const change of this.#resource.watch({ ...(query as object), onState })) {
        sync.begin();
        this.#take(change, sync);
        sync.commit();
        if (change.kind === "list") sync.markReady();
        this.#tell();
      }
    } finally {
      if (this.#live === live) this.#live = undefined;
      this.#tell();
    }
  }

  #take(change: ResourceChange<Fields>, sync: Sync): void {
    if (change.kind === "list") {
      sync.truncate();
      this.#told.clear();
      this.#ids.clear();
      for (const object of change.objects) this.#put(object, sync);
    } else if (change.kind === "put") {
      this.#put(change.object, sync);
    } else {
      this.#remove(change.id, sync);
    }
  }

  #put(object: Fields, sync: Sync): void {
    const key = this.#getKey(object);
    if (this.#told.get(object.id)?.key !== key) this.#remove(object.id, sync);
    sync.write({ type: this.#ids.has(key) ? "update" : "insert", value: object });
    this.#told.set(object.id, { key, object });
    this.#ids.set(key, object.id);
  }

  #remove(id: string, { write }: Sync): void {
    const key = this.#told.get(id)?.key;
    this.#told.delete(id);
    if (key === undefined || this.#ids.get(key) !== id) return;
    this.#ids.delete(key);
    write({ type: "delete", key });
  }

  #tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** After those of the same key; done once the collection shows what is stored. */
  async write(mutation: Mutation): Promise<void> {
    const key = String(mutation.key);
    const seen = this.#seen(mutation.original as Fields);
    const leaving = new AbortController();
    // Nothing goes out in another one's name; what the server says of this one comes first.
    const stop = this.#client.onAuthStateChange(() => setTimeout(() => leaving.abort()));
    const before = this.#last.get(key)?.catch(() => undefined) ?? Promise.resolve(undefined);
    const written = before.then((own) => this.#send(mutation, own ?? seen, leaving.signal));
    this.#last.set(key, written);
    try {
      const object = await written;
      const isNew = (mutation.original as Partial<Fields>).id !== object.id;
      this.#answers.set(object.id, { type: mutation.type, object, isNew });
      await this.#until(() => this.#isShown(object.id));
      if (this.#last.get(key) === written) this.#answers.delete(object.id);
    } catch (error) {
      // What is stored in its place.
      if (this.#client.isProblem(error) && [404, 412].includes(error.status))
        await this.#until(() => !this.#isNewest(seen));
      throw error;
    } finally {
      stop();
      if (this.#last.get(key) === written) this.#last.delete(key);
    }
  }

  /** What is stored, as far as the person who writes knows. */
  #seen(original: Fields): Fields {
    const isStored = this.#client.etagOf(original) !== undefined;
    return isStored ? original : (this.#told.get(original.id)?.object ?? original);
  }

  /** What is stored then; of what is deleted, what was. */
  async #send({ type, original, modified }: Mutation, seen: Fields, signal: AbortSignal): Promise<Fields> {
    signal.throwIfAborted();
    if (type === "insert") return await create(this.#resource, fieldsOf(modified), signal);
    const write = { client: this.#client, resource: this.#resource, seen, signal };
    if (type === "update") return await update(write, changesBetween(fieldsOf(original), fieldsOf(modified)));
    await remove(write);
    return seen;
  }

  /** Whether the last of one's own writes is what the server has told. */
  #isShown(id: string): boolean {
    const answer = this.#answers.get(id);
    if (answer === undefined) return true;
    if (!this.#told.has(id)) return answer.type === "delete" || !answer.isNew;
    return answer.type === "insert" || (answer.type === "update" && this.#isNewest(answer.object));
  }

  #isNewest(object: Fields): boolean {
    const told = this.#told.get(object.id);
    return told !== undefined && this.#client.etagOf(told.object) === this.#client.etagOf(object);
  }

  /** A moment at most: several changes of an object may be told as one. */
  async #until(isTold: () => boolean): Promise<void> {
    let isLate = false;
    const waiting = this.#live?.promise.then(() => pause(unsureMs));
    const late = waiting?.then(() => {
      isLate = true;
    });
    while (!isTold() && this.#live !== undefined && !isLate) await Promise.race([this.#changed.promise, late]);
  }
}
