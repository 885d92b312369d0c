import { expect, test } from "vitest";
import { createThrottle, type LoginAttempt } from "../../../../dataplane/admission/login-throttle.ts";
import { refusalOf } from "../../../support/http/authentication.ts";
import { breakable, sessionStore } from "../../../support/store/session-store.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const project = { namespace: "default", name: "bookshop" };
const alice: LoginAttempt = { project, username: "alice", address: "192.0.2.7" };

async function setup() {
  const clock = manualClock();
  const counters = breakable(await sessionStore(clock));
  return { clock, counters, throttle: createThrottle(counters.store, clock) };
}

async function fail(throttle: ReturnType<typeof createThrottle>, attempt: LoginAttempt, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) await throttle.spend(attempt);
}

test("ten failures of one user from one address are let through, the eleventh attempt is told when to come back", async () => {
  const { clock, throttle } = await setup();
  await fail(throttle, alice, 10);
  clock.advance(60_000);
  const refusal = await refusalOf(() => throttle.spend(alice));
  expect(refusal.code).toBe("login_throttled");
  expect(refusal.headers).toEqual({ "Retry-After": "240" });
});

test("the budget is whole again when its five minutes are over", async () => {
  const { clock, throttle } = await setup();
  await fail(throttle, alice, 10);
  await refusalOf(() => throttle.spend(alice));
  clock.advance(300_000);
  throttle.refuseKnown(alice);
  await fail(throttle, alice, 10);
});

test("what succeeded is given back", async () => {
  const { throttle } = await setup();
  for (let i = 0; i < 200; i += 1) {
    await throttle.spend(alice);
    await throttle.refund(alice);
  }
  await fail(throttle, alice, 10);
});

test("a user is never locked out by failures from another address", async () => {
  const { throttle } = await setup();
  await fail(throttle, alice, 10);
  await fail(throttle, { ...alice, address: "192.0.2.8" }, 10);
});

test("another user from the same address, and the same names in another project, have budgets of their own", async () => {
  const { throttle } = await setup();
  await fail(throttle, alice, 10);
  await fail(throttle, { ...alice, username: "bob" }, 10);
  await fail(throttle, { ...alice, project: { ...project, name: "library" } }, 10);
  await fail(throttle, { ...alice, project: { ...project, namespace: "other" } }, 10);
});

test("a hundred failures from one address end what it may try, whatever the user names", async () => {
  const { throttle } = await setup();
  for (let i = 0; i < 100; i += 1) await throttle.spend({ ...alice, username: `user-${i}` });
  const refusal = await refusalOf(() => throttle.spend({ ...alice, username: "another" }));
  expect(refusal.code).toBe("login_throttled");
  await throttle.spend({ ...alice, username: "another", address: "192.0.2.8" });
});

test("all addresses of an IPv6 /64 are one client, and so are the two spellings of an IPv4 address", async () => {
  const { throttle } = await setup();
  for (let i = 1; i <= 10; i += 1) await throttle.spend({ ...alice, address: `2001:db8:1:2::${i}` });
  expect((await refusalOf(() => throttle.spend({ ...alice, address: "2001:db8:1:2:ffff::1" }))).code).toBe(
    "login_throttled",
  );
  await throttle.spend({ ...alice, address: "2001:db8:1:3::1" });
  await fail(throttle, alice, 5);
  await fail(throttle, { ...alice, address: "::ffff:192.0.2.7" }, 5);
  expect((await refusalOf(() => throttle.spend(alice))).code).toBe("login_throttled");
});

test("no user name can be written so that it shares the budget of another", async () => {
  const { throttle } = await setup();
  await fail(throttle, { ...alice, username: "x:all" }, 10);
  await fail(throttle, { ...alice, username: "x" }, 10);
  await fail(throttle, { ...alice, username: "user:x" }, 10);
  await fail(throttle, { ...alice, username: "all" }, 10);
  await fail(throttle, alice, 10);
});

test("a time of day that is set ahead and back locks nobody out for longer, and tells nobody to", async () => {
  const { clock, throttle } = await setup();
  await fail(throttle, alice, 10);
  clock.adjust(3_600_000);
  await refusalOf(() => throttle.spend(alice));
  clock.adjust(-3_600_000);
  expect((await refusalOf(() => throttle.refuseKnown(alice))).headers).toEqual({ "Retry-After": "300" });
  clock.advance(1_000);
  throttle.refuseKnown(alice);
  clock.advance(299_000);
  await fail(throttle, alice, 10);
});

test("a flood on an exhausted budget asks the store once a second", async () => {
  const { clock, counters, throttle } = await setup();
  await fail(throttle, alice, 10);
  await refusalOf(() => throttle.spend(alice));
  clock.advance(999);
  const refusal = await refusalOf(() => throttle.refuseKnown(alice));
  expect(refusal.headers).toEqual({ "Retry-After": "300" });
  clock.advance(1);
  throttle.refuseKnown(alice);
  throttle.refuseKnown({ ...alice, username: "bob" });
  expect(counters.calls.get("spend")).toBe(11);
});
