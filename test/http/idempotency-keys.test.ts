// POST with an Idempotency-Key: however often it is repeated, on whatever replica, it takes place
// once and is answered as at first.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { OutcomeUnknown } from "../../core/errors/store-errors.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { list, outcome, type Sender } from "../support/http/api-calls.ts";
import { type Reply, send } from "../support/http/http-client.ts";
import {
  apikey,
  project,
  withAuthenticationDisabled,
  withConfig,
  withKey,
  withResource,
  withRootKey,
} from "../support/http/projects.ts";
import {
  describeReplicas,
  describeServed,
  describeServedOnBothStores,
  type Served,
  serveFrom,
} from "../support/http/served.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";

const key = apikey("writer");
const titled = { type: "object", properties: { title: { type: "string" } } } as const;
const shop = project(
  "shop",
  withKey("writer"),
  withKey("other"),
  withResource("books", { scope: { read: "All" } }),
  withResource("papers", { scope: { read: "All" } }),
  withResource("titled", { schema: titled }),
  withRootKey("doc", { initialValue: '{"l":[],"odd\\"":{}}' }),
);

const post = (sender: Sender, path: string, idempotencyKey: string, body: unknown): Promise<Reply> =>
  postAs(key, sender, path, { idempotencyKey, body });

interface Sent {
  readonly idempotencyKey: string;
  readonly body: unknown;
}

/** `as` is an Authorization header, undefined for an anonymous caller. */
function postAs(as: string | undefined, sender: Sender, path: string, { idempotencyKey, body }: Sent): Promise<Reply> {
  const headers = { "idempotency-key": idempotencyKey };
  return sender.send(path, { method: "POST", body, headers, ...(as !== undefined && { as }) });
}

/** All of an answer that tells what was done; every replica has an origin of its own here. */
function firstAnswer({ status, text, headers }: Reply) {
  const location = headers.location?.replace(/^http:\/\/[^/]+/, "");
  return { status, text, etag: headers.etag, location, type: headers["content-type"] };
}

describeServedOnBothStores("a POST with an Idempotency-Key", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });

  it("creates one object and answers every repetition as the first one, whatever happened since", async () => {
    const first = await post(served, "/api/books", '"k1"', '{"n":1.0,"title":"Dune"}');
    expect([first.status, first.headers["idempotent-replayed"]]).toEqual([201, undefined]);
    const path = `/api/books/${first.json<{ id: string }>().id}`;
    const repeat = async () => {
      // White space does not make another body.
      const again = await post(served, "/api/books", '"k1"', ' { "n" : 1.0, "title":"Dune" } ');
      expect(firstAnswer(again)).toEqual(firstAnswer(first));
      expect(again.headers["idempotent-replayed"]).toBe("true");
    };
    await repeat();
    expect((await list(served, "books", key)).count).toBe(1);
    expect((await served.send(path, { as: key })).text).toBe(first.text);
    await served.send(path, { method: "PUT", body: { n: 2 }, as: key });
    await repeat();
    await served.send(path, { method: "DELETE", as: key });
    await repeat();
    expect((await list(served, "books", key)).count).toBe(0);
  });

  for (const path of ["/json/doc/l/-", "/json/doc/l/0", "/json/doc/key", "/json/doc/odd%22/-"]) {
    it(`adds at ${path} once and answers every repetition as the first one`, async () => {
      const first = await post(served, path, "k1", ' {"v": 1e2} ');
      expect([first.status, first.text]).toEqual([201, '{"v":100.0}']);
      const before = (await served.send("/json/doc", { as: key })).text;
      for (let n = 0; n < 2; n += 1) {
        const again = await post(served, path, "k1", '{"v":100.0}');
        expect([firstAnswer(again), again.headers["idempotent-replayed"]]).toEqual([firstAnswer(first), "true"]);
      }
      expect((await served.send("/json/doc", { as: key })).text).toBe(before);
    });
  }

  it("with another body is 422 and writes nothing", async () => {
    await post(served, "/api/papers", "same", { n: 1 });
    await post(served, "/json/doc/a", "same", 1);
    for (const reply of [
      await post(served, "/api/papers", "same", { n: 2 }),
      await post(served, "/api/papers", "same", { n: 1, m: 1 }),
      await post(served, "/json/doc/a", "same", 2),
    ]) {
      expect(outcome(reply)).toEqual([422, "idempotency_key_reused"]);
    }
    expect((await list(served, "papers", key)).count).toBe(1);
  });

  it("is another request by another caller, at another path and in another project", async () => {
    const two = await serve([shop, project("second", withKey("writer"), withResource("books"))]);
    const second: Sender = { send: (path, sent) => send(two.origin, `/${two.namespace}/second${path}`, sent) };
    const replies = [
      await post(two, "/api/books", "k", { n: 1 }),
      await postAs(apikey("other"), two, "/api/books", { idempotencyKey: "k", body: { n: 1 } }),
      await post(two, "/api/papers", "k", { n: 1 }),
      await post(two, "/json/doc/a", "k", { n: 1 }),
      await post(two, "/json/doc/b", "k", { n: 1 }),
    ];
    expect(replies.map(({ status }) => status)).toEqual(Array(5).fill(201));
    expect((await post(second, "/api/books", "k", { n: 1 })).status).toBe(201);
    expect((await list(two, "books", key)).count).toBe(2);
  });

  it("is the same with and without quotes, and with a slash at the path's end", async () => {
    const first = await post(served, "/api/books", '"quoted"', { n: 1 });
    expect((await post(served, "/api/books/", "quoted", { n: 1 })).text).toBe(first.text);
  });

  it("that was refused is a new request when it is repeated: nothing was done", async () => {
    const bad = await post(served, "/api/titled", "retry", { title: 1 });
    expect(outcome(bad)).toEqual([400, "validation_failed"]);
    expect((await post(served, "/api/titled", "retry", { title: "ok" })).status).toBe(201);
    await served.send("/json/doc/taken", { method: "PUT", body: 1, as: key });
    expect(outcome(await post(served, "/json/doc/taken", "retry", 2))).toEqual([409, "key_exists"]);
    await served.send("/json/doc/taken", { method: "DELETE", as: key });
    expect((await post(served, "/json/doc/taken", "retry", 2)).status).toBe(201);
  });

  it("is answered as at first although the schema would refuse it now, or the resource is full", async () => {
    const strict = await serve(shop);
    const first = await post(strict, "/api/titled", "k", { title: "Dune" });
    const schema = { ...titled, required: ["pages"] };
    strict.change(withResource("titled", { schema, maxObjects: 1 }));
    expect(outcome(await post(strict, "/api/titled", "new", { title: "Dune" }))).toEqual([400, "validation_failed"]);
    expect(firstAnswer(await post(strict, "/api/titled", "k", { title: "Dune" }))).toEqual(firstAnswer(first));
  });

  it("goes before its own preconditions when it is repeated", async () => {
    const once = () =>
      served.send("/json/doc/once", {
        method: "POST",
        body: "1",
        as: key,
        headers: { "idempotency-key": "k", "if-none-match": "*" },
      });
    const first = await once();
    expect([first.status, firstAnswer(await once())]).toEqual([201, firstAnswer(first)]);
  });

  it("is refused without the right to create, and tells nothing of who used the key", async () => {
    await post(served, "/api/books", "mine", { n: 1 });
    expect(outcome(await postAs(undefined, served, "/api/books", { idempotencyKey: "mine", body: { n: 1 } }))).toEqual([
      401,
      "authentication_required",
    ]);
  });

  it("works for anonymous callers too", async () => {
    const open = await serve(project("open", withAuthenticationDisabled(), withResource("books"), withRootKey("doc")));
    const send = () => postAs(undefined, open, "/api/books", { idempotencyKey: "k", body: { n: 1 } });
    const first = await send();
    expect([first.status, firstAnswer(await send())]).toEqual([201, firstAnswer(first)]);
  });

  it("is ignored on other methods", async () => {
    const put = (body: string) =>
      served.send("/json/doc/put", { method: "PUT", body, as: key, headers: { "idempotency-key": "k" } });
    expect((await put("1")).text).toBe("1");
    expect((await put("2")).text).toBe("2");
  });

  it("is refused with 400 when the key is empty, too long, or of other characters", async () => {
    for (const sent of [
      "",
      '""',
      "a b",
      '"a',
      "a,b c",
      '"a", "b"',
      "x".repeat(256),
      `"${"x".repeat(256)}"`,
      "é",
      '"a\\b"',
    ]) {
      const reply = await post(served, "/api/books", sent, { n: 1 });
      expect([sent, ...outcome(reply)]).toEqual([sent, 400, "invalid_header"]);
    }
    for (const sent of ["x".repeat(255), `"${"x y".repeat(85)}"`]) {
      expect((await post(served, "/api/books", sent, { n: 1 })).status).toBe(201);
    }
  });
});

describeServed("an Idempotency-Key of the project before", (serve) => {
  it("answers nothing for one that was made anew under its name", async () => {
    const served = await serve(shop);
    const first = await post(served, "/api/books", "k", { n: 1 });
    served.change(withConfig({ uid: "another" }));
    const again = await post(served, "/api/books", "k", { n: 1 });
    expect(again.status).toBe(201);
    expect(again.text).not.toBe(first.text);
  });
});

describeServed("a resource that is made anew", (serve) => {
  it("answers a key of the one before with a new object", async () => {
    const served = await serve(shop);
    const first = await post(served, "/api/books", "seed", { n: 1 });
    served.change((parts) => {
      const books = parts.resources.get("books") as NonNullable<ReturnType<typeof parts.resources.get>>;
      return { ...parts, resources: new Map(parts.resources).set("books", { ...books, uid: "another" }) };
    });
    const again = await post(served, "/api/books", "seed", { n: 1 });
    expect([again.status, again.headers["idempotent-replayed"]]).toEqual([201, undefined]);
    expect(again.json().id).not.toBe(first.json().id);
  });
});

describeReplicas("a POST with an Idempotency-Key", (serveTwice) => {
  it("takes place once when it arrives many times at once on two replicas, and all hear one answer", async () => {
    const planes = await serveTwice(shop);
    for (const [path, count] of [
      ["/api/books", async () => (await list(planes[0], "books", key)).count],
      ["/json/doc/l/-", async () => (await planes[0].send("/json/doc/l", { as: key })).json<unknown[]>().length],
      [
        "/json/doc/odd%22/k",
        async () => Object.keys((await planes[0].send("/json/doc/odd%22", { as: key })).json()).length,
      ],
    ] as const) {
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, n) => post(planes[n % 2 === 0 ? 0 : 1], path, "together", { n: 1 })),
      );
      const answers = replies.map(firstAnswer);
      expect(answers).toEqual(Array(20).fill({ ...answers[0], status: 201 }));
      expect(replies.filter(({ headers }) => headers["idempotent-replayed"] === undefined)).toHaveLength(1);
      expect(await count()).toBe(1);
    }
  });
});

describe("a POST with an Idempotency-Key whose answer was lost", () => {
  let redis: TestRedis;
  const closing: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function serveOn(namespace: string, through = (store: Store): Store => store): Promise<Served> {
    const store = await openRedisStore({ url: redis.url });
    const served = await serveFrom(through(store), [shop], { namespace });
    closing.push(async () => {
      await served.plane.close();
      await store.close();
    });
    return served;
  }

  /** A store whose writes take place, and whose answers never come. */
  const losingAnswers = (store: Store): Store => {
    const lost = () => {
      throw new OutcomeUnknown("The connection ended");
    };
    return {
      ...store,
      create: (...args) => store.create(...args).then(lost),
      insertAt: (...args) => store.insertAt(...args).then(lost),
    };
  };

  it("between the write and its reply is answered on another replica as it would have been, and took place once", async () => {
    const one = await serveOn("ns-lost", losingAnswers);
    const two = await serveOn("ns-lost");
    await two.send("/json/doc", { method: "PUT", body: '{"l":[],"odd\\"":[]}', as: key });
    for (const path of ["/api/books", "/json/doc/l/-", "/json/doc/odd%22/0"]) {
      expect(outcome(await post(one, path, "lost", { title: "Dune" }))).toEqual([503, "outcome_unknown"]);
      const again = await post(two, path, "lost", { title: "Dune" });
      expect([again.status, again.headers["idempotent-replayed"]]).toEqual([201, "true"]);
      expect(firstAnswer(await post(one, path, "lost", { title: "Dune" }))).toEqual(firstAnswer(again));
    }
    const { items } = await list(two, "books", key);
    expect(items.map(({ title }) => title)).toEqual(["Dune"]);
    expect((await two.send("/json/doc", { as: key })).text).toBe(
      '{"l":[{"title":"Dune"}],"odd\\"":[{"title":"Dune"}]}',
    );
  });

  it("is a new one after 24 hours: Redis keeps its record so long", async () => {
    const served = await serveOn("ns-expiry");
    await post(served, "/api/books", "k", { n: 1 });
    await post(served, "/json/doc/a", "k", { n: 1 });
    const names = (await askRedis(redis.port, "KEYS jp:{ns-expiry/*idempotency:*")).match(/^jp:.*$/gm) ?? [];
    expect(names).toHaveLength(2);
    for (const name of names) {
      const seconds = Number((await askRedis(redis.port, `TTL ${name}`)).slice(1));
      expect(seconds).toBeGreaterThan(23 * 3_600);
      expect(seconds).toBeLessThanOrEqual(24 * 3_600);
    }
  });
});
