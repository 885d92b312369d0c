// The package @jsonplane/client: changes that are followed, and lists that show them and one's own
// writes at once.

import { afterEach, expect, it } from "vitest";
import { type ClientOptions, createClient, type Problem, type ResourceChange } from "../../client/index.ts";
import { orderOf } from "../../client/order.ts";
import { memoryStorage } from "../../client/session.ts";
import {
  apikey,
  keyOf,
  type Modifier,
  passwordOf,
  project,
  withKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { describeServed, describeServedEmbedded, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";

interface Card {
  readonly id: string;
  readonly text: string;
  readonly votes?: number;
}
interface Api {
  readonly resources: {
    readonly cards: {
      readonly object: Card;
      readonly create: Omit<Card, "id">;
      readonly update: Partial<Omit<Card, "id">>;
      readonly patch: Partial<Omit<Card, "id">>;
      readonly filters: { readonly "votes:ge": number };
      readonly sort: "text" | "-text" | "votes" | "-votes";
    };
  };
  readonly rootKeys: { readonly flags: { readonly beta: boolean } };
  readonly problems: "not_found" | "validation_failed";
}

const changes = { retentionSeconds: 3600, maxEntries: 1_000 };
const schema = { type: "object", properties: { text: { type: "string", maxLength: 20 }, votes: { type: "integer" } } };
const all = { read: "All", write: "All" } as const;
const retro = (...more: readonly Modifier[]) =>
  project(
    "retro",
    withKey("app"),
    withKey("staff", { role: "Administrators" }),
    withUser("kim"),
    withResource("cards", { schema, scope: all, changes }),
    withResource("quiet", { schema, scope: all }),
    withRootKey("flags", { initialValue: '{"beta":false}', changes }),
    ...more,
  );

let leaving = new AbortController();
afterEach(() => {
  leaving.abort();
  leaving = new AbortController();
});

const clientOf = ({ origin, base }: Served, options: Partial<ClientOptions> = { apiKey: keyOf("app") }) =>
  createClient<Api>({ url: origin + base, ...options });

/** What it yields, as it comes. */
function gathered<T>(source: AsyncIterable<T>): { readonly found: T[]; readonly ended: Promise<unknown> } {
  const found: T[] = [];
  const ended = (async () => {
    for await (const each of source) found.push(each);
    return undefined;
  })().catch((error: unknown) => error);
  return { found, ended };
}

/** Streams that are cut, and that begin again only once they may. */
function cutting(mayBegin: () => Promise<void> = async () => undefined) {
  let cutter = new AbortController();
  const fetchStreams: typeof fetch = async (input, init) => {
    if (new Headers(init?.headers).get("Accept") !== "text/event-stream") return await fetch(input, init);
    await mayBegin();
    cutter = new AbortController();
    const signal = AbortSignal.any([cutter.signal, init?.signal as AbortSignal]);
    const { body, status, headers } = await fetch(input, { ...init, signal });
    return new Response(body, { status, headers });
  };
  return { fetch: fetchStreams, cut: () => cutter.abort() };
}

const told = (change: ResourceChange<Card>) =>
  change.kind === "list"
    ? change.objects.map(({ text }) => text)
    : [change.kind, change.kind === "put" ? change.object.text : ""];
const texts = (items: readonly Card[] = []) => items.map(({ text }) => text);

describeServed("changes that @jsonplane/client follows", (serve) => {
  it("are what is stored and each change behind it, and again what is stored after a reset", async () => {
    const served = await serve(retro());
    const cards = clientOf(served).resource("cards");
    const { id } = await cards.create({ text: "old" });
    const { found, ended } = gathered(cards.watch({ signal: leaving.signal }));
    await eventually(() => expect(found.map(told)).toEqual([["old"]]));
    await cards.update(id, { text: "new" });
    const other = await cards.create({ text: "other" });
    await cards.delete(id);
    await eventually(() =>
      expect(found.map(told).slice(1)).toEqual([
        ["put", "new"],
        ["put", "other"],
        ["delete", ""],
      ]),
    );
    served.change(withResource("cards", { schema, scope: { read: "Own", write: "Own" }, changes }));
    await eventually(() => expect(found.map(told).at(-1)).toEqual([other.text]));
    expect(found).toHaveLength(5);
    leaving.abort();
    expect(await ended).toBeUndefined();
  });

  it("go on behind the last one where the connection is cut, with nothing lost and nothing twice", async () => {
    const served = await serve(retro());
    const { fetch, cut } = cutting();
    const cards = clientOf(served, { apiKey: keyOf("app"), fetch }).resource("cards");
    const states: string[] = [];
    const { found } = gathered(cards.watch({ signal: leaving.signal, onState: (state) => states.push(state) }));
    await eventually(() => expect(states).toEqual(["live"]));
    await cards.create({ text: "before" });
    await eventually(() => expect(found).toHaveLength(2));
    cut();
    await cards.create({ text: "meanwhile" });
    await eventually(() => expect(states).toEqual(["live", "reconnecting", "live"]));
    await cards.create({ text: "after" });
    await eventually(() =>
      expect(found.map(told)).toEqual([[], ["put", "before"], ["put", "meanwhile"], ["put", "after"]]),
    );
  });

  it("are refused where the resource keeps no log, and end with the session", async () => {
    const served = await serve(retro());
    const refused = await gathered(
      createClient({ url: served.origin + served.base, apiKey: keyOf("app") })
        .resource("quiet")
        .watch(),
    ).ended;
    expect((refused as Problem).code).toBe("not_acceptable");
    const api = clientOf(served, { storage: memoryStorage() });
    await api.signIn({ username: "kim", password: passwordOf("kim") });
    const { found, ended } = gathered(api.resource("cards").watch());
    await eventually(() => expect(found).toHaveLength(1));
    await served.send(`/sessions/${(await api.whoAmI()).session_id}`, { method: "DELETE", as: apikey("staff") });
    expect([((await ended) as Problem).status, api.isSignedIn]).toEqual([401, false]);
  });

  it("are the values at a path, and the versions of one object", async () => {
    const api = clientOf(await serve(retro()));
    const { id } = await api.resource("cards").create({ text: "one" });
    const flag = gathered(api.rootKey("flags").watch("beta", { signal: leaving.signal }));
    const card = gathered(api.resource("cards").watchObject(id, { signal: leaving.signal }));
    await eventually(() => expect([flag.found, card.found.length]).toEqual([[false], 1]));
    await api.rootKey("flags").set("beta", true);
    await api.resource("cards").delete(id);
    await eventually(() => expect(flag.found).toEqual([false, true]));
    await eventually(() => expect(card.found).toEqual([{ id, text: "one", _metadata: expect.anything() }, undefined]));
  });
});

describeServedEmbedded("a live list of @jsonplane/client", (serve) => {
  it("shows own writes at once, in order, and what others write", async () => {
    const served = await serve(retro());
    const [mine, theirs] = [clientOf(served).resource("cards"), clientOf(served).resource("cards")];
    const list = mine.live({ sort: ["-votes", "text"], signal: leaving.signal });
    const { found } = gathered(list);
    await eventually(() => expect(found).toEqual([[]]));
    const creating = list.create({ text: "b", votes: 1 });
    expect(texts(list.items)).toEqual(["b"]);
    const { id } = await creating;
    await theirs.create({ text: "a", votes: 1 });
    await eventually(() => expect(texts(found.at(-1))).toEqual(["a", "b"]));
    const voting = [1, 2, 3].map(() => list.edit(id, ({ votes = 0 }) => ({ votes: votes + 1 })));
    expect(list.items.map(({ votes }) => votes)).toEqual([4, 1]);
    await Promise.all(voting);
    await eventually(async () => expect(await theirs.get(id)).toMatchObject({ votes: 4 }));
    await eventually(() => expect(found.at(-1)?.map(({ votes }) => votes)).toEqual([4, 1]));
    await theirs.update(id, { text: "theirs" });
    await eventually(() => expect(texts(found.at(-1))).toEqual(["theirs", "a"]));
    const deleting = list.delete(id);
    expect(texts(list.items)).toEqual(["a"]);
    await deleting;
    await eventually(() => expect(texts(found.at(-1))).toEqual(["a"]));
    const sizes = found.map((items) => items.length);
    expect([Math.max(...sizes), new Set(found.flat().map((card) => card.id)).size]).toEqual([2, 3]);
  });

  it("shows no own write twice, though several come as one change after the connection was lost", async () => {
    const served = await serve(retro());
    let begin = Promise.resolve();
    const { fetch, cut } = cutting(() => begin);
    const cards = clientOf(served, { apiKey: keyOf("app"), fetch }).resource("cards");
    const { id } = await cards.create({ text: "counted", votes: 0 });
    const list = cards.live({ signal: leaving.signal });
    const { found } = gathered(list);
    await eventually(() => expect(found).toHaveLength(1));
    const back = Promise.withResolvers<void>();
    begin = back.promise;
    cut();
    for (let n = 0; n < 3; n += 1) await list.edit(id, ({ votes = 0 }) => ({ votes: votes + 1 }));
    await cards.create({ text: "last" });
    back.resolve();
    await eventually(() => expect(texts(found.at(-1))).toEqual(["counted", "last"]));
    expect(found.map(([card]) => card?.votes ?? 0).filter((votes) => votes > 3)).toEqual([]);
  });

  it("shows once what it creates, though the event comes before the answer", async () => {
    const served = await serve(retro());
    const answered = Promise.withResolvers<void>();
    const held: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method === "POST") await answered.promise;
      return response;
    };
    const theirs = clientOf(served).resource("cards");
    const { id } = await theirs.create({ text: "old" });
    const list = clientOf(served, { apiKey: keyOf("app"), fetch: held })
      .resource("cards")
      .live({ signal: leaving.signal });
    const { found } = gathered(list);
    await eventually(() => expect(texts(list.items)).toEqual(["old"]));
    const creating = list.create({ text: "mine" });
    await eventually(async () => expect((await theirs.page()).count).toBe(2));
    await theirs.update(id, { text: "seen after it" });
    await eventually(() => expect(texts(list.items)).toEqual(["seen after it", "mine"]));
    answered.resolve();
    const mine = await creating;
    await eventually(() => expect(found.at(-1)?.map((card) => card.id)).toEqual([id, mine.id]));
    expect(Math.max(...found.map((items) => items.length))).toBe(2);
  });

  it("takes back what the server refuses", async () => {
    const api = clientOf(await serve(retro()));
    const list = api.resource("cards").live({ signal: leaving.signal });
    const { found } = gathered(list);
    await eventually(() => expect(found).toEqual([[]]));
    const { id } = await list.create({ text: "kept" });
    const refused = [list.update(id, { text: "x".repeat(21) }), list.create({ text: "y".repeat(21) })];
    expect(list.items).toHaveLength(2);
    for (const outcome of await Promise.allSettled(refused)) {
      expect(outcome.status === "rejected" && api.isProblem(outcome.reason, "validation_failed")).toBe(true);
    }
    await eventually(() => expect(texts(found.at(-1))).toEqual(["kept"]));
  });

  it("goes on where an edit changes nothing, or its function throws, and then shows what others write", async () => {
    const served = await serve(retro());
    const [cards, theirs] = [clientOf(served).resource("cards"), clientOf(served).resource("cards")];
    const { id } = await cards.create({ text: "card", votes: 1 });
    const list = cards.live({ signal: leaving.signal });
    const { found } = gathered(list);
    await eventually(() => expect(texts(found.at(-1))).toEqual(["card"]));
    await list.edit(id, ({ votes }) => (votes === 1 ? undefined : { votes: 1 }));
    const failing = list.edit(id, () => {
      throw new Error("mine");
    });
    expect(texts(list.items)).toEqual(["card"]);
    await expect(failing).rejects.toThrow("mine");
    await theirs.get(id);
    const before = found.length;
    await theirs.update(id, { votes: 5 });
    await eventually(() => expect(found.length).toBeGreaterThan(before));
    // The edit that changed nothing hides nothing.
    expect(found.slice(before).map(([card]) => card?.votes)).toEqual([5]);
  });

  it("leaves out what doesn't match the filter any more", async () => {
    const cards = clientOf(await serve(retro())).resource("cards");
    const { id } = await cards.create({ text: "popular", votes: 3 });
    const { found } = gathered(cards.live({ filter: { "votes:ge": 2 }, signal: leaving.signal }));
    await eventually(() => expect(texts(found.at(-1))).toEqual(["popular"]));
    await cards.update(id, { votes: 1 });
    await eventually(() => expect(found.at(-1)).toEqual([]));
  });

  it("has the order of the server's lists", async () => {
    const values = [null, false, true, -1, 2.5, 10, "", "10", "9", "a", "ü", [1], { b: 1 }];
    const served = await serve(retro(withResource("any", { scope: all, changes })));
    const any = createClient({ url: served.origin + served.base, apiKey: keyOf("app") }).resource("any");
    for (const value of [...values.toReversed(), undefined]) await any.create({ v: { w: value } });
    for (const sort of [["v.w"], ["-v.w"]]) {
      const listed = await Array.fromAsync(any.list({ sort }));
      expect(listed.toReversed().toSorted(orderOf(sort))).toEqual(listed);
    }
  });
});
