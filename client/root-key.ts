// One JSON document, under /json/<root key>. A path such as `openingHours/0/from` addresses a value
// inside of it, and an empty one all of it; keys that contain a slash need an array of segments.

import type { AtPath, CreateOptions, IncrementOptions, RequestOptions, WatchOptions, WriteOptions } from "./api.ts";
import { edit, type Tagged } from "./edit.ts";
import { follow } from "./follow.ts";
import { isSame } from "./merge-patch.ts";
import { type Path, pathText, segmentsOf } from "./query.ts";
import type { Requests } from "./requests.ts";
import { incrementOf, jsonPatch, mergePatchCall, sending, writeHeaders } from "./writes.ts";

/** The value at a path; unknown where the path is an array. */
export type ValueAt<Value, P extends Path> = P extends string ? AtPath<Value, P> : unknown;

export interface SetOptions extends WriteOptions {
  /** `*`: 412 `precondition_failed` if there is a value already. */
  readonly ifNoneMatch?: "*" | undefined;
}

export class RootKey<Value> {
  readonly #requests: Requests;
  readonly #name: string;

  constructor(requests: Requests, name: string) {
    this.#requests = requests;
    this.#name = name;
  }

  /** Throws `not_found` if there is no value. */
  async get<P extends Path = "">(path?: P, options?: RequestOptions): Promise<ValueAt<Value, P>> {
    return (await this.getTagged(path, options)).value;
  }

  /** The same with its entity tag, for `ifMatch`. */
  async getTagged<P extends Path = "">(path?: P, { signal }: RequestOptions = {}): Promise<Tagged<ValueAt<Value, P>>> {
    const { headers, data } = await this.#requests.send({ path: this.#pathOf(path), signal });
    return { value: data as ValueAt<Value, P>, etag: headers.get("ETag") ?? "" };
  }

  /** Adds or replaces the value. Parents have to be there: `parent_not_found`. */
  async set<P extends Path>(path: P, value: ValueAt<Value, P>, options: SetOptions = {}): Promise<ValueAt<Value, P>> {
    const { ifNoneMatch } = options;
    const headers = { ...writeHeaders(options), ...(ifNoneMatch && { "If-None-Match": ifNoneMatch }) };
    const isRepeatable = ifNoneMatch === undefined;
    const call = { method: "PUT", path: this.#pathOf(path), body: value, headers, ...sending(options), isRepeatable };
    return (await this.#requests.send(call)).data as ValueAt<Value, P>;
  }

  /**
   * Adds a new key, or an element to an array before the one at this index; `-` is the array's end.
   * Takes effect once, however often it has to be sent.
   */
  async insert<P extends Path>(path: P, value: ValueAt<Value, P>, options: CreateOptions = {}): Promise<void> {
    const headers = { "Idempotency-Key": options.idempotencyKey ?? crypto.randomUUID() };
    const call = { method: "POST", path: this.#pathOf(path), body: value, headers, isRepeatable: true };
    await this.#requests.send({ ...call, ...sending(options) });
  }

  /** Merges at every depth (RFC 7396); null removes a member. The whole value as it is then. */
  async update<P extends Path>(path: P, patch: object, options: WriteOptions = {}): Promise<ValueAt<Value, P>> {
    const call = { ...mergePatchCall(patch, options), path: this.#pathOf(path) };
    return (await this.#requests.send(call)).data as ValueAt<Value, P>;
  }

  /**
   * Reads the value, and writes what `change` makes of it unless somebody else has written
   * meanwhile: then it is called again with what is stored by now. Undefined changes nothing.
   */
  async edit<P extends Path>(
    path: P,
    change: (current: ValueAt<Value, P>) => ValueAt<Value, P> | undefined | Promise<ValueAt<Value, P> | undefined>,
    { signal }: RequestOptions = {},
  ): Promise<ValueAt<Value, P>> {
    const read = () => this.getTagged(path, { signal });
    const write = (value: ValueAt<Value, P>, ifMatch: string) => this.set(path, value, { ifMatch, signal });
    return await edit<ValueAt<Value, P>, ValueAt<Value, P>>({ read, change, write, isStored: isSame }, signal);
  }

  /**
   * Adds to a number where it is stored, however many do so at once; the sum. It isn't sent again
   * when no answer came, because that might count twice: it throws `no_response`.
   */
  async increment(path: Path, by: number, options: IncrementOptions = {}): Promise<number> {
    const body = [incrementOf([], by, options)];
    return (await this.#requests.send({ ...jsonPatch(options), path: this.#pathOf(path), body })).data as number;
  }

  /** Removes the value; later elements of an array move up. */
  async delete(path: Path, options: WriteOptions = {}): Promise<void> {
    const headers = writeHeaders(options);
    // A second time, another element might be at the index.
    const isRepeatable = options.ifMatch !== undefined || !/^\d+$/.test(segmentsOf(path).at(-1) ?? "");
    const call = { method: "DELETE", path: this.#pathOf(path), headers, isRepeatable };
    await this.#requests.send({ ...call, ...sending(options) });
  }

  /** The value, and again whenever it has changed; undefined where there is none. */
  async *watch<P extends Path = "">(
    path?: P,
    { onState = () => undefined, signal = new AbortController().signal }: WatchOptions = {},
  ): AsyncGenerator<ValueAt<Value, P> | undefined> {
    for await (const change of follow({ requests: this.#requests, path: this.#pathOf(path), onState, signal })) {
      if ("kind" in change) yield change.value as ValueAt<Value, P> | undefined;
    }
  }

  #pathOf(path: Path = ""): string {
    return `/json/${pathText([this.#name, ...segmentsOf(path)])}`;
  }
}
