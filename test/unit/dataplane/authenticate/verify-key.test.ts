import { expect, test } from "vitest";
import type { Directory } from "../../../../dataplane/config/directory.ts";
import { authenticationSetup, refusalOf } from "../../../support/http/authentication.ts";
import { apikey, changed, inNamespace, keyOf, project, withKey, withoutKey } from "../../../support/http/projects.ts";
import { breakable, sessionStore } from "../../../support/store/session-store.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const bookshop = project("bookshop", withKey("frontend", { description: "The shop's pages", access: "Read" }));

async function setup() {
  const clock = manualClock();
  return authenticationSetup({ store: await sessionStore(clock), projects: [bookshop], clock });
}

test("a key proves the ApiKey it was made for, with its live role and access", async () => {
  const { authentication, live } = await setup();
  expect(await authentication.callerOf(live(), apikey("frontend"))).toEqual({
    kind: "apikey",
    name: "frontend",
    description: "The shop's pages",
    role: "Users",
    access: "Read",
  });
});

test("a header answers without a promise while the directory does", async () => {
  const { authentication, live } = await setup();
  expect(authentication.callerOf(live(), apikey("frontend"))).toMatchObject({ name: "frontend" });
});

test("an unknown key, one character more, and another case are refused alike", async () => {
  const { authentication, live } = await setup();
  const right = keyOf("frontend");
  for (const wrong of ["unknown", `${right}x`, right.toUpperCase(), right.slice(0, -1)]) {
    const refusal = await refusalOf(() => authentication.callerOf(live(), `apikey ${wrong}`));
    expect(refusal.code).toBe("invalid_credentials");
    expect(refusal.headers["WWW-Authenticate"]).toBe(
      'Bearer realm="default/bookshop", error="invalid_token", ApiKey realm="default/bookshop"',
    );
  }
});

test("the hash of a key is no key", async () => {
  const { authentication, live } = await setup();
  const sha256 = [...bookshop.keys.keys()][0];
  expect((await refusalOf(() => authentication.callerOf(live(), `apikey ${sha256}`))).code).toBe("invalid_credentials");
});

test("a removed key is refused on the next request, however often it was used, and works again when it is back", async () => {
  const { authentication, live, memory } = await setup();
  await authentication.callerOf(live(), apikey("frontend"));
  memory.put(changed(bookshop, withoutKey("frontend")));
  expect((await refusalOf(() => authentication.callerOf(live(), apikey("frontend")))).code).toBe("invalid_credentials");
  memory.put(bookshop);
  expect(await authentication.callerOf(live(), apikey("frontend"))).toMatchObject({ name: "frontend" });
});

test("a changed role works on the next request", async () => {
  const { authentication, live, memory } = await setup();
  await authentication.callerOf(live(), apikey("frontend"));
  memory.put(changed(bookshop, withKey("frontend", { role: "Administrators", access: "Write" })));
  expect(await authentication.callerOf(live(), apikey("frontend"))).toMatchObject({
    role: "Administrators",
    access: "Write",
  });
});

test("a key is refused from the second in which it expires, cached or not", async () => {
  const { authentication, live, memory, clock } = await setup();
  const expiresAt = clock.now() / 1000 + 60;
  memory.put(changed(bookshop, withKey("frontend", { expiresAt })));
  clock.advance(59_999);
  await authentication.callerOf(live(), apikey("frontend"));
  clock.advance(1);
  const refusal = await refusalOf(() => authentication.callerOf(live(), apikey("frontend")));
  expect(refusal.code).toBe("token_expired");
  expect(refusal.headers["WWW-Authenticate"]).toBe('ApiKey realm="default/bookshop"');
});

test("a key of another project is refused, used there before or not", async () => {
  const clock = manualClock();
  const twin = project("bookshop", inNamespace("other"));
  const { authentication, live, memory } = await authenticationSetup({
    store: await sessionStore(clock),
    projects: [bookshop, twin],
    clock,
  });
  const other = memory.directory.project({ namespace: "other", name: "bookshop" });
  if (other instanceof Promise || other.outcome !== "found") throw new Error("The other project is not live");
  for (let i = 0; i < 2; i += 1) {
    expect((await refusalOf(() => authentication.callerOf(other.value, apikey("frontend")))).code).toBe(
      "invalid_credentials",
    );
    await authentication.callerOf(live(), apikey("frontend"));
  }
});

test("keys work while the store can't be reached: no request asks it", async () => {
  const clock = manualClock();
  const store = breakable(await sessionStore(clock));
  const { authentication, live } = await authenticationSetup({ store: store.store, projects: [bookshop], clock });
  store.breakWith("unavailable");
  expect(await authentication.callerOf(live(), apikey("frontend"))).toMatchObject({ kind: "apikey" });
  expect([...store.calls.keys()]).toEqual(["followEndedSessions"]);
});

test("a directory that can't answer is a 503 and never a 401, and what was proved before is not forgotten", async () => {
  const clock = manualClock();
  let answers = true;
  const { authentication, live } = await authenticationSetup({
    store: await sessionStore(clock),
    projects: [bookshop],
    clock,
    directory: (memory): Directory => ({
      ...memory,
      key: async (...args) => (answers ? memory.key(...args) : { outcome: "unavailable" }),
    }),
  });
  await authentication.callerOf(live(), apikey("frontend"));
  answers = false;
  const refusal = await refusalOf(() => authentication.callerOf(live(), apikey("frontend")));
  expect(refusal.code).toBe("project_unavailable");
  expect(refusal.headers).toEqual({ "Retry-After": "1" });
  expect((await refusalOf(() => authentication.callerOf(live(), "apikey other"))).code).toBe("project_unavailable");
  answers = true;
  expect(await authentication.callerOf(live(), apikey("frontend"))).toMatchObject({ kind: "apikey" });
});
