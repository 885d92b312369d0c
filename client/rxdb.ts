// A replication of RxDB with a resource: documents lie where RxDB stores them, and edits go on
// without a network. The primary key is a field that is unique on the server, because the server
// gives an object its id only when it creates it.

import type { RxCollection, RxReplicationPullStreamItem, RxReplicationWriteToMasterRow, WithDeleted } from "rxdb";
import { type RxReplicationState, replicateRxCollection } from "rxdb/plugins/replication";
import { Subject } from "rxjs";
import { backoffMs } from "../core/backoff.ts";
import type { ApiShape, ResourceName } from "./api.ts";
import type { Client } from "./index.ts";
import { isSame } from "./merge-patch.ts";
import { pause } from "./pause.ts";
import type { Problem } from "./problem.ts";
import type { Fields } from "./until-answered.ts";
import { changesBetween, operationsOf } from "./writes.ts";

/** A place in the log of changes. */
export interface Checkpoint {
  readonly position: string;
}

export interface JsonplaneReplication<T, A extends ApiShape> {
  readonly client: Client<A>;
  /** It has to declare `spec.changes`, and the primary key in `spec.unique`. */
  readonly resource: ResourceName<A>;
  /** Its documents have those fields of the objects that its schema has, and never their `id`. */
  readonly collection: RxCollection<T>;
  /** Told what the server has refused: the document is then as it is there, or gone. */
  readonly onRefused?: ((problem: Problem, document: WithDeleted<T>) => void) | undefined;
  /** By default of the resource: several servers, or people, each need another one. */
  readonly replicationIdentifier?: string | undefined;
  /** Objects of one page while it reads what is stored; 100 by default. */
  readonly pageSize?: number | undefined;
  readonly live?: boolean | undefined;
  readonly retryTime?: number | undefined;
  readonly waitForLeadership?: boolean | undefined;
}

/** Runs until it is cancelled. It begins with all that is stored; `error$` tells what fails. */
export function replicateJsonplane<T, A extends ApiShape>(
  options: JsonplaneReplication<T, A>,
): RxReplicationState<T, Checkpoint> {
  const { client, resource, pageSize = 100, live = true, retryTime = 5_000, waitForLeadership = true } = options;
  const { replicationIdentifier = `jsonplane-${resource}`, onRefused = () => undefined } = options;
  // Within, nothing is known of the fields.
  const collection = options.collection as unknown as RxCollection<Document>;
  const refused = onRefused as unknown as Remote["onRefused"];
  const remote = new Remote({
    client: client as unknown as Client,
    resource,
    collection,
    pageSize,
    onRefused: refused,
  });
  const pull = { handler: (from: Checkpoint | undefined) => remote.pull(from), stream$: remote.changes };
  const push = { handler: (rows: Row[]) => remote.push(rows), batchSize: 20 };
  const shared = { replicationIdentifier, live, retryTime, waitForLeadership };
  const state = replicateRxCollection<Document, Checkpoint>({ ...shared, collection, pull, push });
  if (live) void remote.follow(state);
  return state as unknown as RxReplicationState<T, Checkpoint>;
}

type Document = Readonly<Record<string, unknown>>;
type Row = RxReplicationWriteToMasterRow<Document>;
interface Pulled {
  readonly documents: WithDeleted<Document>[];
  readonly checkpoint: Checkpoint;
}
interface Listed {
  readonly items: readonly Fields[];
  readonly links: { readonly next?: string };
}
interface Changed {
  readonly changes: readonly {
    readonly event: string;
    readonly data: { readonly id: string; readonly object?: Fields };
  }[];
  readonly position: string;
  readonly more: boolean;
}
interface Options {
  readonly client: Client;
  readonly resource: string;
  readonly collection: RxCollection<Document>;
  readonly pageSize: number;
  readonly onRefused: (problem: Problem, document: WithDeleted<Document>) => void;
}

const policy = { firstMs: 1_000, maxMs: 30_000, jitter: 0.5 };
const waitSeconds = 20;
/** An answer that isn't there by then was lost. */
const silentMs = 45_000;

class Remote {
  readonly changes = new Subject<RxReplicationPullStreamItem<Document, Checkpoint>>();
  readonly onRefused: Options["onRefused"];
  readonly #options: Options;
  readonly #path: string;
  readonly #primary: string;
  readonly #names: ReadonlySet<string>;
  /** Primary keys that an object has had: RxDB may ask again for what it was told. */
  readonly #keys = new Map<string, Set<string>>();
  /** The ids of the objects that had a primary key last. */
  readonly #owners = new Map<string, string>();
  /** The last own write of each primary key, and what the server has made of it. */
  readonly #written = new Map<string, { readonly sent: Document | undefined; readonly stored: Document | undefined }>();
  /** Undefined: what is stored has to be read first. */
  #position: string | undefined;
  #pulled = Promise.withResolvers<void>();

  constructor(options: Options) {
    this.#options = options;
    this.onRefused = options.onRefused;
    this.#path = `/api/${encodeURIComponent(options.resource)}`;
    const { primaryPath, jsonSchema } = options.collection.schema;
    this.#primary = primaryPath;
    const own = ["id", "_deleted", "_rev", "_meta", "_attachments"];
    this.#names = new Set(Object.keys(jsonSchema.properties).filter((name) => !own.includes(name)));
  }

  /** From where RxDB has stored everything: it drops changes while it is paused, or pulls. */
  async pull(from: Checkpoint | undefined): Promise<Pulled> {
    const isBegun = this.#position !== undefined && from !== undefined;
    const pulled = await (isBegun ? this.#since(from.position) : this.#all()).catch(async (error: unknown) => {
      if (!this.#options.client.isProblem(error, "position_expired")) throw error;
      return await this.#all();
    });
    this.#position = pulled.checkpoint.position;
    this.#pulled.resolve();
    return pulled;
  }

  /** Waits for changes behind what was pulled, across lost connections. */
  async follow(state: {
    readonly canceled$: { subscribe(next: (isCanceled: boolean) => void): unknown };
  }): Promise<void> {
    const ending = new AbortController();
    state.canceled$.subscribe((isCanceled) => {
      if (isCanceled) ending.abort();
      if (isCanceled) this.#pulled.resolve();
    });
    for (let failures = 0; !ending.signal.aborted; ) {
      await this.#pulled.promise;
      try {
        const pulled = await this.#since(this.#position ?? "", ending.signal);
        this.#position = pulled.checkpoint.position;
        failures = 0;
        if (pulled.documents.length > 0) this.changes.next(pulled);
      } catch {
        failures += 1;
        await pause(backoffMs(policy, failures), ending.signal).catch(() => undefined);
        // RxDB pulls until that succeeds, and tells what fails.
        this.#pulled = Promise.withResolvers();
        this.changes.next("RESYNC");
      }
    }
  }

  /** What is stored, and of what is stored here only, that it is deleted. */
  async #all(): Promise<Pulled> {
    const documents = new Map<string, WithDeleted<Document>>();
    this.#keys.clear();
    this.#owners.clear();
    let position: string | null = null;
    for (let query = `?_cursor=&_count=false&_limit=${this.#options.pageSize}`; query !== ""; ) {
      const signal = AbortSignal.timeout(silentMs);
      const response = await this.#options.client.request(this.#path + query, { signal });
      const { items, links } = (await response.json()) as Listed;
      for (const object of items) await this.#note(object, documents);
      position = response.headers.get("Changes-Position") ?? position;
      query = links.next === undefined ? "" : new URL(links.next).search;
    }
    if (position === null) throw new Error(`${this.#options.resource} declares no changes`);
    // A write that was not sent yet is kept all the same.
    for (const document of await this.#options.collection.find().exec()) {
      if (!documents.has(document.primary)) documents.set(document.primary, { ...document.toJSON(), _deleted: true });
    }
    return { documents: [...documents.values()], checkpoint: { position } };
  }

  async #since(begin: string, waiting?: AbortSignal): Promise<Pulled> {
    const documents = new Map<string, WithDeleted<Document>>();
    for (let position = begin, prefer = waiting && `wait=${waitSeconds}`; ; prefer = undefined) {
      const headers = { Accept: "application/json", ...(prefer && { Prefer: prefer }) };
      const query = `?_position=${encodeURIComponent(position)}`;
      const limit = AbortSignal.timeout(silentMs);
      const signal = waiting === undefined ? limit : AbortSignal.any([waiting, limit]);
      const response = await this.#options.client.request(this.#path + query, { headers, signal });
      const changed = (await response.json()) as Changed;
      for (const { data } of changed.changes) {
        if (data.object === undefined) await this.#remove(data.id, documents);
        else await this.#note(data.object, documents);
      }
      position = changed.position;
      if (!changed.more) return { documents: [...documents.values()], checkpoint: { position } };
    }
  }

  async #note(object: Fields, documents: Map<string, WithDeleted<Document>>): Promise<void> {
    const key = object[this.#primary];
    await this.#remove(object.id, documents, key);
    // What others have created without it is no document.
    if (typeof key !== "string") return;
    this.#keys.set(object.id, new Set([...(this.#keys.get(object.id) ?? []), key]));
    this.#owners.set(key, object.id);
    documents.set(key, { ...this.#documentOf(object), _deleted: false });
  }

  async #remove(id: string, documents: Map<string, WithDeleted<Document>>, kept?: unknown): Promise<void> {
    for (const key of this.#keys.get(id) ?? []) {
      // Another object may have it by now.
      if (key === kept || this.#owners.get(key) !== id) continue;
      const known = documents.get(key) ?? (await this.#options.collection.findOne(key).exec())?.toJSON();
      if (known !== undefined) documents.set(key, { ...known, _deleted: true });
    }
  }

  #documentOf(object: object): Document {
    return Object.fromEntries(Object.entries(object).filter(([name]) => this.#names.has(name)));
  }

  /** What is stored in place of documents that conflict, or were refused. */
  async push(rows: readonly Row[]): Promise<WithDeleted<Document>[]> {
    const outcomes = await Promise.all(rows.map((row) => this.#write(row)));
    return outcomes.filter((outcome) => outcome !== undefined);
  }

  async #write({ newDocumentState, assumedMasterState }: Row): Promise<WithDeleted<Document> | undefined> {
    const current = await this.#current(newDocumentState);
    const [after, before, stored] = [newDocumentState, assumedMasterState, current].map((each) => this.#stateOf(each));
    const resultOf = (state: Document | undefined) =>
      isSame(state, after) ? undefined : { ...(state ?? newDocumentState), _deleted: state === undefined };
    // Either the answer to an earlier push was lost, or it is a conflict.
    if (isSame(after, stored) || !this.#isOrigin(before, stored)) return resultOf(stored);
    try {
      const written = this.#stateOf(await this.#send(current, before, after));
      this.#written.set(String(newDocumentState[this.#primary]), { sent: after, stored: written });
      return undefined;
    } catch (error) {
      if (!this.#options.client.isProblem(error) || !isRefusal(error)) throw error;
      const now = this.#stateOf(await this.#current(newDocumentState));
      // Somebody else was faster: that is a conflict.
      if (isSame(now, stored)) this.onRefused(error, newDocumentState);
      return resultOf(now);
    }
  }

  /** Whether nobody else has written since: the server may have filled in defaults. */
  #isOrigin(before: Document | undefined, stored: Document | undefined): boolean {
    const written = this.#written.get(String(stored?.[this.#primary]));
    return isSame(before, stored) || (isSame(before, written?.sent) && isSame(stored, written?.stored));
  }

  async #send(current?: Fields, before?: Document, after?: Document): Promise<Fields | undefined> {
    const { client } = this.#options;
    const resource = client.resource(this.#options.resource);
    const options = { ifMatch: current && client.etagOf(current) };
    if (current === undefined) return await resource.create({ ...after });
    const operations = operationsOf(changesBetween(before ?? {}, after ?? {}));
    if (after !== undefined) return await resource.patch(current.id, operations, options);
    await resource.delete(current.id, options);
    return undefined;
  }

  async #current(document: Document): Promise<Fields | undefined> {
    const resource = this.#options.client.resource(this.#options.resource);
    const filter = { [this.#primary]: document[this.#primary] };
    const { items } = await resource.page({ filter, limit: 1, etags: true, count: false });
    return items[0];
  }

  /** Undefined = it isn't there. */
  #stateOf(state: (Document & { readonly _deleted?: boolean }) | undefined): Document | undefined {
    return state === undefined || state._deleted === true ? undefined : this.#documentOf(state);
  }
}

/** Otherwise the same may be accepted later. */
function isRefusal({ status }: Problem): boolean {
  return status >= 400 && status < 500 && ![401, 408, 429].includes(status);
}
