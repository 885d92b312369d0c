import { describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import { anonymous } from "../../../../dataplane/authenticate/caller.ts";
import { authenticationSetup, refusalOf } from "../../../support/http/authentication.ts";
import {
  apikey,
  basic,
  changed,
  project,
  withAuthenticationDisabled,
  withKey,
  withUser,
} from "../../../support/http/projects.ts";
import { breakable, sessionStore } from "../../../support/store/session-store.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const bookshop = project("bookshop", withUser("alice"), withKey("frontend"));

async function setup(parts = bookshop) {
  const clock = manualClock();
  return authenticationSetup({ store: await sessionStore(clock), projects: [parts], clock });
}

describe("a request", () => {
  test("without a header is anonymous, and costs no promise", async () => {
    const { authentication, live } = await setup();
    expect(authentication.callerOf(live(), undefined)).toBe(anonymous);
  });

  test.each([
    "",
    "apikey",
    "apikey ",
    "apikey wrong",
    "bearer x",
    "bearer a.b.c",
    "Digest x",
    basic("alice"),
    "Basic x",
    `apikey ${"x".repeat(1 << 20)}`,
    `bearer ${"x".repeat(1 << 20)}`,
    `Basic ${"x".repeat(1 << 20)}`,
    "x".repeat(1 << 20),
  ])("with the header %.20s is never taken for anonymous", async (header) => {
    const { authentication, live, comparisons } = await setup();
    const problem = await refusalOf(() => authentication.callerOf(live(), header));
    expect(problem.code).toBe("invalid_credentials");
    expect(problem.headers["WWW-Authenticate"]).toBe(
      'Bearer realm="default/bookshop", error="invalid_token", ApiKey realm="default/bookshop"',
    );
    expect(comparisons()).toBe(0);
  });
});

describe("a request where authentication is disabled", () => {
  const open = changed(bookshop, withAuthenticationDisabled());

  test.each(["", "Digest x", "Negotiate abc", basic("alice"), "Basic x", "x".repeat(1 << 20)])(
    "is anonymous with the header %.20s, which was meant for a proxy",
    async (header) => {
      const { authentication, live } = await setup(open);
      expect(authentication.callerOf(live(), header)).toBe(anonymous);
    },
  );

  test.each(["apikey", "apikey wrong", "bearer", "bearer x", "Bearer a.b.c", `bearer ${"x".repeat(1 << 20)}`])(
    "is refused with the bad credential %.20s",
    async (header) => {
      const { authentication, live } = await setup(open);
      expect((await refusalOf(() => authentication.callerOf(live(), header))).code).toBe("invalid_credentials");
    },
  );

  test("has its caller when it sends a valid credential", async () => {
    const { authentication, live } = await setup(open);
    expect(await authentication.callerOf(live(), apikey("frontend"))).toMatchObject({ kind: "apikey" });
  });
});

test("authentication does not start without knowing which sessions were ended", async () => {
  const clock = manualClock();
  const store = breakable(await sessionStore(clock));
  store.breakWith("unavailable", "followEndedSessions");
  await expect(authenticationSetup({ store: store.store, projects: [bookshop], clock })).rejects.toThrow(
    StoreUnavailable,
  );
});
