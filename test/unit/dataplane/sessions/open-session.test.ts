import { describe, expect, test } from "vitest";
import { OutcomeUnknown, StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import type { Directory } from "../../../../dataplane/config/directory.ts";
import { createPasswordVerifier } from "../../../../dataplane/sessions/passwords.ts";
import { authenticationSetup, cheapCost, issuerOf, refusalOf } from "../../../support/http/authentication.ts";
import { accessToken, type Claims, type TokenBasis } from "../../../support/http/forge-token.ts";
import {
  basic,
  bearer,
  changed,
  passwordOf,
  project,
  signingKey,
  withAuthenticationDisabled,
  withoutUser,
  withSessions,
  withSigningKeys,
  withUser,
} from "../../../support/http/projects.ts";
import { breakable, sessionStore } from "../../../support/store/session-store.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const bookshop = project("bookshop", withUser("alice"), withUser("bob"));
const address = "192.0.2.7";

async function setup(projects = [bookshop], directory?: (memory: Directory) => Directory) {
  const clock = manualClock();
  const store = breakable(await sessionStore(clock));
  const options = { store: store.store, projects, clock, ...(directory ? { directory } : {}) };
  const made = await authenticationSetup(options);
  return {
    ...made,
    store,
    login: (header: string | undefined = basic("alice"), from = address) =>
      made.sessions.login(made.live(), header, from),
    refresh: (token: string) => made.sessions.refresh(made.live(), `Bearer ${token}`),
    calls: (name: "spend" | "refund" | "putSession") => store.calls.get(name) ?? 0,
  };
}

function payloadOf(token: string): Claims {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

describe("a login", () => {
  test("answers with two tokens, the session's id and the documented message", async () => {
    const { login } = await setup();
    expect(await login()).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      refresh_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      session_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      message: "Successfully logged in",
    });
  });

  test("gives a refresh token with an audience and a use of its own and the configured life", async () => {
    const short = changed(bookshop, withSessions({ accessTokenSeconds: 30, refreshTokenSeconds: 600 }));
    const { login, clock, live } = await setup([short]);
    const answer = await login();
    const now = clock.now() / 1000;
    expect(payloadOf(answer.access_token)).toMatchObject({ iat: now, exp: now + 30 });
    expect(payloadOf(answer.refresh_token)).toEqual({
      token_use: "refresh",
      iss: issuerOf(live()),
      aud: `${bookshop.project.uid}/refresh`,
      sub: "alice",
      sid: answer.session_id,
      jti: expect.any(String),
      iat: now,
      exp: now + 600,
      cv: bookshop.users.get("alice")?.credentialRevision,
    });
    expect(payloadOf(answer.refresh_token).jti).not.toBe(payloadOf(answer.access_token).jti);
  });

  test("opens a session of its own each time", async () => {
    const { login } = await setup();
    expect((await login()).session_id).not.toBe((await login()).session_id);
  });

  test("takes a password with one final newline, and no second one", async () => {
    const { login } = await setup();
    await login(basic("alice", `${passwordOf("alice")}\n`));
    expect((await refusalOf(() => login(basic("alice", `${passwordOf("alice")}\n\n`)))).code).toBe(
      "invalid_credentials",
    );
  });

  test("takes colons and characters beyond ASCII in the password", async () => {
    const { login } = await setup([project("bookshop", withUser("zoë", { password: "a:b:🔑 ñ\n\nx" }))]);
    expect((await login(basic("zoë", "a:b:🔑 ñ\n\nx"))).message).toBe("Successfully logged in");
  });

  test("works where the project's authentication is disabled", async () => {
    const { login, live, authentication } = await setup([changed(bookshop, withAuthenticationDisabled())]);
    const { access_token } = await login();
    expect(await authentication.callerOf(live(), bearer(access_token))).toMatchObject({ name: "alice" });
  });

  test("is reported, and says nothing secret", async () => {
    const { login, observed } = await setup();
    await login();
    await refusalOf(() => login(basic("alice", "wrong")));
    const logins = observed.filter(({ kind }) => kind === "login");
    expect(logins).toMatchObject([{ outcome: "opened" }, { outcome: "refused" }]);
    expect(JSON.stringify(observed)).not.toMatch(/wrong|s3cret|Basic/);
  });
});

describe("a login is refused", () => {
  const wrong: Readonly<Record<string, string>> = {
    "a wrong password": basic("alice", "wrong"),
    "the password of another user": basic("alice", passwordOf("bob")),
    "an empty password": basic("alice", ""),
    "an unknown user": basic("mallory", passwordOf("alice")),
    "a user name in another case": basic("Alice", passwordOf("alice")),
    "a user named like a member of every object": basic("constructor", "x"),
  };
  const malformed: Readonly<Record<string, string>> = {
    "an empty header": "",
    "no base64": "Basic alice:secret",
    "no colon": `Basic ${Buffer.from("alice").toString("base64")}`,
    "a newline in the user name": `Basic ${Buffer.from("ali\nce:x").toString("base64")}`,
    "bytes that are no UTF-8": `Basic ${Buffer.from([0xff, 0x3a, 0x61]).toString("base64")}`,
    "a mebibyte of base64": `Basic ${"YWxpY2U6".repeat((1 << 20) / 8)}`,
    "a password over the bound": basic("alice", "x".repeat(1026)),
    "another scheme": "bearer a.b.c",
    "a scheme nobody knows": "Digest x",
  };

  test("with one and the same answer, whatever is wrong", async () => {
    const { login } = await setup();
    const answers: string[] = [];
    for (const header of [...Object.values(wrong), ...Object.values(malformed)]) {
      const { code, message, headers, errors } = await refusalOf(() => login(header));
      answers.push(JSON.stringify({ code, message, headers, errors }));
    }
    expect(new Set(answers).size).toBe(1);
    expect(JSON.parse(answers[0] ?? "")).toMatchObject({
      code: "invalid_credentials",
      headers: { "WWW-Authenticate": 'Basic realm="default/bookshop", charset="UTF-8"' },
    });
  });

  test.each(Object.entries(wrong))("after exactly one comparison for %s", async (_, header) => {
    const { login, comparisons } = await setup();
    await refusalOf(() => login(header));
    expect(comparisons()).toBe(1);
  });

  test.each(Object.entries(malformed))("without a comparison and without the store for %s", async (_, header) => {
    const { login, comparisons, calls } = await setup();
    await refusalOf(() => login(header));
    expect(comparisons()).toBe(0);
    expect(calls("spend")).toBe(0);
  });

  test("as authentication_required, with a Basic challenge, when no header came", async () => {
    const { sessions, live, comparisons } = await setup();
    const problem = await refusalOf(() => sessions.login(live(), undefined, address));
    expect(problem.code).toBe("authentication_required");
    expect(problem.headers).toEqual({ "WWW-Authenticate": 'Basic realm="default/bookshop", charset="UTF-8"' });
    expect(comparisons()).toBe(0);
  });

  test("with the old password as soon as it changed, and for a removed user", async () => {
    const { login, memory } = await setup();
    memory.put(changed(bookshop, withUser("alice", { password: "another" }), withoutUser("bob")));
    expect((await refusalOf(() => login())).code).toBe("invalid_credentials");
    expect((await refusalOf(() => login(basic("bob")))).code).toBe("invalid_credentials");
    await login(basic("alice", "another"));
  });

  test("with project_unavailable, and no failure counted, when users can't be looked up", async () => {
    const { login, calls, observed } = await setup([bookshop], (memory) => ({
      ...memory,
      user: () => ({ outcome: "unavailable" }),
    }));
    const problem = await refusalOf(() => login());
    expect(problem.code).toBe("project_unavailable");
    expect(problem.headers["Retry-After"]).toBe("1");
    expect(calls("spend") - calls("refund")).toBe(0);
    expect(observed.at(-1)).toMatchObject({ kind: "login", outcome: "failed" });
  });

  test("with project_unavailable while no key of the ring signs", async () => {
    const waiting = changed(bookshop, withSigningKeys(signingKey({ signs: false })));
    const { login, calls } = await setup([waiting]);
    expect((await refusalOf(() => login())).code).toBe("project_unavailable");
    expect(calls("putSession")).toBe(0);
  });
});

describe("failed logins", () => {
  test("are counted: after ten, even the right password from there must wait, and other addresses need not", async () => {
    const { login, comparisons, calls, observed } = await setup();
    for (let i = 0; i < 10; i += 1) await refusalOf(() => login(basic("alice", "wrong")));
    for (let i = 0; i < 3; i += 1) {
      const problem = await refusalOf(() => login());
      expect(problem.code).toBe("login_throttled");
      expect(problem.headers).toEqual({ "Retry-After": "300" });
    }
    expect(comparisons()).toBe(10);
    expect(calls("spend")).toBe(11);
    expect(observed.at(-1)).toMatchObject({ kind: "login", outcome: "throttled" });
    await login(basic("alice"), "192.0.2.8");
    await login(basic("bob"));
  });

  test("are counted for unknown users as well", async () => {
    const { login } = await setup();
    for (let i = 0; i < 10; i += 1) await refusalOf(() => login(basic("mallory", "x")));
    expect((await refusalOf(() => login(basic("mallory", "x")))).code).toBe("login_throttled");
  });

  test("may be tried again when Retry-After is over", async () => {
    const { login, clock } = await setup();
    for (let i = 0; i < 10; i += 1) await refusalOf(() => login(basic("alice", "wrong")));
    const problem = await refusalOf(() => login());
    clock.advance(Number(problem.headers["Retry-After"]) * 1000);
    await login();
  });

  test("never include logins that succeed, one after another or fifty at once", async () => {
    const { login, calls } = await setup();
    for (let i = 0; i < 25; i += 1) await login();
    await Promise.all(Array.from({ length: 50 }, () => login()));
    expect(calls("refund")).toBe(75);
  });

  test("beyond what may wait are told that the service is busy, and count for nothing", async () => {
    const clock = manualClock();
    const store = breakable(await sessionStore(clock));
    const passwords = await createPasswordVerifier({ concurrency: 1, maxWaiting: 2, cost: cheapCost });
    const { sessions, live, observed } = await authenticationSetup({
      store: store.store,
      projects: [bookshop],
      clock,
      passwords,
    });
    const attempts = await Promise.allSettled(
      Array.from({ length: 5 }, () => sessions.login(live(), basic("alice"), address)),
    );
    const codes = attempts.map((attempt) => (attempt.status === "fulfilled" ? "opened" : attempt.reason.code));
    expect(codes).toEqual(["opened", "opened", "opened", "login_busy", "login_busy"]);
    expect(store.calls.get("spend")).toBe(3);
    expect(observed.filter((one) => one.kind === "login" && one.outcome === "busy")).toHaveLength(2);
  });
});

describe("a login while the store fails", () => {
  test("is passed on as the store's own error, before any comparison", async () => {
    const { login, store, comparisons, observed } = await setup();
    store.breakWith("unavailable");
    await expect(login()).rejects.toThrow(StoreUnavailable);
    store.breakWith("unknown");
    await expect(login()).rejects.toThrow(OutcomeUnknown);
    expect(comparisons()).toBe(0);
    expect(observed.at(-1)).toMatchObject({ kind: "login", outcome: "failed" });
  });

  test("is passed on when the session can't be stored", async () => {
    const { login, store } = await setup();
    store.breakWith("unknown", "putSession");
    await expect(login()).rejects.toThrow(OutcomeUnknown);
  });

  test("succeeds, and says so, when only its budget could not be given back", async () => {
    const { login, store, observed } = await setup();
    store.breakWith("unavailable", "refund");
    await login();
    expect(observed).toContainEqual(
      expect.objectContaining({ kind: "refund_failed", cause: expect.any(StoreUnavailable) }),
    );
  });

  test("gives the budget back when a stored hash is no hash, which is a defect and no refusal", async () => {
    const user = bookshop.users.get("alice");
    if (user === undefined) throw new Error("alice is a user");
    const spoilt = { ...bookshop, users: new Map([["alice", { ...user, passwordHash: "not a hash" }]]) };
    const { login, calls } = await setup([spoilt]);
    await expect(login()).rejects.not.toMatchObject({ name: "Problem" });
    expect(calls("refund")).toBe(1);
  });
});

describe("a refresh", () => {
  test("answers with a new access token of the same session and nothing else", async () => {
    const { login, refresh, authentication, live, clock } = await setup();
    const opened = await login();
    clock.advance(3_600_000);
    const answer = await refresh(opened.refresh_token);
    expect(Object.keys(answer)).toEqual(["access_token"]);
    expect(await authentication.callerOf(live(), bearer(answer.access_token))).toMatchObject({
      name: "alice",
      sessionId: opened.session_id,
    });
    expect(payloadOf(answer.access_token)).toMatchObject({ iat: clock.now() / 1000, exp: clock.now() / 1000 + 300 });
    expect(payloadOf(answer.access_token).jti).not.toBe(payloadOf(opened.access_token).jti);
  });

  test("works for as many as ask at once with one token", async () => {
    const { login, refresh, authentication, live } = await setup();
    const { refresh_token } = await login();
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refresh_token)));
    expect(new Set(answers.map(({ access_token }) => access_token)).size).toBe(20);
    for (const { access_token } of answers) {
      expect(await authentication.callerOf(live(), bearer(access_token))).toMatchObject({ name: "alice" });
    }
  });

  test("works to the last second of the refresh token, and is token_expired then", async () => {
    const { login, refresh, clock } = await setup();
    const { refresh_token } = await login();
    clock.advance(72 * 3_600_000 - 1000);
    await refresh(refresh_token);
    clock.advance(1000);
    const problem = await refusalOf(() => refresh(refresh_token));
    expect(problem.code).toBe("token_expired");
    expect(problem.headers["WWW-Authenticate"]).toMatch(/^Bearer realm="default\/bookshop", error="invalid_token"/);
  });

  test("is refused without a header as authentication_required, with another scheme as invalid_credentials", async () => {
    const { sessions, live } = await setup();
    const absent = await refusalOf(() => sessions.refresh(live(), undefined));
    expect(absent.code).toBe("authentication_required");
    expect(absent.headers).toEqual({ "WWW-Authenticate": 'Bearer realm="default/bookshop"' });
    for (const header of [basic("alice"), "apikey x", "Bearer x", "", `Bearer ${"x".repeat(1 << 20)}`]) {
      expect((await refusalOf(() => sessions.refresh(live(), header))).code).toBe("invalid_credentials");
    }
  });

  test("is refused with an access token", async () => {
    const { login, refresh } = await setup();
    expect((await refusalOf(async () => refresh((await login()).access_token))).code).toBe("invalid_credentials");
  });

  test("is refused for a session that was ended, even when its token is merely old", async () => {
    const { login, refresh, authentication, sessions, live, clock } = await setup();
    const opened = await login();
    const caller = await authentication.callerOf(live(), bearer(opened.access_token));
    await sessions.endSession(live(), caller, opened.session_id);
    expect((await refusalOf(() => refresh(opened.refresh_token))).code).toBe("invalid_credentials");
    clock.advance(2 * 24 * 3_600_000);
    expect((await refusalOf(() => refresh(opened.refresh_token))).code).toBe("invalid_credentials");
  });

  test("is refused for a removed user and for one with another password, expired or not", async () => {
    const { login, refresh, memory, clock } = await setup();
    const [alice, bob] = [await login(), await login(basic("bob"))];
    memory.put(changed(bookshop, withoutUser("alice"), withUser("bob", { password: "another" })));
    expect((await refusalOf(() => refresh(alice.refresh_token))).code).toBe("invalid_credentials");
    expect((await refusalOf(() => refresh(bob.refresh_token))).code).toBe("invalid_credentials");
    clock.advance(73 * 3_600_000);
    expect((await refusalOf(() => refresh(alice.refresh_token))).code).toBe("invalid_credentials");
  });

  test("is refused with forged refresh tokens", async () => {
    const { login, refresh, clock, live } = await setup();
    const { session_id } = await login();
    const basis: TokenBasis = {
      project: bookshop,
      username: "alice",
      issuer: issuerOf(live()),
      nowSeconds: clock.now() / 1000,
      sessionId: session_id,
    };
    const right = { token_use: "refresh", aud: `${bookshop.project.uid}/refresh` };
    await refresh(accessToken(basis, { claims: right }));
    const wrong: readonly Claims[] = [
      { ...right, token_use: "access" },
      { ...right, aud: bookshop.project.uid },
      { ...right, sid: "another" },
      { ...right, cv: "another" },
      { ...right, exp: undefined },
      { ...right, iss: "elsewhere" },
    ];
    for (const claims of wrong) {
      expect((await refusalOf(() => refresh(accessToken(basis, { claims })))).code).toBe("invalid_credentials");
    }
    const stranger = accessToken(basis, { claims: right, key: signingKey() });
    expect((await refusalOf(() => refresh(stranger))).code).toBe("invalid_credentials");
  });

  test("passes on the store's own errors, and gives no token then", async () => {
    const { login, refresh, store, observed } = await setup();
    const { refresh_token } = await login();
    store.breakWith("unavailable");
    await expect(refresh(refresh_token)).rejects.toThrow(StoreUnavailable);
    store.breakWith("unknown");
    await expect(refresh(refresh_token)).rejects.toThrow(OutcomeUnknown);
    store.breakWith("none");
    await refresh(refresh_token);
    const outcomes = observed.flatMap((one) => (one.kind === "refresh" ? [one.outcome] : []));
    expect(outcomes).toEqual(["failed", "failed", "refreshed"]);
  });
});
