// The package @jsonplane/client: lists, writes and sessions, also where answers are lost, requests
// are refused for a while, and clocks are wrong.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { type ClientOptions, createClient, type Problem } from "../../client/index.ts";
import { memoryStorage } from "../../client/session.ts";
import { systemClock } from "../../core/clock.ts";
import {
  apikey,
  keyOf,
  type Modifier,
  passwordOf,
  project,
  withKey,
  withLimits,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

interface Note {
  readonly id: string;
  readonly title: string;
  readonly votes?: number;
  readonly tags?: readonly string[];
}

interface Api {
  readonly resources: {
    readonly notes: {
      readonly object: Note;
      readonly create: Omit<Note, "id">;
      readonly update: Partial<Omit<Note, "id">>;
      readonly patch: Partial<Omit<Note, "id">>;
      readonly filters: { readonly title: string; readonly "title:in": readonly string[]; readonly "votes:ge": number };
      readonly sort: "title" | "-title";
    };
  };
  readonly rootKeys: {
    readonly settings: { readonly theme: string; readonly hours: readonly { readonly from: string }[]; visits: number };
  };
  readonly problems: "not_found" | "precondition_failed" | "invalid_credentials" | "login_throttled";
}

const schema = {
  type: "object",
  properties: {
    title: { type: "string", maxLength: 40 },
    votes: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
  },
} as const;
const scope = { read: "All", write: "All" } as const;
const board = (...more: readonly Modifier[]) =>
  project(
    "board",
    withKey("app"),
    withUser("kim"),
    withResource("notes", { schema, indexes: ["title"], scope }),
    withRootKey("settings", { initialValue: '{"theme":"red","hours":[{"from":"09:00"}],"visits":0}' }),
    ...more,
  );

const clientOf = ({ origin, base }: Served, options: Partial<ClientOptions> = {}) =>
  createClient<Api>({ url: origin + base, ...options });
const appOf = (served: Served, options: Partial<ClientOptions> = {}) =>
  clientOf(served, { apiKey: keyOf("app"), ...options });

/** Requests of this method are carried out, and the answers to the first ones never come. */
function losing(method: string, times = 1): { readonly fetch: typeof fetch; sent: number } {
  const lossy = {
    sent: 0,
    async fetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
      const response = await fetch(input, init);
      if (init?.method !== method) return response;
      lossy.sent += 1;
      if (lossy.sent > times) return response;
      await response.body?.cancel();
      throw new TypeError("fetch failed");
    },
  };
  return lossy;
}

/** The requests that it sends, by the last part of their path. */
function counting(): { readonly fetch: typeof fetch; readonly sent: string[] } {
  const sent: string[] = [];
  return {
    sent,
    fetch: (input, init) => {
      sent.push(String(input).split("/").at(-1) ?? "");
      return fetch(input, init);
    },
  };
}

const problemOf = async (refused: Promise<unknown>) =>
  (await refused.then(
    () => undefined,
    (error) => error,
  )) as Problem;
const hour = 3_600_000;

describeServed("@jsonplane/client", (serve) => {
  it("lists all objects across pages, and those of one page, by filters, order and fields", async () => {
    const notes = appOf(await serve(board())).resource("notes");
    const titles = Array.from({ length: 23 }, (_, n) => `note ${String(n).padStart(2, "0")}`);
    for (const title of [...titles, "a,b"]) await notes.create({ title, votes: title.length });
    const listed = await Array.fromAsync(notes.list({ sort: "-title", limit: 10, filter: { "votes:ge": 7 } }));
    expect(listed.map(({ title }) => title)).toEqual(titles.toReversed());
    const first = await notes.page({ sort: "title", limit: 20, fields: ["title"] });
    const second = await notes.page({ sort: "title", limit: 20, cursor: first.next, fields: ["title"] });
    expect([first.count, first.items.length, second.items.length, second.next]).toEqual([24, 20, 4, undefined]);
    expect(Object.keys(first.items[0] ?? {})).toEqual(["id", "title"]);
    const some = await notes.page({ filter: { "title:in": ["a,b", "note 07"] }, sort: [], offset: 0, count: false });
    expect([some.count, some.items.map(({ title }) => title)]).toEqual([undefined, ["note 07", "a,b"]]);
    expect(await notes.countBy("votes", { filter: { title: "a,b" } })).toEqual([{ value: 3, count: 1 }]);
  });

  it("creates once, and deletes, where the answers are lost", async () => {
    const served = await serve(board());
    const [posts, deletes] = [losing("POST", 2), losing("DELETE")];
    const made = await appOf(served, { fetch: posts.fetch }).resource("notes").create({ title: "once" });
    expect(posts.sent).toBe(3);
    const notes = appOf(served, { fetch: deletes.fetch }).resource("notes");
    expect((await notes.page()).items).toEqual([made]);
    await notes.delete(made.id);
    expect([deletes.sent, (await problemOf(notes.get(made.id))).code]).toEqual([2, "not_found"]);
    expect((await problemOf(notes.delete(made.id))).code).toBe("not_found");
  });

  it("edits without losing what others write, and not twice where an answer is lost", async () => {
    const served = await serve(board());
    const notes = appOf(served).resource("notes");
    const { id } = await notes.create({ title: "edited", tags: [] });
    const names = Array.from({ length: 8 }, (_, n) => `tag ${n}`);
    const add = (tag: string) => notes.edit(id, ({ tags = [] }) => ({ tags: [...tags, tag] }));
    await Promise.all(names.map(add));
    expect((await notes.get(id)).tags?.toSorted()).toEqual(names);
    const lossy = losing("PATCH");
    const voted = await appOf(served, { fetch: lossy.fetch })
      .resource("notes")
      .edit(id, ({ votes = 0 }) => ({ votes: votes + 1 }));
    expect([lossy.sent, voted.votes, (await notes.get(id)).votes]).toEqual([2, 1, 1]);
  });

  it("says so where an answer is lost and nobody knows whose change is stored", async () => {
    const served = await serve(board());
    const notes = appOf(served).resource("notes");
    const { id } = await notes.create({ title: "disputed", votes: 0 });
    const lossy = losing("PATCH");
    const between: typeof fetch = async (input, init) => {
      const answer = lossy.fetch(input, init);
      await answer.catch(() => notes.update(id, { votes: 5 }));
      return await answer;
    };
    const edited = appOf(served, { fetch: between }).resource("notes");
    const lost = await problemOf(edited.edit(id, ({ votes = 0 }) => ({ votes: votes + 1 })));
    expect([lost.code, lost.status, (await notes.get(id)).votes]).toEqual(["no_response", 0, 5]);
  });

  it("writes under the tag of what was read, listed or written", async () => {
    const api = appOf(await serve(board()));
    const notes = api.resource("notes");
    const made = await notes.create({ title: "seen" });
    const [listed] = (await notes.page({ etags: true })).items;
    expect(api.etagOf(listed ?? {})).toBe(api.etagOf(made));
    const changed = await notes.update(made.id, { votes: 1 }, { ifMatch: api.etagOf(made) });
    const late = await problemOf(notes.delete(made.id, { ifMatch: api.etagOf(made) }));
    expect([api.isProblem(late, "precondition_failed"), api.isProblem(late, "not_found")]).toEqual([true, false]);
    await notes.delete(made.id, { ifMatch: api.etagOf(changed) });
  });

  it("counts once: an increment whose answer is lost is not sent again", async () => {
    const served = await serve(board());
    const notes = appOf(served).resource("notes");
    const { id } = await notes.create({ title: "counted", votes: 1 });
    expect((await notes.increment(id, "votes", 2)).votes).toBe(3);
    const lossy = losing("PATCH");
    const lost = await problemOf(appOf(served, { fetch: lossy.fetch }).resource("notes").increment(id, "votes", 1));
    expect([lossy.sent, lost.code, (await notes.get(id)).votes]).toEqual([1, "no_response", 4]);
    expect((await problemOf(notes.increment(id, "votes", -9, { min: 0 }))).code).toBe("increment_out_of_bounds");
  });

  it("creates or updates by the values of a unique rule", async () => {
    const title = { name: "title", path: ["title"] };
    const unique = withResource("notes", { schema, scope, unique: [{ fields: [title] }] });
    const notes = appOf(await serve(board(unique))).resource("notes");
    const made = await notes.upsert({ title: "one & only" }, { votes: 1 });
    expect(await notes.upsert({ title: "one & only" }, { votes: 2 })).toEqual({ ...made, votes: 2 });
  });

  it("reads and writes at any path of a root key", async () => {
    const settings = appOf(await serve(board())).rootKey("settings");
    expect(await settings.get("hours/0/from")).toBe("09:00");
    await settings.insert("hours/-", { from: "14:00" });
    await settings.set("theme", "blue");
    expect(await settings.increment("visits", 3, { max: 5 })).toBe(3);
    await Promise.all([1, 2, 3].map(() => settings.edit("visits", (visits) => visits + 1)));
    await settings.update("", { "a/b": { "c d": 1 } });
    expect(await settings.get(["a/b", "c d"])).toBe(1);
    await settings.delete("hours/0");
    await expect(settings.delete("hours/")).rejects.toThrow("A URL can't have an empty key or id");
    const whole = { theme: "blue", hours: [{ from: "14:00" }], visits: 6, "a/b": { "c d": 1 } };
    expect(await settings.get()).toEqual(whole);
    expect((await problemOf(settings.set("theme", "red", { ifNoneMatch: "*" }))).code).toBe("precondition_failed");
  });

  it("removes one element of an array where the answer is lost", async () => {
    const served = await serve(board(withRootKey("settings", { initialValue: '{"hours":[1,2,3]}' })));
    const settings = appOf(served, { fetch: losing("DELETE").fetch }).rootKey("settings");
    expect((await problemOf(settings.delete("hours/0"))).code).toBe("no_response");
    expect(await settings.get("hours")).toEqual([2, 3]);
  });

  it("waits as long as Retry-After says, up to a bound, and ends at the caller's signal", async () => {
    const rate = { caller: { requestsPerSecond: 1, burst: 2 } };
    const served = await serve(
      board(withLimits({ rate: { ...rate, project: { requestsPerSecond: 100, burst: 100 } } })),
    );
    const { fetch, sent } = counting();
    const notes = appOf(served, { fetch }).resource("notes");
    await Promise.all([1, 2, 3].map((n) => notes.create({ title: `note ${n}` })));
    expect(sent.length).toBeLessThanOrEqual(4);
    const impatient = appOf(served, { maxRetries: 0 }).resource("notes");
    const refused = await problemOf(Promise.all([1, 2, 3].map(() => impatient.page())));
    expect([refused.code, refused.retryAfterMs]).toEqual(["rate_limited", 1_000]);
    const leaving = new AbortController();
    const left = Promise.all([1, 2, 3, 4].map(() => notes.page({ signal: leaving.signal })));
    leaving.abort(new Error("left the page"));
    await expect(left).rejects.toThrow("left the page");
  });

  it("sends again what a proxy or a starting server refuses with 503, and not what can't be told apart", async () => {
    const served = await serve(board());
    const answers: Response[] = [];
    const fetched: typeof fetch = async (input, init) => answers.shift() ?? (await fetch(input, init));
    const api = appOf(served, { fetch: fetched });
    const problem = { headers: { "Content-Type": "application/problem+json", "Retry-After": "0" }, status: 503 };
    answers.push(new Response('{"status":503,"code":"project_unavailable","detail":"Wait"}', problem));
    answers.push(new Response("<html>", { status: 502 }));
    const made = await api.resource("notes").create({ title: "patient" });
    expect((await api.resource("notes").page()).items).toEqual([made]);
    answers.push(new Response('{"status":503,', problem), new Response("<html>", { status: 504 }));
    expect(await api.resource("notes").get(made.id)).toEqual(made);
    const later = new Date(Date.now() + 1_000).toUTCString();
    answers.push(new Response("<html>", { status: 429, headers: { "Retry-After": later } }));
    expect(await api.rootKey("settings").increment("visits", 1)).toBe(1);
    answers.push(new Response("<html>", { status: 502 }));
    expect((await problemOf(api.rootKey("settings").increment("visits", 1))).code).toBe("unexpected_response");
    answers.push(new Response("<html>", { status: 200 }));
    expect(await problemOf(api.whoAmI())).toMatchObject({ code: "unexpected_response", status: 200 });
  });

  it("follows no redirect: a POST would become a GET, and what it sends might go elsewhere", async () => {
    const asked: (string | undefined)[] = [];
    const server = createServer(({ method }, response) => {
      asked.push(method);
      response.writeHead(301, { Location: "/elsewhere" }).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/default/board`;
    const refused = await problemOf(createClient({ url }).resource("notes").create({ title: "moved" }));
    server.close();
    expect([refused.code, refused.status, asked]).toEqual(["unexpected_response", 301, ["POST"]]);
  });

  it("ends at the caller's signal while a token is waited for, and throws what the token's source does", async () => {
    const served = await serve(board());
    const waiting = clientOf(served, { token: async () => await new Promise<never>(() => undefined) });
    const signal = AbortSignal.abort(new Error("left the page"));
    await expect(waiting.whoAmI({ signal })).rejects.toThrow("left the page");
    await expect(waiting.request("/whoami", { signal })).rejects.toThrow("left the page");
    const failing = clientOf(served, { token: async () => await Promise.reject(new Error("no login")) });
    await expect(failing.resource("notes").watch().next()).rejects.toThrow("no login");
  });
});

describeServed("sessions of @jsonplane/client", (serve) => {
  const kim = { username: "kim", password: passwordOf("kim") };

  describe.each([
    ["an hour behind", hour],
    ["an hour ahead", -hour],
  ])("with a clock that is %s", (_, offset) => {
    it("are refreshed once for all requests of a tab that find the token expired", async () => {
      let ahead = offset;
      const clock = { ...systemClock, now: () => systemClock.now() + ahead };
      const served = await serve(board(), { clock });
      const [storage, { fetch, sent }] = [memoryStorage(), counting()];
      const tabs = [clientOf(served, { storage, fetch }), clientOf(served, { storage, fetch })];
      await tabs[0]?.signIn(kim);
      expect((await tabs[1]?.whoAmI())?.name).toBe("kim");
      ahead += 301_000;
      const names = await Promise.all([...tabs, ...tabs].map(async (tab) => (await tab.whoAmI()).name));
      expect(names).toEqual(["kim", "kim", "kim", "kim"]);
      expect(sent.filter((path) => path === "refresh").length).toBeLessThanOrEqual(tabs.length);
      expect((await tabs[0]?.whoAmI())?.name).toBe("kim");
    });
  });

  it("end for all tabs on signing out, and where they were ended elsewhere", async () => {
    const served = await serve(board(withKey("staff", { role: "Administrators" })));
    const storage = memoryStorage();
    const [one, other] = [clientOf(served, { storage }), clientOf(served, { storage })];
    const heard: boolean[] = [];
    const stop = one.onAuthStateChange((isSignedIn) => heard.push(isSignedIn));
    await one.signIn(kim);
    await other.signOut();
    expect([one.isSignedIn, (await one.whoAmI()).kind]).toEqual([false, "anonymous"]);
    await one.signIn(kim);
    await served.send(`/sessions/${(await one.whoAmI()).session_id}`, { method: "DELETE", as: apikey("staff") });
    const refused = await problemOf(one.whoAmI());
    expect([one.isProblem(refused, "invalid_credentials"), one.isSignedIn]).toEqual([true, false]);
    await one.signOut();
    stop();
    await one.signIn(kim);
    expect(heard).toEqual([true, true, false]);
  });

  it("refuse a wrong password at once", async () => {
    const { fetch, sent } = counting();
    const api = clientOf(await serve(board()), { fetch });
    const refused = await problemOf(api.signIn({ ...kim, password: "wrong" }));
    expect([refused.code, refused.status, api.isSignedIn, sent.length]).toEqual(["invalid_credentials", 401, false, 1]);
  });

  it("go on where the answer to a refresh is lost, and the request takes effect once", async () => {
    let ahead = 0;
    const served = await serve(board(), { clock: { ...systemClock, now: () => systemClock.now() + ahead } });
    const lossy = losing("POST", 2);
    const api = clientOf(served, {
      fetch: (input, init) => (ahead === 0 ? fetch(input, init) : lossy.fetch(input, init)),
    });
    await api.signIn(kim);
    ahead = 301_000;
    // It was refused for its token, so to send it again doesn't count twice.
    expect(await api.rootKey("settings").increment("visits", 1)).toBe(1);
    expect([lossy.sent, api.isSignedIn]).toEqual([3, true]);
  });

  it("send nothing again as the person who signs in meanwhile", async () => {
    let ahead = 0;
    const served = await serve(board(withUser("noa")), {
      clock: { ...systemClock, now: () => systemClock.now() + ahead },
    });
    const befores: (() => Promise<void>)[] = [];
    const api = clientOf(served, {
      async fetch(input, init) {
        if (String(input).endsWith("/notes")) await befores.shift()?.();
        return await fetch(input, init);
      },
    });
    const another = () => api.signIn({ username: "noa", password: passwordOf("noa") });
    const lose = async () => {
      await another();
      throw new TypeError("fetch failed");
    };
    const expire = async () => {
      ahead = 301_000;
      await another();
    };
    await api.signIn(kim);
    befores.push(lose);
    const made = await api.resource("notes").create({ title: "begun by kim" });
    expect([made, (await api.whoAmI()).name]).toMatchObject([{ _metadata: { creator: "kim" } }, "noa"]);
    await api.signIn(kim);
    befores.push(expire);
    const refused = await problemOf(api.resource("notes").create({ title: "expired meanwhile" }));
    expect([refused.code, (await api.whoAmI()).name]).toEqual(["token_expired", "noa"]);
  });

  it("aren't needed with tokens of the caller's own, who is asked again when one has expired", async () => {
    let ahead = 0;
    const served = await serve(board(), { clock: { ...systemClock, now: () => systemClock.now() + ahead } });
    const login = async () => {
      const storage = memoryStorage();
      await clientOf(served, { storage }).signIn(kim);
      return JSON.parse(storage.getItem(`jsonplane:${served.origin}${served.base}`) ?? "").access_token as string;
    };
    const asked: (string | undefined)[] = [];
    let token = await login();
    const api = clientOf(served, {
      async token(expired) {
        asked.push(expired);
        if (expired !== undefined) token = await login();
        return token;
      },
    });
    const first = token;
    await api.whoAmI();
    ahead = 301_000;
    expect((await api.whoAmI()).name).toBe("kim");
    expect(asked).toEqual([undefined, undefined, first]);
  });
});
