// Random requests and edits of the manifest, against a model of a collection with all its rules.
// Requests that overlap must be answered as if they came in some order. After each step, all that a
// client can see is what the model has. JSONPLANE_TEST_SEED=<integer> tries others.

import { expect, it } from "vitest";
import { collectionOf } from "../../dataplane/store/ports/refs.ts";
import type { Reply } from "../support/http/http-client.ts";
import { apikey, project, withKey } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";
import { countForTier, testSeed } from "../support/time/test-tier.ts";
import {
  type Answer,
  CollectionModel,
  type Fields,
  type Item,
  type Made,
  type Step,
  textOf,
} from "./collection-model.ts";
import {
  callers,
  chooser,
  indexings,
  type Manifest,
  type Random,
  randomEdit,
  randomStep,
  request,
  resource,
} from "./collection-steps.ts";

const answerOf = ({ status, code, text }: Reply): Answer => {
  const told = status === 200 || status === 201 ? text : code;
  return told === undefined ? [status] : [status, told];
};

function madeBy(reply: Reply): Made {
  if (reply.status !== 201) return { id: "", created: Math.floor(Date.now() / 1_000) };
  const { id, _metadata } = reply.json<{ id: string; _metadata: { created: number } }>();
  return { id, created: _metadata.created };
}

interface Done {
  readonly step: Step;
  readonly reply: Reply;
}

/** The model after all of these, in an order that explains their answers. `times`: begin, end. */
function explained(
  model: CollectionModel,
  done: readonly Done[],
  times: readonly number[],
): CollectionModel | undefined {
  if (done.length === 0) return model;
  for (const one of done) {
    for (const time of times) {
      const after = model.copy();
      const answer = after.carryOut(one.step, time, madeBy(one.reply));
      if (JSON.stringify(answer) !== JSON.stringify(answerOf(one.reply))) continue;
      const rest = explained(
        after,
        done.filter((other) => other !== one),
        times,
      );
      if (rest !== undefined) return rest;
    }
  }
  return undefined;
}

const queries: readonly (readonly [query: string, matches: (fields: Fields) => boolean, sort: readonly string[]])[] = [
  ["group=a", ({ group }) => group === "a", []],
  ["group:ne=a&_sort=-stock", ({ group }) => group !== "a", ["-stock"]],
  ["stock:ge=2&_sort=stock", ({ stock }) => Number(stock ?? -1) >= 2, ["stock"]],
  ["group=a&_sort=stock", ({ group }) => group === "a", ["stock"]],
  ["_sort=group,-name", () => true, ["group", "-name"]],
  ["_sort=-stock,-name", () => true, ["-stock", "-name"]],
  ["name:in=x,X&_sort=note", ({ name }) => name === "x" || name === "X", ["note"]],
  ["note:exists=false&_sort=until", ({ note }) => (note ?? null) === null, ["until"]],
  ["group=b&stock=2", ({ group, stock }) => group === "b" && stock === 2, []],
  ["name:starts=l&_sort=name", ({ name }) => String(name ?? "").startsWith("l"), ["name"]],
];

function sorted(items: readonly Item[], sort: readonly string[]): readonly Item[] {
  const compare = (one: Fields[string] | undefined, other: Fields[string] | undefined): number => {
    const rank = (value: typeof one) => ["number", "string"].indexOf(typeof value);
    if (rank(one) !== rank(other)) return rank(one) - rank(other);
    if ((one ?? null) === (other ?? null)) return 0;
    return (one ?? "") < (other ?? "") ? -1 : 1;
  };
  return items.toSorted((one, other) => {
    for (const key of sort) {
      const name = key.replace("-", "");
      const order = compare(one.fields[name], other.fields[name]) * (key.startsWith("-") ? -1 : 1);
      if (order !== 0) return order;
    }
    return (one.id < other.id ? -1 : 1) * (sort.at(-1)?.startsWith("-") ? -1 : 1);
  });
}

interface Listed {
  readonly count: number;
  readonly items: readonly object[];
  readonly links: { readonly next?: string };
}

interface Followed {
  readonly changes: readonly {
    readonly event: string;
    readonly data: { readonly id: string; readonly object: object };
  }[];
  readonly position: string;
  readonly more?: boolean;
}

const texts = (items: readonly object[]) => items.map((item) => JSON.stringify(item));

/** What a client that lists once, then follows changes, believes to be there. */
class Follower {
  readonly as: string;
  readonly #served: Served;
  #position = "";
  readonly #known = new Map<string, string>();

  constructor(served: Served, as: string) {
    this.#served = served;
    this.as = as;
  }

  async known(): Promise<readonly string[]> {
    let more = true;
    while (more) {
      const reply = await this.#served.send(`/api/items?_position=${this.#position}`, { as: apikey(this.as) });
      expect(reply.status, reply.text).toBe(200);
      const { changes, position, more: isMore = false } = reply.json<Followed>();
      for (const { event, data } of changes) {
        if (event === "put") this.#known.set(data.id, JSON.stringify(data.object));
        else this.#known.delete(data.id);
      }
      this.#position = position;
      more = isMore;
    }
    return [...this.#known].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, text]) => text);
  }
}

describeServedOnBothStores("a collection with all rules, under random requests", (serve) => {
  it("answers and holds what its model does", { timeout: 600_000 }, async () => {
    const seed = testSeed();
    const history: string[] = [];
    try {
      await run(await serve(project("shop", ...callers.map((name) => withKey(name)))), seed, history);
    } catch (error) {
      const steps = history.slice(-60).join("\n");
      throw new Error(`With JSONPLANE_TEST_SEED=${seed}, after ${history.length} steps:\n${steps}`, { cause: error });
    }
  });
});

async function run(served: Served, seed: number, history: string[]): Promise<void> {
  const random = chooser(seed);
  let manifest: Manifest = {
    isStrict: false,
    ratchets: false,
    unique: [],
    maxObjects: 1_000,
    readsAll: random.chance(0.5),
    indexes: random.pick(indexings),
  };
  served.change(resource(manifest));
  let model = new CollectionModel(manifest);
  const followers = callers.map((as) => new Follower(served, as));
  for (const follower of followers) await follower.known();
  const known = new Set<string>();
  const sent: Step[] = [];
  for (let count = 0; count < countForTier(80, 600); count += 1) {
    if (random.chance(0.12)) {
      manifest = randomEdit(random, manifest);
      history.push(JSON.stringify(manifest));
      served.change(resource(manifest));
      model.rules = manifest;
      await unlessSomethingEnds(model, (current) => checkObjects(served, current, known));
      await eventually(() => expect(served.plane.buildingIndexes()).toEqual([]));
    } else {
      const steps = Array.from({ length: random.pick([1, 1, 2, 4]) }, () => randomStep(random, model, sent));
      sent.push(...steps);
      model = await carriedOut(served, model, steps, history);
      for (const id of model.items.keys()) known.add(id);
    }
    await unlessSomethingEnds(model, async (current) => {
      await checkLists(served, current, random);
      await checkObjects(served, current, known);
      await removeExpired(served);
      for (const follower of followers)
        expect(await follower.known(), follower.as).toEqual(current.visibleTo(follower.as).map(textOf));
    });
  }
}

/** Sends all at once. The model after them. */
async function carriedOut(
  served: Served,
  model: CollectionModel,
  steps: readonly Step[],
  history: string[],
): Promise<CollectionModel> {
  const begun = Date.now();
  const done = await Promise.all(
    steps.map(async (step): Promise<Done> => {
      const [path, how] = request(step);
      return { step, reply: await served.send(`/api/items${path}`, how) };
    }),
  );
  for (const { step, reply } of done) history.push(JSON.stringify([step, ...answerOf(reply)]));
  const after = explained(model, done, [begun, Date.now() + 1]);
  if (after === undefined) throw new Error(`No order explains: ${JSON.stringify(predicted(model, done))}`);
  return after;
}

const predicted = (model: CollectionModel, done: readonly Done[]) =>
  done.map(({ step, reply }) => model.copy().carryOut(step, Date.now(), madeBy(reply)));

/** As replicas do in the background, which tells those who follow. */
async function removeExpired({ live, store }: Served): Promise<void> {
  const [shop] = live.directory.loaded();
  const items = shop?.resources.get("items");
  if (shop === undefined || items?.config.expiry === undefined) return;
  const collection = collectionOf(shop.config, items);
  while ((await store.removeExpired(collection)).removed > 0);
}

/** Checks again where an object expired meanwhile. */
async function unlessSomethingEnds(
  model: CollectionModel,
  check: (model: CollectionModel) => Promise<void>,
): Promise<void> {
  for (;;) {
    model.expire(Date.now());
    const nextEnd = Math.min(...[...model.items.values()].map((item) => model.endOf(item)));
    const failure = await check(model).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (nextEnd <= Date.now() + 1) continue;
    if (failure !== undefined) throw failure.error;
    return;
  }
}

async function checkLists(served: Served, model: CollectionModel, random: Random): Promise<void> {
  const [query, matches, sort] = random.pick(queries);
  for (const as of callers) {
    const get = async (rest: string) => (await served.send(`/api/items?${rest}`, { as: apikey(as) })).json<Listed>();
    const all = model.visibleTo(as);
    const found = sorted(
      all.filter(({ fields }) => matches(fields)),
      sort,
    ).map(textOf);
    const [whole, some] = [await get("_limit=100"), await get(`${query}&_limit=100`)];
    expect([as, whole.count, texts(whole.items)]).toEqual([as, all.length, all.map(textOf)]);
    expect([as, query, some.count, texts(some.items)]).toEqual([as, query, found.length, found]);
    const walked: string[] = [];
    let next: string | undefined = `${query}&_limit=3&_cursor=`;
    while (next !== undefined) {
      const page: Listed = await get(next);
      walked.push(...texts(page.items));
      next = page.links.next?.split("?")[1];
    }
    expect([as, query, walked]).toEqual([as, query, found]);
  }
}

async function checkObjects(served: Served, model: CollectionModel, known: ReadonlySet<string>): Promise<void> {
  for (const as of callers) {
    const seen = new Map(model.visibleTo(as).map((item) => [item.id, textOf(item)]));
    const ids = [...known].slice(-40);
    const replies = await Promise.all(ids.map((id) => served.send(`/api/items/${id}`, { as: apikey(as) })));
    const found = replies.map(({ status, text }) => (status === 200 ? text : status));
    expect(found).toEqual(ids.map((id) => seen.get(id) ?? 404));
  }
}
