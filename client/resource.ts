// One collection of objects, under /api/<resource>.

import type {
  CreateOptions,
  Filters,
  IncrementOptions,
  ListQuery,
  LiveQuery,
  Page,
  PageQuery,
  RequestOptions,
  ResourceChange,
  ResourceShape,
  Shown,
  ValueCount,
  WatchOptions,
  WatchQuery,
  WriteOptions,
} from "./api.ts";
import { edit } from "./edit.ts";
import { follow, type Snapshot } from "./follow.ts";
import { LiveList } from "./live-list.ts";
import { hasMerged } from "./merge-patch.ts";
import { type Path, pathText, queryText, segmentsOf } from "./query.ts";
import type { Call, Reply, Requests } from "./requests.ts";
import { incrementOf, jsonPatch, mergePatchCall, sending, writeHeaders } from "./writes.ts";

interface ListBody {
  readonly items: readonly { readonly id: string }[];
  readonly count?: number;
  readonly links: { readonly next?: string };
  readonly etags?: Readonly<Record<string, string>>;
}

const listLimit = 100;

export class Resource<R extends ResourceShape> {
  readonly #requests: Requests;
  readonly #etags: WeakMap<object, string>;
  readonly #path: string;

  constructor(requests: Requests, etags: WeakMap<object, string>, name: string) {
    this.#requests = requests;
    this.#etags = etags;
    this.#path = `/api/${encodeURIComponent(name)}`;
  }

  /** Throws `not_found` if there is none, or the caller may not see it. */
  async get<Query extends Pick<ListQuery<R>, "fields" | "signal">>(
    id: string,
    query?: Query,
  ): Promise<Shown<R, Query>> {
    const { signal, ...shown } = query ?? {};
    return this.#tagged(await this.#requests.send({ path: this.#pathOf(id) + queryText(shown), signal }));
  }

  /** All that match, read page by page: each once, whatever is written meanwhile. */
  async *list<Query extends ListQuery<R>>(query?: Query): AsyncGenerator<Shown<R, Query>> {
    const asked: PageQuery<R> = { limit: listLimit, count: false, ...query };
    for (let cursor: string | undefined = ""; cursor !== undefined; ) {
      const { page } = await this.#page({ ...asked, cursor });
      yield* page.items as Shown<R, Query>[];
      cursor = page.next;
    }
  }

  async page<Query extends PageQuery<R>>(query?: Query): Promise<Page<Shown<R, Query>>> {
    return (await this.#page(query ?? {})).page as Page<Shown<R, Query>>;
  }

  /**
   * How many objects have each value of a field, ascending; a missing field counts as null, and
   * what has no scalar there as undefined. Throws `query_too_expensive` beyond 500 values.
   */
  async countBy(
    field: string,
    { filter, signal }: Pick<ListQuery<R>, "filter" | "signal"> = {},
  ): Promise<readonly ValueCount[]> {
    const asked = { ...filter, _count_by: field };
    const { data } = await this.#requests.send({ path: this.#path + queryText({ filter: asked }), signal });
    return (data as { readonly counts: readonly ValueCount[] }).counts;
  }

  /** Takes effect once, however often it has to be sent. */
  async create(fields: R["create"], options: CreateOptions = {}): Promise<R["object"]> {
    const headers = { "Idempotency-Key": options.idempotencyKey ?? crypto.randomUUID() };
    const call = { method: "POST", path: this.#path, body: fields, headers, isRepeatable: true };
    return await this.#write({ ...call, ...sending(options) });
  }

  /** Merges at every depth (RFC 7396); null removes a field. */
  async update(id: string, patch: R["patch"], options: WriteOptions = {}): Promise<R["object"]> {
    return await this.#write({ ...mergePatchCall(patch, options), path: this.#pathOf(id) });
  }

  /** Updates the object with these values of a unique rule's fields, or creates it. */
  async upsert(unique: Filters<R>, fields: R["update"], options: WriteOptions = {}): Promise<R["object"]> {
    const path = this.#path + queryText<R>({ filter: unique });
    const headers = writeHeaders(options);
    return await this.#write({ method: "PUT", path, body: fields, headers, ...sending(options), isRepeatable: true });
  }

  /**
   * Reads the object, and writes what `change` makes of it unless somebody else has written
   * meanwhile: then it is called again with what is stored by now. Undefined changes nothing.
   */
  async edit(
    id: string,
    change: (current: R["object"]) => R["patch"] | undefined | Promise<R["patch"] | undefined>,
    { signal }: RequestOptions = {},
  ): Promise<R["object"]> {
    const read = async () => {
      const value = await this.get(id, { signal });
      return { value, etag: this.#etags.get(value) ?? "" };
    };
    const write = (patch: R["patch"], ifMatch: string) => this.update(id, patch, { ifMatch, signal });
    return await edit({ read, change, write, isStored: (patch, current) => hasMerged(current, patch) }, signal);
  }

  /**
   * Adds to a number where it is stored, however many do so at once. It isn't sent again when no
   * answer came, because that might count twice: it throws `no_response`.
   */
  async increment(id: string, path: Path, by: number, options: IncrementOptions = {}): Promise<R["object"]> {
    return await this.patch(id, [incrementOf(segmentsOf(path), by, options)], options);
  }

  /**
   * Operations of JSON Patch (RFC 6902), all or none. With `ifMatch` it is sent again when no
   * answer came; else it throws `no_response`.
   */
  async patch(id: string, operations: readonly object[], options: WriteOptions = {}): Promise<R["object"]> {
    return await this.#write({ ...jsonPatch(options), path: this.#pathOf(id), body: operations });
  }

  /** Throws `not_found` if there is none, or the caller may not see it. */
  async delete(id: string, options: WriteOptions = {}): Promise<void> {
    const call = { method: "DELETE", path: this.#pathOf(id), headers: writeHeaders(options), isRepeatable: true };
    await this.#requests.send({ ...call, ...sending(options) });
  }

  /**
   * What is stored, and from then on each change, across lost connections. It ends when the signal
   * is aborted. The resource has to declare `spec.changes`.
   */
  async *watch(query: WatchQuery<R> = {}): AsyncGenerator<ResourceChange<R["object"]>> {
    const { filter, pageSize = listLimit, onState = () => undefined, signal = new AbortController().signal } = query;
    const path = this.#path + queryText<R>({ filter });
    const read = () => this.#readAll({ filter, limit: pageSize, signal });
    for await (const change of follow({ requests: this.#requests, path, read, onState, signal })) {
      if ("shown" in change) yield { kind: "list", objects: change.shown };
      else if (change.kind === "delete") yield { kind: "delete", id: change.id ?? "" };
      else yield { kind: "put", id: change.id ?? "", object: this.#tag(change.object as R["object"], change.etag) };
    }
  }

  /** One object whenever it has changed; undefined where it is gone. */
  async *watchObject(id: string, query: WatchOptions = {}): AsyncGenerator<R["object"] | undefined> {
    const { onState = () => undefined, signal = new AbortController().signal } = query;
    for await (const change of follow({ requests: this.#requests, path: this.#pathOf(id), onState, signal })) {
      if ("kind" in change) yield change.object && this.#tag(change.object as R["object"], change.etag);
    }
  }

  /** What matches, as an array, whenever it has changed; its writes show at once. */
  live(query: LiveQuery<R> = {}): LiveList<R> {
    return new LiveList(this, this.#etags, query);
  }

  #pathOf(id: string): string {
    return `${this.#path}/${pathText([id])}`;
  }

  async #page(
    query: PageQuery<R>,
  ): Promise<{ readonly page: Page<R["object"]>; readonly position: string | undefined }> {
    const { signal, ...asked } = query;
    const begin = asked.offset === undefined ? { cursor: "" } : {};
    const { data, headers } = await this.#requests.send({
      path: this.#path + queryText<R>({ ...begin, ...asked }),
      signal,
    });
    const { items, count, links, etags } = data as ListBody;
    const next = links.next === undefined ? undefined : new URL(links.next).searchParams.get("_cursor");
    const tagged = items.map((item) => this.#tag(item, etags?.[item.id]));
    return {
      page: { items: tagged, count, next: next ?? undefined },
      position: headers.get("Changes-Position") ?? undefined,
    };
  }

  /** The position of the last page stands for all pages. */
  async #readAll(query: ListQuery<R>): Promise<Snapshot<readonly R["object"][]>> {
    const objects: R["object"][] = [];
    for (let cursor = ""; ; ) {
      const { page, position } = await this.#page({ ...query, count: false, etags: true, cursor });
      objects.push(...page.items);
      if (page.next === undefined) return { shown: objects, position };
      cursor = page.next;
    }
  }

  async #write(call: Call): Promise<R["object"]> {
    return this.#tagged(await this.#requests.send(call));
  }

  #tagged<T extends object>({ data, headers }: Reply): T {
    return this.#tag(data as T, headers.get("ETag") ?? undefined);
  }

  #tag<T extends object>(object: T, etag: string | undefined): T {
    if (etag !== undefined) this.#etags.set(object, etag);
    return object;
  }
}
