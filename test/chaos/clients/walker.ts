// Two clients of the shelf: one walks through its pages in order, one makes, moves and removes
// objects behind those that stay, and edits those that stay without moving them.

import type { Answer, Asked } from "../ask.ts";
import { fixedObjects, movingFrom } from "../project.ts";
import { askOne, type ClientDeps, keepDoing, noteUnexpected } from "./client.ts";

/** Ids of what stays, in order. */
export type Fixed = readonly string[];

interface Listed {
  readonly count: number;
  readonly items: readonly { readonly id: string; readonly rank?: number }[];
}

const orders = ["rank", "id"] as const;
const rangeOfRanks = 1_000;
const maxMoving = 30;

export async function fillShelf(deps: ClientDeps): Promise<Fixed> {
  const ids: string[] = [];
  for (let rank = 0; rank < fixedObjects; rank += 1) {
    const answer = await askOne(deps, { method: "POST", path: "/api/shelf", body: { rank, label: 0 } });
    if (answer.status !== 201) throw new Error(`The shelf can't be filled: ${answer.status} ${answer.text}`);
    ids.push((JSON.parse(answer.text) as { id: string }).id);
  }
  // Replicas make ids that sort by their own clocks' milliseconds: two of one millisecond may stand
  // either way.
  return ids;
}

export async function runWalker(fixed: Fixed, deps: ClientDeps): Promise<void> {
  await keepDoing(deps, () => walk(fixed, deps));
}

async function walk(fixed: Fixed, deps: ClientDeps): Promise<void> {
  const { history, random, clocksJump } = deps;
  // Ids begin with the time: what a clock in the past makes comes before what stays, and moves it
  // on.
  const order = clocksJump ? "rank" : random.pick(orders);
  const size = 5 + random.whole(10);
  const expected = order === "rank" ? fixed : [...fixed].sort();
  const found: string[] = [];
  const from = history.now();
  while (found.length < expected.length) {
    const asked = { path: `/api/shelf?_limit=${size}&_offset=${found.length}&_sort=${order}` };
    const answer = await askOne(deps, asked);
    noteUnexpected(history, asked, answer, { statuses: [200] });
    if (answer.status !== 200) return;
    const page = pageOf(answer);
    if (page.count < fixed.length)
      history.unexpected(`${asked.path}: counts ${page.count} of ${fixed.length} that are there`);
    noteDisorder(deps, asked.path, page);
    if (page.items.length === 0) break;
    found.push(...page.items.map(({ id }) => id));
  }
  history.add({ kind: "walk", order, expected, found, from, to: history.now() });
}

function noteDisorder({ history }: ClientDeps, path: string, { items }: Listed): void {
  const ids = items.map(({ id }) => id);
  if (new Set(ids).size < ids.length) history.unexpected(`${path}: an object stands twice on one page`);
  const values = path.endsWith("rank") ? items.map(({ rank = 0 }) => rank) : ids;
  if (values.some((value, at) => at > 0 && value < (values[at - 1] ?? value)))
    history.unexpected(`${path}: out of order`);
}

function pageOf({ text }: Answer): Listed {
  return JSON.parse(text) as Listed;
}

export async function runMover(fixed: Fixed, deps: ClientDeps): Promise<void> {
  const mover = new Mover(fixed, deps);
  await keepDoing(deps, () => mover.step());
}

class Mover {
  readonly #fixed: Fixed;
  readonly #deps: ClientDeps;
  readonly #moving: string[] = [];
  #label = 0;

  constructor(fixed: Fixed, deps: ClientDeps) {
    this.#fixed = fixed;
    this.#deps = deps;
  }

  step(): Promise<unknown> {
    const { random } = this.#deps;
    const chance = random.fraction();
    if (chance < 0.3) return this.#edit(random.pick(this.#fixed));
    if (this.#moving.length < 5 || (chance < 0.55 && this.#moving.length < maxMoving)) return this.#create();
    const id = random.pick(this.#moving);
    return chance < 0.8 ? this.#move(id) : this.#remove(id);
  }

  #somewhere(): number {
    return movingFrom + this.#deps.random.whole(rangeOfRanks);
  }

  #edit(id: string): Promise<Answer> {
    this.#label += 1;
    return this.#ask({ method: "PUT", path: `/api/shelf/${id}`, body: { label: this.#label } });
  }

  #move(id: string): Promise<Answer> {
    return this.#ask({ method: "PUT", path: `/api/shelf/${id}`, body: { rank: this.#somewhere() } });
  }

  async #create(): Promise<void> {
    const answer = await this.#ask({ method: "POST", path: "/api/shelf", body: { rank: this.#somewhere() } });
    if (answer.status === 201) this.#moving.push((JSON.parse(answer.text) as { id: string }).id);
  }

  async #remove(id: string): Promise<void> {
    const answer = await this.#ask({ method: "DELETE", path: `/api/shelf/${id}` });
    if (answer.outcome !== "refused" || answer.status === 404) this.#moving.splice(this.#moving.indexOf(id), 1);
  }

  async #ask(asked: Asked): Promise<Answer> {
    const answer = await askOne(this.#deps, asked);
    // 404 = gone by an earlier removal of unknown outcome, or by a loss that is allowed; what stays
    // is the walker's to check.
    noteUnexpected(this.#deps.history, asked, answer, { statuses: [200, 201, 204, 404] });
    return answer;
  }
}
