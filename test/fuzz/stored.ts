// What a project holds, as far as its answers said so: what an acknowledged write left, and that a
// refused one left it alone, is compared with what the project's auditor reads.

import type { Reply, SentRequest } from "../support/http/http-client.ts";
import type { FuzzedProject } from "./tenants.ts";

export type Ask = (path: string, sent?: SentRequest) => Promise<Reply>;

interface Write {
  readonly method: string;
  readonly reply: Reply;
}

export class Stored {
  readonly #project: FuzzedProject;
  readonly #ask: Ask;
  /** Served texts by id, of each resource that the auditor may read. */
  readonly #objects = new Map<string, Map<string, string>>();
  /** Texts by root key. */
  readonly #documents = new Map<string, string>();

  constructor(project: FuzzedProject, ask: Ask) {
    this.#project = project;
    this.#ask = ask;
    for (const name of project.parts.resources.keys()) this.#objects.set(name, new Map());
  }

  /** An id of the resource, in the order of creation; undefined while there is none. */
  idAt(resource: string, number: number): string | undefined {
    const ids = [...(this.#objects.get(resource)?.keys() ?? [])];
    return ids[number % Math.max(1, ids.length)];
  }

  textOf(resource: string, id: string): string | undefined {
    return this.#objects.get(resource)?.get(id);
  }

  async begin(): Promise<void> {
    for (const rootKey of this.#project.parts.rootKeys.keys())
      this.#documents.set(rootKey, await this.#document(rootKey));
  }

  /** After a request to /api/<resource> or /api/<resource>/<id>. */
  async objectsAfter(resource: string, id: string | undefined, write: Write): Promise<readonly string[]> {
    const known = this.#objects.get(resource);
    if (known === undefined) return [];
    const touched = noted(known, id, write);
    const faults: string[] = [];
    const list = await this.#audit(`/api/${resource}?_limit=1`);
    const { count } = list.json<{ count: number }>();
    if (count !== known.size) faults.push(`${resource} has ${count} objects, and not ${known.size}`);
    if (touched === undefined) return faults;
    const { status, text } = await this.#audit(`/api/${resource}/${touched}`);
    const expected = known.get(touched);
    const isAsExpected = expected === undefined ? status === 404 : text === expected;
    return isAsExpected ? faults : [...faults, `${resource}/${touched} reads ${status} ${text}, and not ${expected}`];
  }

  /** After a request to /json/<root key>/…; `path` as it was sent. */
  async documentAfter(rootKey: string, path: string, write: Write): Promise<readonly string[]> {
    const before = this.#documents.get(rootKey);
    if (before === undefined) return [];
    const { method, reply } = write;
    const now = await this.#document(rootKey);
    this.#documents.set(rootKey, now);
    if (isWithoutEffect(reply))
      return now === before ? [] : [`a refused or repeated ${method} changed ${rootKey}: ${before} → ${now}`];
    if (method === "DELETE" || path.endsWith("/-")) return [];
    const read = await this.#audit(path);
    return read.text === reply.text ? [] : [`${path} reads ${read.status} ${read.text}, and not ${reply.text}`];
  }

  async #document(rootKey: string): Promise<string> {
    return (await this.#audit(`/json/${rootKey}`)).text;
  }

  async #audit(path: string): Promise<Reply> {
    return await this.#ask(path, { as: this.#project.auditor });
  }
}

/** Refused, or told again what was done before. */
function isWithoutEffect({ status, headers }: Reply): boolean {
  return status >= 300 || headers["idempotent-replayed"] !== undefined;
}

/** Takes over what an answer said was done; returns the id that it was about. */
function noted(known: Map<string, string>, id: string | undefined, { method, reply }: Write): string | undefined {
  if (isWithoutEffect(reply)) return id;
  const at = method === "POST" ? reply.json<{ id: string }>().id : id;
  if (at === undefined) return undefined;
  if (method === "DELETE") known.delete(at);
  else if (method === "POST" || method === "PUT" || method === "PATCH") known.set(at, reply.text);
  return at;
}
