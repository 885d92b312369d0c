// The collection of TanStack DB in @jsonplane/client, with the library as npm has it, on two
// replicas.

import { createCollection } from "@tanstack/db";
import { afterEach, expect, it } from "vitest";
import { createClient } from "../../client/index.ts";
import { jsonplaneCollectionOptions } from "../../client/tanstack-db.ts";
import { keyOf, passwordOf, project, withKey, withResource, withUser } from "../support/http/projects.ts";
import { describeReplicas, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";
import { createNetwork } from "./client-network.ts";

interface Card {
  readonly id: string;
  readonly text: string;
  readonly votes?: number;
  readonly note?: { readonly by?: string; readonly at?: string };
}
interface Api {
  readonly resources: {
    readonly cards: {
      readonly object: Card & { readonly _metadata: object };
      readonly create: Omit<Card, "id">;
      readonly update: Partial<Omit<Card, "id">>;
      readonly patch: object;
      readonly filters: object;
      readonly sort: "text";
    };
  };
  readonly rootKeys: object;
  readonly problems: "precondition_failed" | "validation_failed";
}

const changes = { retentionSeconds: 3600, maxEntries: 1_000 };
const schema = {
  type: "object",
  properties: {
    text: { type: "string", maxLength: 20 },
    votes: { type: ["integer", "null"] },
    note: { type: "object" },
  },
};
const rules = { unique: [{ fields: [{ name: "text", path: ["text"] }] }] };
const cards = { schema, scope: { read: "All", write: "All" }, changes } as const;
const board = project("board", withKey("app"), withUser("kim"), withUser("noa"), withResource("cards", cards));

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A page that shows the collection. */
async function opened({ origin, base }: Served, more: object = {}, credential: object = { apiKey: keyOf("app") }) {
  const network = createNetwork();
  const api = createClient<Api>({ url: origin + base, fetch: network.fetch, ...credential });
  if (!("apiKey" in credential)) await api.signIn({ username: "kim", password: passwordOf("kim") });
  const shown = createCollection(jsonplaneCollectionOptions({ client: api, resource: "cards", ...more }));
  closing.push(() => shown.cleanup());
  const views: string[] = [];
  const subscription = shown.subscribeChanges(() => views.push(view()));
  closing.push(() => subscription.unsubscribe());
  const view = () =>
    shown.toArray
      .map(({ text, votes = 0 }) => `${text} ${votes}`)
      .toSorted()
      .join();
  await shown.preload();
  return { api, network, shown, view, views, add: (text: string) => shown.insert({ id: `new ${text}`, text }) };
}

const failure = async (write: { when(state: "settled"): Promise<unknown> }) =>
  await write.when("settled").then(
    () => undefined,
    (error: unknown) => error,
  );

describeReplicas("a collection of TanStack DB", (serveTwice) => {
  it("shows own writes at once, and those of others, each row once", async () => {
    const [one, other] = await serveTwice(board);
    const [kim, noa] = [await opened(one), await opened(other)];
    const adding = kim.add("b");
    expect(kim.view()).toBe("b 0");
    await adding.when("settled");
    await eventually(() => expect(noa.view()).toBe("b 0"));
    const [{ id } = { id: "" }] = kim.shown.toArray;
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const voting = [1, 2, 3].map((votes) => kim.shown.update(id, (card) => void Object.assign(card, { votes })));
    expect(kim.view()).toBe("b 3");
    await Promise.all(voting.map((each) => each.when("settled")));
    await eventually(() => expect(noa.view()).toBe("b 3"));
    await noa.shown
      .update(id, (card) => void Object.assign(card, { votes: null, note: { by: "noa", at: "9" } }))
      .when("settled");
    // Null is a value, and undefined is none.
    await eventually(() => expect(kim.view()).toBe("b null"));
    await kim.shown
      .update(id, (card) => void Object.assign(card, { votes: undefined, note: { by: "kim" } }))
      .when("settled");
    await eventually(() => expect(noa.shown.get(id)?.note).toEqual({ by: "kim" }));
    const deleting = kim.shown.delete(id);
    expect(kim.view()).toBe("");
    await deleting.when("settled");
    await eventually(() => expect(noa.view()).toBe(""));
    // Never gone or taken back in between, and never there twice.
    expect(kim.views.filter((each, at) => each !== kim.views[at - 1])).toEqual([
      "",
      "b 0",
      "b 1",
      "b 2",
      "b 3",
      "b null",
      "b 0",
      "",
    ]);
  });

  it("takes back what the server refuses, and what somebody else has changed meanwhile", async () => {
    const [one, other] = await serveTwice(board);
    const [kim, noa] = [await opened(one), await opened(other)];
    const refused = kim.add("x".repeat(21));
    expect(kim.api.isProblem(await failure(refused), "validation_failed")).toBe(true);
    expect(kim.view()).toBe("");
    await kim.add("a").when("settled");
    await eventually(() => expect(noa.view()).toBe("a 0"));
    const [{ id } = { id: "" }] = noa.shown.toArray;
    kim.network.cut();
    const late = kim.shown.update(id, (card) => void Object.assign(card, { text: "mine" }));
    await noa.shown.update(id, (card) => void Object.assign(card, { votes: 1 })).when("settled");
    expect(kim.view()).toBe("mine 0");
    kim.network.restore();
    expect(kim.api.isProblem(await failure(late), "precondition_failed")).toBe(true);
    await eventually(() => expect(kim.view()).toBe("a 1"));
  });

  it("goes on while offline, and both sides have the same afterwards, at another replica", async () => {
    const [one, other] = await serveTwice(board);
    const [kim, noa] = [await opened(one), await opened(other)];
    await Promise.all(["a", "b", "c"].map((text) => noa.add(text).when("settled")));
    await eventually(() => expect(kim.view()).toBe("a 0,b 0,c 0"));
    kim.network.cut();
    const idOf = (text: string) => kim.shown.toArray.find((card) => card.text === text)?.id ?? "";
    const created = kim.add("d");
    const writes = [
      created,
      kim.shown.update("new d", (card) => void Object.assign(card, { votes: 4 })),
      kim.shown.update(idOf("a"), (card) => void Object.assign(card, { votes: 1 })),
      kim.shown.delete(idOf("b")),
    ];
    expect(kim.view()).toBe("a 1,c 0,d 4");
    await noa.shown.update(idOf("c"), (card) => void Object.assign(card, { votes: 3 })).when("settled");
    await noa.add("e").when("settled");
    expect(kim.view()).toBe("a 1,c 0,d 4");
    await one.plane.close();
    kim.network.restore(other.origin);
    await Promise.all(writes.map((each) => each.when("settled")));
    for (const { view } of [kim, noa]) await eventually(() => expect(view()).toBe("a 1,c 3,d 4,e 0"));
  });

  it("finds out what became of a write whose answer was lost", async () => {
    const [one, other] = await serveTwice(board);
    const [kim, noa] = [await opened(one), await opened(other)];
    kim.network.loseNextAnswer();
    await kim.add("a").when("settled");
    await eventually(() => expect(noa.view()).toBe("a 0"));
    const [{ id } = { id: "" }] = kim.shown.toArray;
    kim.network.loseNextAnswer();
    await kim.shown.update(id, (card) => void Object.assign(card, { votes: 1 })).when("settled");
    await eventually(() => expect([kim.view(), noa.view()]).toEqual(["a 1", "a 1"]));
    kim.network.loseNextAnswer();
    await kim.shown.delete(id).when("settled");
    await eventually(() => expect([kim.view(), noa.view()]).toEqual(["", ""]));
  });

  it("waits for the network also where it has to read what became of a write", async () => {
    const [one] = await serveTwice(board);
    const kim = await opened(one, {}, { apiKey: keyOf("app"), maxRetries: 0 });
    await kim.add("a").when("settled");
    const [{ id } = { id: "" }] = kim.shown.toArray;
    kim.network.loseNextAnswer();
    kim.network.cut(`GET ${one.base}/api/cards/`);
    const writing = kim.shown.update(id, (card) => void Object.assign(card, { votes: 1 }));
    const { refusals } = kim.network;
    await eventually(() => expect(kim.network.refusals).toBeGreaterThan(refusals));
    kim.network.restore();
    await writing.when("settled");
    expect(kim.view()).toBe("a 1");
  });

  it("reads again what is stored after a reset, also below writes that wait", async () => {
    const [one, other] = await serveTwice(board);
    const [kim, noa] = [await opened(one), await opened(other)];
    await Promise.all(["a", "b"].map((text) => noa.add(text).when("settled")));
    await eventually(() => expect(kim.view()).toBe("a 0,b 0"));
    kim.network.cut();
    const adding = kim.add("c");
    const gone = noa.shown.toArray.find(({ text }) => text === "a")?.id ?? "";
    await noa.shown.delete(gone).when("settled");
    kim.network.loseNextPosition();
    kim.network.restore();
    await adding.when("settled");
    await eventually(() => expect(kim.view()).toBe("b 0,c 0"));
  });

  it("keeps the key of a row that is unique on the server", async () => {
    const [one] = await serveTwice(project("board", withKey("app"), withResource("cards", { ...cards, ...rules })));
    const kim = await opened(one, { getKey: ({ text }: Card) => text });
    const adding = kim.add("a");
    kim.shown.update("a", (card) => void Object.assign(card, { votes: 1 }));
    await adding.when("settled");
    await eventually(() =>
      expect(kim.shown.get("a")).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), votes: 1 }),
    );
  });

  it("follows on where two objects have had one key while it listed", async () => {
    const [one] = await serveTwice(project("board", withKey("app"), withResource("cards", { ...cards, ...rules })));
    const stored = createClient<Api>({ url: one.origin + one.base, apiKey: keyOf("app") }).resource("cards");
    const [first] = [await stored.create({ text: "a" }), await stored.create({ text: "c" })];
    let isRenamed = false;
    const renaming: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (isRenamed) return response;
      isRenamed = true;
      await stored.update(first.id, { text: "b" });
      await stored.create({ text: "a" });
      return response;
    };
    const options = { getKey: ({ text }: Card) => text, pageSize: 1 };
    const kim = await opened(one, options, { apiKey: keyOf("app"), fetch: renaming });
    await eventually(() => expect(kim.view()).toBe("a 0,b 0,c 0"));
    await stored.delete(first.id);
    await eventually(() => expect(kim.view()).toBe("a 0,c 0"));
  });

  it("inserts a copy of a row, and shows it as it was changed at once, until the server tells of it", async () => {
    const exact = { ...cards, schema: { ...schema, additionalProperties: false } };
    const [one] = await serveTwice(project("board", withKey("app"), withResource("cards", exact)));
    const held = Promise.withResolvers<void>();
    let isHeld = false;
    // What the stream brings comes later than the answers.
    const holding: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (new Headers(init?.headers).get("Accept") !== "text/event-stream") return response;
      const later = new TransformStream<Uint8Array, Uint8Array>({
        transform: async (chunk, to) => {
          if (isHeld) await held.promise;
          to.enqueue(chunk);
        },
      });
      return new Response(response.body?.pipeThrough(later), response);
    };
    const kim = await opened(one, {}, { apiKey: keyOf("app"), fetch: holding });
    await kim.add("a").when("settled");
    const [row] = kim.shown.toArray;
    isHeld = true;
    const begin = kim.views.length;
    const writes = [
      kim.shown.insert({ ...(row as Card), id: "copy", text: "b" }),
      kim.shown.update("copy", (card) => void Object.assign(card, { votes: 1 })),
    ];
    await eventually(async () =>
      expect((await kim.api.resource("cards").page()).items.some(({ votes }) => votes === 1)).toBe(true),
    );
    held.resolve();
    await Promise.all(writes.map((each) => each.when("settled")));
    expect(kim.views.slice(begin).filter((each, at, all) => each !== all[at - 1])).toEqual(["a 0,b 0", "a 0,b 1"]);
  });

  it("says why it follows no more, and sends nothing in another person's name", async () => {
    const [one] = await serveTwice(board);
    const told: unknown[] = [];
    const kim = await opened(one, { onError: (error: unknown) => told.push(error) }, {});
    kim.network.cut(`POST ${one.base}/api/`);
    const adding = kim.add("kim's");
    await kim.api.signOut();
    await eventually(() => expect(told).toMatchObject([{ status: 401 }]));
    await kim.api.signIn({ username: "noa", password: passwordOf("noa") });
    kim.network.restore();
    expect(await failure(adding)).toMatchObject({ name: "AbortError" });
    expect((await kim.api.resource("cards").page()).items).toEqual([]);
  });
});
