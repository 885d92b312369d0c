// Callers whom an external issuer names: what they may do, what they own, what is said of them, and
// that a changed Project acts on the tokens that they have.

import { beforeAll, expect, it } from "vitest";
import type { WantedKeys } from "../../core/config/wanted-keys.ts";
import { list, login, make, outcome } from "../support/http/api-calls.ts";
import { keyPair, now, testIssuer, withIssuer, withoutIssuer } from "../support/http/external-issuer.ts";
import {
  apikey,
  basic,
  bearer,
  project,
  withAuthenticationDisabled,
  withKey,
  withLimits,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";
import { manualClock } from "../support/time/manual-clock.ts";
import { manualTime } from "../support/time/manual-time.ts";

const keys = [keyPair("1"), keyPair("2", "RS256")] as const;
const corp = testIssuer("corp", { administrators: [{ claim: "groups", contains: "staff" }] }, [keys[0]]);
const readers = testIssuer("readers", { access: "Read" });
const ada = bearer(corp.token({ sub: "ada" }));
const bob = bearer(corp.token({ sub: "bob" }));
const staff = bearer(corp.token({ sub: "sam", groups: ["staff"] }));
const otherAda = bearer(readers.token({ sub: "ada" }));

const shop = project(
  "shop",
  withUser("ada"),
  withKey("ada"),
  withKey("admin", { role: "Administrators" }),
  withIssuer(corp),
  withIssuer(readers),
  withResource("notes", { schema: { type: "object", properties: { n: { type: "integer" } } }, indexes: ["n"] }),
  withResource("ledger", { access: { create: "Administrators", read: "Administrators" } }),
  withResource("forms", { access: { create: "Anyone" } }),
  withRootKey("flags", { access: { read: "Authenticated" } }),
);
const clock = manualClock();

describeServed("a caller of an external issuer", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop, { clock });
  });
  const whoami = async (as: string) => (await served.send("/whoami", { as })).json<unknown>();

  it("reads and writes by the issuer's access", async () => {
    const made = await make(served, "notes", { n: 1 }, ada);
    const path = `/api/notes/${made.id}`;
    expect((await served.send(path, { method: "PUT", body: { n: 2 }, as: ada })).status).toBe(200);
    expect((await served.send("/json/flags/a", { method: "PUT", body: 1, as: ada })).status).toBe(201);
    expect((await served.send("/json/flags/a", { as: otherAda })).text).toBe("1");
    const refused = [403, "insufficient_access"];
    expect(outcome(await served.send("/api/notes", { method: "POST", body: {}, as: otherAda }))).toEqual(refused);
    expect(outcome(await served.send("/json/flags/b", { method: "PUT", body: 1, as: otherAda }))).toEqual(refused);
    expect((await served.send(path, { method: "DELETE", as: ada })).status).toBe(204);
  });

  it("is an administrator by a claim", async () => {
    expect((await make(served, "ledger", {}, staff))._metadata.creator).toBe("corp/sam");
    expect(outcome(await served.send("/api/ledger", { as: ada }))).toEqual([403, "insufficient_access"]);
  });

  it("owns what it made, and nothing of a caller of that name who is proved in another way", async () => {
    const own = await serve(shop, { clock });
    const asUser = bearer((await login(own, "ada")).access_token);
    const made = await make(own, "notes", { n: 1 }, ada);
    expect(made._metadata).toEqual({ created: now, creator: "corp/ada", creator_type: "external" });
    const others = [asUser, apikey("ada"), bob, otherAda];
    for (const as of others) {
      expect(outcome(await own.send(`/api/notes/${made.id}`, { as }))).toEqual([404, "not_found"]);
      expect((await list(own, "notes?_sort=-n", as)).count).toBe(0);
    }
    await make(own, "notes", { n: 2 }, asUser);
    await make(own, "notes", { n: 3 }, bob);
    for (const as of [ada, staff, apikey("admin")]) {
      const { items } = await list(own, "notes?_metadata.creator_type=external&_metadata.creator=corp/ada", as);
      expect(items).toEqual([made]);
    }
    expect((await list(own, "notes?_sort=n", ada)).items).toEqual([made]);
    own.change(withIssuer(readers, { access: "Write" }));
    expect((await make(own, "notes", { n: 4 }, otherAda))._metadata.creator).toBe("readers/ada");
    expect((await list(own, "notes", otherAda)).count).toBe(1);
  });

  it("is told who it is, by which issuer, and when its token expires", async () => {
    const view = { kind: "external", name: "corp/ada", issuer: "corp", role: "Users", access: "Write" };
    expect(await whoami(ada)).toEqual({ ...view, expires: now + 300 });
    expect(await whoami(staff)).toMatchObject({ name: "corp/sam", role: "Administrators" });
    expect(await whoami(otherAda)).toMatchObject({ name: "readers/ada", issuer: "readers", access: "Read" });
  });

  it("has no session, and sees those of the project as an administrator only", async () => {
    const { session_id, refresh_token } = await login(served, "ada");
    for (const method of ["GET", "DELETE"] as const) {
      const reply = await served.send("/sessions/current", { method, as: staff });
      expect(outcome(reply)).toEqual([404, "not_found"]);
      expect(reply.json<{ detail: string }>().detail).toContain("A token of an external issuer has no session");
    }
    expect((await served.send("/sessions", { as: ada })).json()).toEqual({ count: 0, items: [] });
    expect(outcome(await served.send(`/sessions/${session_id}`, { as: ada }))).toEqual([404, "not_found"]);
    expect(outcome(await served.send(`/sessions/${session_id}`, { method: "DELETE", as: ada }))).toEqual([
      404,
      "not_found",
    ]);
    expect((await served.send("/sessions", { as: staff })).json<{ count: number }>().count).toBeGreaterThan(0);
    expect((await served.send(`/sessions/${session_id}`, { method: "DELETE", as: staff })).status).toBe(204);
    for (const as of [ada, bearer(readers.token({}, { key: keyPair("readers-1", "RS256") })), bearer(refresh_token)]) {
      expect(outcome(await served.send("/sessions/refresh", { method: "POST", as }))).toEqual([
        401,
        "invalid_credentials",
      ]);
    }
  });

  it("is named by the log, whatever its name has, and by no metric", async () => {
    const own = await serve(shop, { clock });
    const name = 'x" {}=\\';
    await own.send("/api/notes", { as: bearer(corp.token({ sub: name })) });
    await eventually(async () => expect(own.log()).toContain(`"caller":${JSON.stringify(`external:corp/${name}`)}`));
    const metrics = await (await fetch(`${own.adminUrl}/metrics`)).text();
    expect(metrics).toContain('project="shop"');
    expect(metrics).not.toMatch(/external|corp/);
  });

  it("writes where anyone may, and is not counted as an anonymous client", async () => {
    const own = await serve(shop, { clock });
    own.change(withLimits({ anonymousWritesPerMinute: 1 }));
    for (let n = 0; n < 3; n += 1) await make(own, "forms", {}, ada);
    await make(own, "forms", {});
    expect(outcome(await own.send("/api/forms", { method: "POST", body: {} }))).toEqual([429, "write_throttled"]);
  });

  it("has a rate of its own, apart from callers of its name", async () => {
    const own = await serve(shop, { clock });
    own.change(withLimits({ rate: { caller: { requestsPerSecond: 0.01, burst: 2 } } }));
    const ask = async (as: string) => (await own.send("/api/notes", { as })).status;
    expect([await ask(ada), await ask(ada), await ask(ada)]).toEqual([200, 200, 429]);
    // Another token of one caller makes no other caller of it.
    expect(await ask(bearer(corp.token({ sub: "ada", jti: "another" })))).toBe(429);
    expect([await ask(otherAda), await ask(bob), await ask(apikey("ada"))]).toEqual([200, 200, 200]);
  });

  it("gets its first answer to a request with the same Idempotency-Key, and nobody else's", async () => {
    const headers = { "idempotency-key": "k-1" };
    const post = async (as: string) => await served.send("/api/forms", { method: "POST", body: {}, as, headers });
    const [first, again, others] = [await post(ada), await post(ada), await post(bob)];
    expect(again.text).toBe(first.text);
    expect(others.json<{ id: string }>().id).not.toBe(first.json<{ id: string }>().id);
  });

  it("is refused for a wrong token also where nobody needs one, with what is wrong", async () => {
    const own = await serve(shop, { clock });
    own.change(withAuthenticationDisabled());
    expect((await make(own, "notes", {}, ada))._metadata.creator).toBe("corp/ada");
    const reply = await own.send("/api/notes", { as: bearer(corp.token({ aud: "other" })) });
    expect(outcome(reply)).toEqual([401, "invalid_credentials"]);
    expect(reply.json<{ detail: string }>().detail).toContain("another audience");
    expect(outcome(await own.send("/api/notes", { as: basic("ada") }))).toEqual([200, undefined]);
  });
});

describeServed("a changed Project", (serve) => {
  it("acts at once on tokens that are out there, and on the plans that were kept for them", async () => {
    const served = await serve(shop, { clock });
    const status = async (as = ada) => (await served.send("/api/ledger", { as })).status;
    const write = async () => (await served.send("/api/notes", { method: "POST", body: {}, as: ada })).status;
    for (let n = 0; n < 3; n += 1)
      expect([await status(staff), await status(), await write()]).toEqual([200, 403, 201]);
    served.change(withIssuer(corp, { administrators: [{ claim: "sub", contains: "ada" }] }));
    expect([await status(staff), await status()]).toEqual([403, 200]);
    served.change(withIssuer(corp, { access: "Read" }));
    expect(await write()).toBe(403);
    served.change(withIssuer(corp, { audiences: ["other"] }));
    expect(await status(staff)).toBe(401);
    served.change(withIssuer(corp));
    expect(await status(staff)).toBe(200);
    served.change(withIssuer(corp, { keys: [keys[1].published] }), withoutIssuer("readers"));
    expect(await status(staff)).toBe(401);
    served.change(withIssuer(corp), withoutIssuer("corp"));
    expect([await status(staff), await status(), await status(apikey("admin"))]).toEqual([401, 401, 200]);
  });
});

describeServed("a token by a key that its issuer has only just got", (serve) => {
  const token = bearer(corp.token({}, { key: keys[1] }));

  it("is waited with until the project has the key", async () => {
    const wanted: WantedKeys[] = [];
    const { timers } = manualTime();
    const served = await serve(shop, { clock, timers, wantKeys: (each) => wanted.push(each) });
    const asked = [served.send("/api/notes", { as: token }), served.send("/api/notes", { as: token })];
    await eventually(async () => expect(wanted).toEqual([{ project: `${served.namespace}/shop`, issuer: "corp" }]));
    served.change(withIssuer(corp, { keys: keys.map(({ published }) => published) }));
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await served.send("/api/notes", { as: token })).status).toBe(200);
  });

  it("is waited with where none of its issuer's keys were fetched yet, and told so in the end", async () => {
    const wanted: WantedKeys[] = [];
    const time = manualTime();
    const served = await serve(shop, { clock, timers: time.timers, wantKeys: (each) => wanted.push(each) });
    served.change(withIssuer(corp, { keys: [] }));
    const asked = served.send("/api/notes", { as: token });
    await eventually(async () => expect(wanted).toHaveLength(1));
    await time.advance(2_000);
    const reply = await asked;
    expect(outcome(reply)).toEqual([401, "invalid_credentials"]);
    expect(reply.json<{ detail: string }>().detail).toContain("could not be fetched yet");
    served.change(withIssuer(corp, { keys: keys.map(({ published }) => published) }));
    expect((await served.send("/api/notes", { as: token })).status).toBe(200);
  });

  it("is let in by what the Project says when its key is there, not by what it said when it came", async () => {
    const wanted: WantedKeys[] = [];
    const served = await serve(shop, { clock, timers: manualTime().timers, wantKeys: (each) => wanted.push(each) });
    const asked = ["/api/notes", "/json/flags", "/whoami"].map((path) => served.send(path, { as: token }));
    await eventually(async () => expect(wanted).toHaveLength(1));
    const read = "Administrators";
    served.change(withResource("notes", { access: { read } }), withRootKey("flags", { access: { read } }));
    served.change(withIssuer(corp, { keys: keys.map(({ published }) => published) }));
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([403, 403, 200]);
  });

  it("is refused with 401 after two seconds without it", async () => {
    const time = manualTime();
    const wanted: WantedKeys[] = [];
    const served = await serve(shop, { clock, timers: time.timers, wantKeys: (each) => wanted.push(each) });
    const asked = served.send("/api/notes", { as: token });
    await eventually(async () => expect(wanted).toHaveLength(1));
    await time.advance(2_000);
    const reply = await asked;
    expect(outcome(reply)).toEqual([401, "invalid_credentials"]);
    expect(reply.json<{ detail: string }>().detail).toContain("has no key");
    expect(outcome(await served.send("/api/notes", { as: token }))).toEqual([401, "invalid_credentials"]);
    expect(wanted).toHaveLength(1);
  });
});
