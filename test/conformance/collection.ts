// A collection as its clients see it: objects of our own are created, changed and deleted, and
// streams followed. Refuses, with ScriptFailed, a collection in which that is not possible.

import { ScriptFailed } from "../../tools/start-script.ts";
import { differ } from "./differs.ts";
import { Follower } from "./follower.ts";

export interface Target {
  /** Of the collection. */
  readonly url: string;
  /** The Authorization header. */
  readonly authorization?: string | undefined;
  /** One that the schema accepts, as JSON; by default the example of the OpenAPI document. */
  readonly object?: string | undefined;
  /** Of a collection that keeps no log of changes. */
  readonly unlogged?: string | undefined;
  /** How long an event may take to come. */
  readonly patienceMs?: number;
  readonly fetch?: typeof fetch;
}

export interface Written {
  readonly id: string;
  readonly etag: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Values of a field that are told apart. */
interface Varied {
  readonly field: string;
  readonly at: (number: number) => unknown;
}

/** How many values of a field the rules need. */
export const variations = 6;
const defaultPatienceMs = 30_000;

export class Collection {
  readonly url: string;
  readonly resource: string;
  readonly patienceMs: number;
  readonly followers: Follower[] = [];
  readonly #target: Target;
  readonly #own = new Set<string>();
  #body: JsonObject = {};
  #varied: Varied = { field: "", at: () => undefined };

  private constructor(target: Target) {
    this.#target = target;
    this.url = target.url.replace(/\/$/, "");
    this.resource = decodeURIComponent(this.url.split("/").at(-1) ?? "");
    this.patienceMs = target.patienceMs ?? defaultPatienceMs;
  }

  static async open(target: Target): Promise<Collection> {
    const collection = new Collection(target);
    collection.#body = await collection.#exampleObject();
    collection.#varied = await collection.#findVaried();
    return collection;
  }

  /** Field and value that the objects of this variation have. */
  filter(number: number): string {
    const { field, at } = this.#varied;
    return `${encodeURIComponent(field)}=${encodeURIComponent(String(at(number)))}`;
  }

  get field(): string {
    return this.#varied.field;
  }

  /** `of` is added to the collection's URL. */
  async ask(of: string, headers: Readonly<Record<string, string>> = {}, method = "GET", body?: unknown) {
    return await this.askAt(this.url + of, headers, method, body);
  }

  async askAt(url: string, headers: Readonly<Record<string, string>>, method = "GET", body?: unknown) {
    const { authorization, fetch: send = fetch } = this.#target;
    return await send(url, {
      method,
      headers: {
        Accept: "application/json",
        ...(authorization !== undefined && { Authorization: authorization }),
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async follow(of = "", position?: string): Promise<Follower> {
    const aborting = new AbortController();
    const { authorization, fetch: send = fetch } = this.#target;
    const response = await send(this.url + of, {
      signal: aborting.signal,
      headers: {
        Accept: "text/event-stream",
        ...(authorization !== undefined && { Authorization: authorization }),
        ...(position !== undefined && { "Last-Event-ID": position }),
      },
    });
    const follower = new Follower(response, aborting, this.patienceMs);
    this.followers.push(follower);
    return follower;
  }

  async create(number = 0): Promise<Written> {
    const { field, at } = this.#varied;
    return await this.#created({ ...this.#body, ...(field !== "" && { [field]: at(number) }) });
  }

  async change({ id }: { readonly id: string }, number: number): Promise<Written> {
    const { field, at } = this.#varied;
    const response = await this.ask(`/${id}`, {}, "PUT", { [field]: at(number) });
    await response.body?.cancel();
    if (response.status !== 200) differ(`a PUT was answered with ${response.status}`);
    return { id, etag: response.headers.get("etag") ?? "" };
  }

  async remove({ id }: { readonly id: string }): Promise<void> {
    this.#own.delete(id);
    const response = await this.ask(`/${id}`, {}, "DELETE");
    await response.body?.cancel();
    if (response.status !== 204) differ(`a DELETE was answered with ${response.status}`);
  }

  /** The position of a list, which is not read to its end. */
  async position(of = "?_limit=1"): Promise<string> {
    const response = await this.ask(of);
    await response.body?.cancel();
    const position = response.headers.get("changes-position");
    return position ?? differ("a list has no Changes-Position");
  }

  /** A position of the form of a valid one, which no log has. */
  async unknownPosition(): Promise<string> {
    const position = await this.position();
    return position.replace(/[0-9a-z](?=[^0-9a-z]*$)/i, (digit) => (digit === "0" ? "1" : "0"));
  }

  /** Ends the streams. */
  endStreams(): void {
    for (const follower of this.followers) follower.close();
  }

  async deleteOwn(): Promise<void> {
    for (const id of [...this.#own]) await this.ask(`/${id}`, {}, "DELETE").catch(() => undefined);
  }

  async #created(body: JsonObject): Promise<Written> {
    const response = await this.ask("", {}, "POST", body);
    const text = await response.text();
    if (response.status !== 201) {
      throw new ScriptFailed(`An object can't be created (${response.status}): ${text.trim()}`);
    }
    const { id } = JSON.parse(text) as { readonly id: string };
    this.#own.add(id);
    return { id, etag: response.headers.get("etag") ?? "" };
  }

  async #exampleObject(): Promise<JsonObject> {
    if (this.#target.object !== undefined) return JSON.parse(this.#target.object) as JsonObject;
    const response = await this.askAt(`${this.url.replace(/\/api\/[^/]+$/, "")}/openapi.json`, {});
    const document = response.status === 200 ? await response.json() : undefined;
    const { content } = document?.paths?.[`/api/${this.resource}`]?.post?.requestBody ?? {};
    const example = content?.["application/json"]?.example as JsonObject | undefined;
    if (example !== undefined) return example;
    const why = response.status === 200 ? "has no example of an object" : `is answered with ${response.status}`;
    throw new ScriptFailed(`The OpenAPI document ${why}: name an object with --object JSON`);
  }

  /** A field of the object that takes several values. */
  async #findVaried(): Promise<Varied> {
    for (const [field, value] of Object.entries(this.#body)) {
      if (typeof value !== "string" && typeof value !== "number") continue;
      const at = (number: number) => (typeof value === "string" ? `${value}${number || ""}` : value + number);
      if (await this.#takes({ field, at })) return { field, at };
    }
    throw new ScriptFailed("No string or number of the object takes other values: name another one with --object JSON");
  }

  async #takes({ field, at }: Varied): Promise<boolean> {
    const { id } = await this.#created(this.#body);
    try {
      for (let number = 1; number <= variations; number += 1) {
        const response = await this.ask(`/${id}`, {}, "PUT", { [field]: at(number) });
        await response.body?.cancel();
        if (response.status !== 200) return false;
      }
      return true;
    } finally {
      await this.remove({ id });
    }
  }
}
