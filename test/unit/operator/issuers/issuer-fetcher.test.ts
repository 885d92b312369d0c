// When keys of issuers are fetched, for how many Projects, and what is known of an issuer
// meanwhile.

import { beforeEach, describe, expect, it } from "vitest";
import type { FetchedIssuer } from "../../../../operator/issuers/fetch-issuer.ts";
import { FetchFailure } from "../../../../operator/issuers/fetch-text.ts";
import { createIssuerFetcher, type IssuerFetcher } from "../../../../operator/issuers/issuer-fetcher.ts";
import type { IssuerSource } from "../../../../operator/model/issuers.ts";
import { type ManualTime, manualTime, settled } from "../../../support/time/manual-time.ts";

const corp: IssuerSource = { kind: "url", url: "https://login.example.org" };
const keys = (kid: string): FetchedIssuer => ({
  url: corp.url,
  keys: [{ kid, algorithms: ["ES256"], jwk: {} }],
  keepForMs: 600_000,
});
const used = new Map([["corp", corp]]);

let time: ManualTime;
let fetcher: IssuerFetcher;
/** What the next fetches end with; the last one stays. */
let answers: (FetchedIssuer | Error | "never")[];
let begun: number[];
let changed: string[][];
let observed: string[];
let atOnce: number;
let most: number;

beforeEach(() => {
  time = manualTime();
  answers = [keys("one")];
  begun = [];
  changed = [];
  observed = [];
  atOnce = 0;
  most = 0;
  fetcher = createIssuerFetcher({
    ...time,
    random: () => 1,
    fetch: async (_source, signal) => {
      begun.push(time.monotonic());
      atOnce += 1;
      most = Math.max(most, atOnce);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      try {
        if (answer === "never") {
          await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        }
        if (answer instanceof Error) throw answer;
        return answer as FetchedIssuer;
      } finally {
        atOnce -= 1;
      }
    },
    onChange: (projects) => changed.push([...projects]),
    observe: (seen) => observed.push(seen.kind === "lost" && !seen.keepsKeys ? "lost, without keys" : seen.kind),
  });
});

const down = new FetchFailure("it answered with status 503");
const known = (kid: string) => ({ state: "known", content: { url: corp.url, keys: keys(kid).keys } });

it("an issuer is fetched once for all Projects that name it, and its Projects are told", async () => {
  fetcher.use("shop/web", used);
  fetcher.use("shop/blog", used);
  expect(fetcher.lookUp(corp)).toEqual({ state: "pending" });
  await fetcher.whenFetched();
  const { lookUp } = fetcher;
  expect(lookUp(corp), "passed on by itself").toEqual(known("one"));
  expect(begun).toHaveLength(1);
  expect(changed).toEqual([["shop/web", "shop/blog"]]);
});

it("the same issuer with another authority is fetched by itself, and so is this cluster's", async () => {
  fetcher.use(
    "shop/web",
    new Map<string, IssuerSource>([
      ["corp", corp],
      ["other", { ...corp, certificateAuthority: "PEM" }],
      ["cluster", { kind: "cluster" }],
    ]),
  );
  await fetcher.whenFetched();
  expect(begun).toHaveLength(3);
});

it("keys are fetched again when they have become old, and only others are told of", async () => {
  fetcher.use("shop/web", used);
  await fetcher.whenFetched();
  answers = [keys("one"), keys("two")];
  await time.advance(600_000);
  expect([begun, changed.length]).toEqual([[0, 600_000], 1]);
  await time.advance(600_000);
  expect(fetcher.lookUp(corp)).toEqual(known("two"));
  expect(changed).toHaveLength(2);
});

describe("an issuer that can't be fetched", () => {
  it("is said so with the first attempt where nothing is known of it, and tried again after longer and longer pauses", async () => {
    answers = [down];
    fetcher.use("shop/web", used);
    await fetcher.whenFetched();
    expect(fetcher.lookUp(corp)).toEqual({ state: "unreachable", failure: down.message });
    await time.advance(1_000_000);
    expect(begun.map((at) => at / 1_000)).toEqual([0, 5, 15, 35, 75, 155, 315, 615, 915]);
    expect(changed).toHaveLength(1);
    expect(observed.slice(0, 3)).toEqual(["failed", "lost, without keys", "failed"]);
  });

  it("keeps the keys that it had, is said so with the second attempt that fails, and comes back", async () => {
    fetcher.use("shop/web", used);
    await fetcher.whenFetched();
    answers = [down, down, keys("two")];
    await time.advance(600_000);
    expect(fetcher.lookUp(corp)).toEqual(known("one"));
    await time.advance(5_000);
    expect(fetcher.lookUp(corp)).toEqual({ ...known("one"), failure: down.message });
    expect(fetcher.figures()).toEqual({ unreachable: 1, oldestFailureSeconds: 605 });
    await time.advance(10_000);
    expect(fetcher.lookUp(corp)).toEqual(known("two"));
    expect(fetcher.figures()).toEqual({ unreachable: 0, oldestFailureSeconds: 0 });
    expect(observed).toEqual(["fetched", "failed", "failed", "lost", "fetched", "recovered"]);
  });

  it("is given up after five seconds", async () => {
    answers = ["never"];
    fetcher.use("shop/web", used);
    await time.advance(4_999);
    expect(fetcher.lookUp(corp)).toEqual({ state: "pending" });
    await time.advance(1);
    await settled();
    expect(fetcher.lookUp(corp)).toEqual({ state: "unreachable", failure: "it did not answer within 5 seconds" });
  });

  it.each([
    ["what it may have said", new Error("what only the operator can read"), "it could not be fetched"],
    ["what was found there", new FetchFailure("it is another", { detail: "it names ops.test" }), "it is another"],
  ])("is described without %s", async (_what, answer, failure) => {
    answers = [answer];
    fetcher.use("shop/web", used);
    await fetcher.whenFetched();
    expect(fetcher.lookUp(corp)).toEqual({ state: "unreachable", failure });
  });
});

describe("a wanted key", () => {
  beforeEach(async () => {
    fetcher.use("shop/web", used);
    await fetcher.whenFetched();
    answers = [keys("two")];
  });

  it("has the issuer fetched at once, if its last fetch began a minute ago", async () => {
    await time.advance(60_000);
    fetcher.want({ project: "shop/web", issuer: "corp" });
    await time.advance(0);
    expect(fetcher.lookUp(corp)).toEqual(known("two"));
  });

  it("at the end of that minute, if a replica may still want it then", async () => {
    await time.advance(57_000);
    fetcher.want({ project: "shop/web", issuer: "corp" });
    fetcher.want({ project: "shop/web", issuer: "corp" });
    await time.advance(2_999);
    expect(begun).toEqual([0]);
    await time.advance(1);
    expect(begun).toEqual([0, 60_000]);
  });

  it("changes nothing earlier, and of unknown projects and issuers", async () => {
    fetcher.want({ project: "shop/web", issuer: "corp" });
    await time.advance(300_000);
    fetcher.want({ project: "shop/web", issuer: "other" });
    fetcher.want({ project: "shop/blog", issuer: "corp" });
    await time.advance(10_000);
    expect(begun).toEqual([0]);
  });
});

/** As many issuers of one Project as that, none of which answers. */
function useSilent(project: string, count: number): readonly IssuerSource[] {
  answers = ["never"];
  const [namespace] = project.split("/");
  const sources = Array.from({ length: count }, (_, index): IssuerSource => {
    return { kind: "url", url: `https://${index}.${namespace}.example.org` };
  });
  fetcher.use(project, new Map(sources.map((source, index) => [`${index}`, source])));
  return sources;
}

it("no more than eight issuers are fetched at a time, four of a namespace", async () => {
  useSilent("shop/web", 40);
  await settled();
  expect(most).toBe(4);
  useSilent("bank/web", 40);
  useSilent("farm/web", 40);
  await time.advance(10_000);
  expect(most).toBe(8);
});

it("an issuer does not wait for those of another namespace that don't answer", async () => {
  for (const name of ["web", "blog", "api"]) useSilent(`shop/${name}`, 100);
  await settled();
  answers = [keys("one")];
  fetcher.use("bank/web", used);
  await settled();
  expect(fetcher.lookUp(corp)).toEqual(known("one"));
});

it("nor for one whose fetch does not end, or that nobody names any more", async () => {
  let ended = 0;
  fetcher = createIssuerFetcher({
    ...time,
    random: () => 1,
    fetch: (source, signal) => {
      signal.addEventListener("abort", () => {
        ended += 1;
      });
      return source === corp ? Promise.resolve(keys("one")) : new Promise(() => undefined);
    },
    onChange: () => undefined,
    observe: () => undefined,
  });
  useSilent("shop/web", 4);
  useSilent("bank/web", 4);
  fetcher.use("farm/web", used);
  await settled();
  expect(fetcher.lookUp(corp)).toEqual({ state: "pending" });
  fetcher.use("shop/web", new Map());
  await settled();
  expect([ended, fetcher.lookUp(corp)]).toEqual([4, known("one")]);
  await time.advance(5_000);
  expect(fetcher.figures().unreachable).toBe(4);
});

it("a key whose private part an issuer shows ends at once, and nothing of before stays in its place", async () => {
  fetcher.use("shop/web", used);
  await fetcher.whenFetched();
  answers = [{ ...keys("two"), fault: "its key set has a private key" }];
  await time.advance(600_000);
  expect(fetcher.lookUp(corp)).toEqual({ ...known("two"), failure: "its key set has a private key" });
  expect(observed).toEqual(["fetched", "failed", "lost"]);
  answers = [keys("three")];
  await time.advance(300_000);
  expect(fetcher.lookUp(corp)).toEqual(known("three"));
});

it("an issuer that shows the private part of its only key has no keys, and it is not said to keep any", async () => {
  answers = [{ ...keys("one"), keys: [], fault: "its key set has a private key" }];
  fetcher.use("shop/web", used);
  await fetcher.whenFetched();
  expect(observed).toEqual(["failed", "lost, without keys"]);
});

it("an issuer that no Project names any more is forgotten, and fetched anew for the next", async () => {
  fetcher.use("shop/web", used);
  fetcher.use("shop/blog", used);
  await fetcher.whenFetched();
  fetcher.use("shop/web", new Map());
  await time.advance(600_000);
  expect(begun).toHaveLength(2);
  fetcher.use("shop/blog", new Map());
  expect(time.waiting()).toBe(0);
  expect(fetcher.lookUp(corp)).toEqual({ state: "pending" });
});

it("after the end nothing happens any more", async () => {
  answers = ["never"];
  fetcher.use("shop/web", used);
  await settled();
  fetcher.stop();
  await time.advance(1_000_000);
  expect([begun, changed, observed, time.waiting()]).toEqual([[0], [], [], 0]);
});
