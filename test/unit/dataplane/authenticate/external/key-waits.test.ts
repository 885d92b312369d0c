// A token that names a key which is not there yet: who is asked for it, how often, and how long
// requests wait.

import { describe, expect, test } from "vitest";
import type { IssuerConfig } from "../../../../../core/config/types.ts";
import { maxWaiting } from "../../../../../dataplane/authenticate/external/key-waits.ts";
import type { Directory } from "../../../../../dataplane/config/directory.ts";
import { authenticationSetup, refusalOf } from "../../../../support/http/authentication.ts";
import {
  type Claims,
  keyPair,
  now,
  testIssuer,
  withIssuer,
  withoutIssuer,
} from "../../../../support/http/external-issuer.ts";
import { bearer, changed, project, withResource } from "../../../../support/http/projects.ts";
import { sessionStore } from "../../../../support/store/session-store.ts";
import { manualClock } from "../../../../support/time/manual-clock.ts";
import { manualTime, settled } from "../../../../support/time/manual-time.ts";

const [former, next] = [keyPair("1"), keyPair("2")];
const corp = testIssuer("corp", {}, [former]);
const other = testIssuer("other");
const shop = project("shop", withIssuer(corp), withIssuer(other));
const rolledOver = changed(shop, withIssuer(corp, { keys: [former.published, next.published] }));
const ada = { kind: "external", issuer: "corp", username: "ada", role: "Users", access: "Write" };
const token = (claims: Claims = {}): string => corp.token(claims, { key: next });

async function setup(
  config: Partial<IssuerConfig> = {},
  directory?: (memory: Directory) => Directory,
  betweenWantsMs?: number,
) {
  const clock = manualClock();
  const time = manualTime();
  const projects = [changed(shop, withIssuer(corp, config)), project("rival", withIssuer(corp))];
  const options = { store: await sessionStore(clock), projects, clock, timers: time.timers };
  const made = await authenticationSetup({
    ...options,
    ...(directory && { directory }),
    ...(betweenWantsMs !== undefined && { betweenWantsMs }),
  });
  const ask = async (text = token()) => await made.authentication.callerOf(made.live(), bearer(text));
  return {
    ...made,
    ask,
    refusal: (text?: string) => refusalOf(() => ask(text)),
    waitingTimers: () => time.waiting(),
    async pass(milliseconds: number) {
      clock.advance(milliseconds);
      await time.advance(milliseconds);
    },
  };
}

const wantedOfCorp = { project: "default/shop", issuer: "corp" };

/** Tokens that no other key would help, with why those by an unknown one are refused. */
const pointless: readonly [string, Partial<IssuerConfig>, Claims, string][] = [
  ["of an issuer whose keys are in the manifest", { keysAreFetched: false }, {}, "has no key"],
  ["and is expired", {}, { exp: now - 61 }, "has expired"],
  ["and never expires", {}, { exp: undefined }, "no claim exp"],
  ["and is for another audience", {}, { aud: "other" }, "for another audience"],
];

describe("a request whose token names an unknown key", () => {
  test("waits until the key is there, with the others that do", async () => {
    const { ask, wanted, memory, pass } = await setup();
    const asked = [ask(), ask(token({ sub: "bob" }))];
    await pass(1_999);
    expect(wanted).toEqual([wantedOfCorp]);
    memory.put(rolledOver);
    expect(await Promise.all(asked)).toEqual([ada, { ...ada, username: "bob" }]);
    expect(await ask()).toEqual(ada);
  });

  test("goes on waiting through other changes, up to two seconds after the key was first wanted", async () => {
    const { ask, memory, pass, wanted } = await setup();
    const asked = ask();
    await settled();
    memory.put(changed(shop, withResource("books")));
    await pass(500);
    memory.put(changed(shop, withIssuer(corp, { access: "Read" })));
    await pass(500);
    memory.put(changed(rolledOver, withIssuer(corp, { keys: [next.published], access: "Read" })));
    expect(await asked).toEqual({ ...ada, access: "Read" });
    expect(wanted).toHaveLength(1);
  });

  test("is refused after two seconds without the key, one that came later as well", async () => {
    const { refusal, pass } = await setup();
    const first = refusal();
    await pass(1_500);
    const second = refusal();
    await pass(500);
    for (const { code, message } of await Promise.all([first, second])) {
      expect(code).toBe("invalid_credentials");
      expect(message).toContain("has no key");
    }
  });

  test("is refused at once for the rest of the minute; then the key is wanted again", async () => {
    const { ask, refusal, pass, wanted, memory } = await setup();
    const first = refusal();
    await pass(2_000);
    await first;
    await pass(57_999);
    expect((await refusal()).message).toContain("has no key");
    expect(wanted).toHaveLength(1);
    await pass(1);
    const asked = ask();
    await settled();
    expect(wanted).toEqual([wantedOfCorp, wantedOfCorp]);
    memory.put(rolledOver);
    expect(await asked).toEqual(ada);
  });

  test("is waited with again after five seconds where dev mode serves", async () => {
    const { refusal, pass, wanted } = await setup({}, undefined, 5_000);
    for (const wants of [1, 2]) {
      const asked = refusal();
      await pass(2_000);
      await asked;
      await pass(3_000);
      expect(wanted).toHaveLength(wants);
    }
  });

  test("is refused as soon as the issuer is gone, or the Project was made again", async () => {
    for (const after of [changed(shop, withoutIssuer("corp")), project("shop", withIssuer(corp))]) {
      const { refusal, memory } = await setup();
      const asked = refusal();
      await settled();
      memory.put(after);
      expect((await asked).code).toBe("invalid_credentials");
    }
  });

  test("finds a key that came since the request began", async () => {
    const { authentication, live, memory } = await setup();
    const before = live();
    memory.put(rolledOver);
    expect(await authentication.callerOf(before, bearer(token()))).toEqual(ada);
  });

  test.each(pointless)(
    "is refused at once with that, and nothing is wanted, if it is %s",
    async (_, config, claims, why) => {
      const { refusal, wanted } = await setup(config);
      expect((await refusal(token(claims))).message).toContain(why);
      expect(wanted).toEqual([]);
    },
  );

  test("of another issuer, or of another project with that issuer, waits by itself", async () => {
    const { refusal, pass, wanted, live, authentication } = await setup();
    const first = refusal();
    await pass(2_000);
    await first;
    const ofOther = refusal(other.token({}, { key: next }));
    const ofRival = refusalOf(() => authentication.callerOf(live("rival"), bearer(token())));
    await settled();
    expect(wanted.slice(1)).toEqual([
      { project: "default/shop", issuer: "other" },
      { project: "default/rival", issuer: "corp" },
    ]);
    await pass(2_000);
    await Promise.all([ofOther, ofRival]);
  });

  test("is refused at once while a hundred others wait", async () => {
    const { ask, refusal, memory } = await setup();
    const waiting = Array.from({ length: maxWaiting }, (_, n) => ask(token({ sub: `caller-${n}` })));
    await settled();
    expect((await refusal()).message).toContain("has no key");
    memory.put(rolledOver);
    expect(await Promise.all(waiting)).toHaveLength(maxWaiting);
  });

  test("is refused when the server ends", async () => {
    const { refusal, authentication, waitingTimers } = await setup();
    const asked = refusal();
    await settled();
    const others = waitingTimers();
    await authentication.close();
    expect((await asked).message).toContain("has no key");
    expect(waitingTimers()).toBe(others - 1);
  });
});

test("a change that is reported before lookups know of it is seen all the same", async () => {
  const listeners: ((project: string) => void)[] = [];
  const { ask, memory } = await setup({}, (directory) => ({
    ...directory,
    onChange(listener) {
      listeners.push(listener);
      return () => undefined;
    },
  }));
  const asked = ask();
  await settled();
  for (const listener of listeners) listener("default/shop");
  memory.put(rolledOver);
  expect(await asked).toEqual(ada);
});

describe("a request whose token has a wrong signature by a known key id", () => {
  const sameId = keyPair("1");
  const forged = (claims: Claims = {}): string => corp.token(claims, { key: sameId });

  test("is refused, and the issuer's keys are wanted, because it may have another one under the id by now", async () => {
    const { ask, refusal, wanted, memory } = await setup();
    expect((await refusal(forged())).message).toContain("signature is wrong");
    expect(wanted).toEqual([wantedOfCorp]);
    memory.put(changed(shop, withIssuer(corp, { keys: [sameId.published] })));
    expect(await ask(forged())).toEqual(ada);
  });

  test("makes them wanted once in a minute", async () => {
    const { refusal, wanted, pass } = await setup();
    for (let n = 0; n < 3; n += 1) await refusal(forged({ sub: `s${n}` }));
    await pass(59_999);
    await refusal(forged());
    expect(wanted).toHaveLength(1);
    await pass(1);
    await refusal(forged());
    expect(wanted).toHaveLength(2);
  });

  test.each(pointless)("makes nothing wanted if it is %s", async (_, config, claims) => {
    const { refusal, wanted } = await setup(config);
    expect((await refusal(forged(claims))).code).toMatch(/^(invalid_credentials|token_expired)$/);
    expect(wanted).toEqual([]);
  });
});
