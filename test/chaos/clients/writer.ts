// A client that writes objects, a register and a list of its own, and reads everybody's, each
// operation at another replica.

import type { Answer } from "../ask.ts";
import { listed, writers } from "../project.ts";
import { askOne, type ClientDeps, checkedOutcome, isMissing, keepDoing, noteUnexpected } from "./client.ts";

/** Objects that all writers know, living or not. */
export interface KnownObject {
  readonly key: string;
  readonly id: string;
}

interface Item {
  readonly id: string;
  readonly key: string;
  readonly n: number;
}

const maxOwn = 25;

export async function runWriter(name: string, known: KnownObject[], deps: ClientDeps): Promise<void> {
  const writer = new Writer(name, known, deps);
  await keepDoing(deps, () => writer.step());
}

/** Who writes objects of its own and nothing else. */
export async function runOwner(name: string, deps: ClientDeps): Promise<void> {
  const writer = new Writer(name, [], deps);
  await keepDoing(deps, () => writer.objectStep());
}

class Writer {
  readonly #name: string;
  readonly #deps: ClientDeps;
  readonly #known: KnownObject[];
  /** Objects that it may still write. */
  readonly #own: KnownObject[] = [];
  #last = 0;

  constructor(name: string, known: KnownObject[], deps: ClientDeps) {
    this.#name = name;
    this.#known = known;
    this.#deps = deps;
  }

  step(): Promise<void> {
    const chance = this.#deps.random.fraction();
    if (chance < 0.42) return this.#write(chance);
    if (chance < 0.56) return this.#append();
    if (chance < 0.68) return this.#put();
    if (chance < 0.84) return this.#readObject();
    return chance < 0.92 ? this.#readRegister() : this.#readList();
  }

  objectStep(): Promise<void> {
    const chance = this.#deps.random.fraction();
    return chance < 0.9 ? this.#write(chance / 2) : this.#readObject();
  }

  #write(chance: number): Promise<void> {
    if (chance < 0.18) return this.#create();
    if (chance < 0.36) return this.#change((object) => this.#update(object));
    return this.#change((object) => this.#remove(object));
  }

  #next(): number {
    this.#last += 1;
    return this.#last;
  }

  async #change(how: (object: KnownObject) => Promise<void>): Promise<void> {
    if (this.#own.length === 0) return await this.#create();
    await how(this.#deps.random.pick(this.#own));
  }

  async #create(): Promise<void> {
    if (this.#own.length >= maxOwn) return await this.#remove(this.#deps.random.pick(this.#own));
    const { history } = this.#deps;
    const n = this.#next();
    const key = `${this.#name}-${n}`;
    const asked = { method: "POST", path: "/api/items", body: { key, n } } as const;
    const pending = history.begin({ kind: "write", cell: `object:${key}`, value: n });
    const answer = await askOne(this.#deps, asked);
    pending.end(checkedOutcome(history, answer, () => same(answer, { key, n })));
    noteUnexpected(history, asked, answer, { statuses: [201] });
    if (answer.outcome !== "done") return;
    const object = { key, id: itemOf(answer).id };
    this.#own.push(object);
    this.#known.push(object);
    history.add({ kind: "made", id: object.id, owner: this.#name });
  }

  async #update(object: KnownObject): Promise<void> {
    const { history } = this.#deps;
    const { key, id } = object;
    const n = this.#next();
    const asked = { method: "PUT", path: `/api/items/${id}`, body: { n } } as const;
    const pending = history.begin({ kind: "write", cell: `object:${key}`, value: n });
    const answer = await askOne(this.#deps, asked);
    pending.end(checkedOutcome(history, answer, () => same(answer, { key, n })));
    noteUnexpected(history, asked, answer, { statuses: [200, 404] });
    if (isMissing(answer)) this.#gone(object, answer);
  }

  async #remove(object: KnownObject): Promise<void> {
    const { history } = this.#deps;
    const asked = { method: "DELETE", path: `/api/items/${object.id}` } as const;
    const pending = history.begin({ kind: "write", cell: `object:${object.key}`, value: null });
    const answer = await askOne(this.#deps, asked);
    pending.end(answer.outcome);
    noteUnexpected(history, asked, answer, { statuses: [204, 404] });
    if (isMissing(answer)) this.#gone(object, answer);
    // Whoever doesn't know whether it is gone leaves it alone: a removal is bound to no version and
    // may come late.
    else if (answer.outcome !== "refused") this.#forget(object);
  }

  #gone(object: KnownObject, { from, to }: Answer): void {
    this.#deps.history.add({ kind: "read", cell: `object:${object.key}`, value: null, from, to });
    this.#forget(object);
  }

  #forget(object: KnownObject): void {
    const at = this.#own.indexOf(object);
    if (at >= 0) this.#own.splice(at, 1);
  }

  async #append(): Promise<void> {
    const { history } = this.#deps;
    const value = this.#next();
    const asked = { method: "POST", path: `/json/log/${this.#name}/-`, body: value } as const;
    const pending = history.begin({ kind: "append", list: this.#name, value });
    const answer = await askOne(this.#deps, asked);
    pending.end(checkedOutcome(history, answer, () => answer.text === String(value)));
    noteUnexpected(history, asked, answer, { statuses: [201] });
  }

  async #put(): Promise<void> {
    const { history } = this.#deps;
    const value = this.#next();
    const asked = { method: "PUT", path: `/json/registers/${this.#name}`, body: value } as const;
    const pending = history.begin({ kind: "write", cell: `register:${this.#name}`, value });
    const answer = await askOne(this.#deps, asked);
    pending.end(checkedOutcome(history, answer, () => answer.text === String(value)));
    noteUnexpected(history, asked, answer, { statuses: [200] });
  }

  async #readObject(): Promise<void> {
    if (this.#known.length === 0) return;
    const { history, random } = this.#deps;
    const { key, id } = random.pick(this.#known);
    const asked = { path: `/api/items/${id}` };
    const answer = await askOne(this.#deps, asked);
    noteUnexpected(history, asked, answer, { statuses: [200, 404] });
    const { from, to, status } = answer;
    const cell = `object:${key}`;
    if (isMissing(answer)) history.add({ kind: "read", cell, value: null, from, to });
    if (status === 200) history.add({ kind: "read", cell, value: itemOf(answer).n, from, to });
  }

  async #readRegister(): Promise<void> {
    const { history, random } = this.#deps;
    const name = random.pick(writers);
    const asked = { path: `/json/registers/${name}` };
    const answer = await askOne(this.#deps, asked);
    noteUnexpected(history, asked, answer, { statuses: [200] });
    const { from, to, status, text } = answer;
    if (status !== 200) return;
    history.add({ kind: "read", cell: `register:${name}`, value: JSON.parse(text) as number | null, from, to });
  }

  async #readList(): Promise<void> {
    const { history, random } = this.#deps;
    const name = random.pick(listed);
    const asked = { path: `/json/log/${name}` };
    const answer = await askOne(this.#deps, asked);
    noteUnexpected(history, asked, answer, { statuses: [200] });
    const { from, to, status, text } = answer;
    if (status === 200) history.add({ kind: "list", list: name, values: JSON.parse(text) as number[], from, to });
  }
}

function itemOf({ text }: Answer): Item {
  return JSON.parse(text) as Item;
}

function same(answer: Answer, { key, n }: Omit<Item, "id">): boolean {
  const item = itemOf(answer);
  return item.key === key && item.n === n && item.id !== "";
}
