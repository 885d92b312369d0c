// Plans are cached for as long as they are right: a data plane that caches them is asked the
// same, alternately with changes of the configuration, of sessions and of time, as one that decides
// every request again, and nobody can tell them apart.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { createPlanCache, type PlanCache } from "../../dataplane/operation/plan-cache.ts";
import type { CachedPlan } from "../../dataplane/pipeline.ts";
import {
  createPipelineWorld,
  noPlans,
  type PipelineWorld,
  type PlainRequest,
  type Seen,
} from "../support/http/pipeline-world.ts";
import {
  beginning,
  type Change,
  Course,
  type Requested,
  type Step,
  steps,
  usually,
} from "../support/http/plan-steps.ts";
import { manualClock } from "../support/time/manual-clock.ts";
import { countForTier, testSeed } from "../support/time/test-tier.ts";

/**
 * Ten thousand in four nights, each of which has a seed of its own: one night of them all takes
 * eighteen minutes.
 */
const nightlyHistories = 2_500;

/** Plans found so far, in all histories. */
let found = 0;

function counting(plans: PlanCache<CachedPlan>): PlanCache<CachedPlan> {
  return {
    ...plans,
    find(key) {
      const plan = plans.find(key);
      if (plan !== undefined) found += 1;
      return plan;
    },
  };
}

interface Worlds {
  readonly course: Course;
  readonly keeping: PipelineWorld;
  readonly deciding: PipelineWorld;
  close(): Promise<void>;
}

/** `isCaching` = whether one of the two caches plans. */
async function openWorlds(isProxied: boolean, isCaching: boolean): Promise<Worlds> {
  const clock = manualClock();
  const memory = createMemoryDirectory(clock);
  const course = new Course(memory, clock);
  const directory = { ...memory.directory, dataLost: () => course.dataLost };
  // So small that plans go to make room as well.
  const plans = createPlanCache<CachedPlan>(48 * 1024);
  const stop = directory.onChange(plans.drop);
  const shared = {
    directory,
    clock,
    publicUrl: "https://plane.test/public",
    trustedProxies: isProxied ? ["127.0.0.1"] : [],
  };
  const keeping = await createPipelineWorld({ ...shared, plans: isCaching ? counting(plans) : noPlans });
  const deciding = await createPipelineWorld({ ...shared, plans: noPlans, maxVerified: 1 });
  return {
    course,
    keeping,
    deciding,
    async close() {
      stop();
      await keeping.close();
      await deciding.close();
    },
  };
}

class History {
  readonly #worlds: Worlds;
  readonly #asked: PlainRequest[] = [];

  constructor(worlds: Worlds) {
    this.#worlds = worlds;
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case "change":
        this.#worlds.course.change(step.change);
        break;
      case "ask":
        await this.ask(step.asked);
        break;
      case "again":
        for (let time = 0; time < step.times; time += 1) await this.#compare(this.#earlier(step.which));
        break;
      case "meanwhile":
        await this.#changeWithin(this.#earlier(step.which), step.change);
    }
  }

  async ask(asked: Requested): Promise<Seen> {
    const request = this.#worlds.course.requestOf(asked);
    this.#asked.push(request);
    return await this.#compare(request);
  }

  #earlier(which: number): PlainRequest {
    return this.#asked.at(-1 - (which % this.#asked.length)) as PlainRequest;
  }

  async #compare(request: PlainRequest): Promise<Seen> {
    const { course, keeping, deciding } = this.#worlds;
    const expected = await deciding.ask(request);
    const seen = await keeping.ask(request);
    expect({ request, ...seen }).toEqual({ request, ...expected });
    course.learn(seen.status, seen.body);
    return seen;
  }

  /** A write would be carried out by one of them and not by the other. */
  async #changeWithin(request: PlainRequest, change: Change): Promise<void> {
    if (!["GET", "HEAD", "OPTIONS"].includes(request.method)) return;
    const { course, keeping, deciding } = this.#worlds;
    const answers = [keeping.ask(request), deciding.ask(request)];
    course.change(change);
    await Promise.all(answers);
    await this.#compare(request);
  }
}

async function run(worlds: Worlds, steps: readonly Step[]): Promise<void> {
  const history = new History(worlds);
  for (const first of beginning) await history.ask(first);
  for (const step of steps) await history.take(step);
  if (steps.every(({ kind }) => kind !== "meanwhile")) {
    expect(await worlds.keeping.counts()).toEqual(await worlds.deciding.counts());
  }
}

/**
 * Asks for the books until a plan is found, then again after some changes: what the last answer's
 * status is.
 */
async function statusAfter(credential: string, before: readonly Change[], after: readonly Step[]): Promise<number> {
  const worlds = await openWorlds(false, true);
  try {
    const history = new History(worlds);
    for (const first of beginning) await history.ask(first);
    for (const change of before) await history.take({ kind: "change", change });
    const books = usually({ path: "/api/books", credential });
    const foundBefore = found;
    for (let time = 0; time < 3; time += 1) expect((await history.ask(books)).status).toBe(200);
    expect(found - foundBefore).toBeGreaterThanOrEqual(2);
    for (const step of after) await history.take(step);
    return (await history.ask(books)).status;
  } finally {
    await worlds.close();
  }
}

function passes(milliseconds: number): Step {
  return { kind: "change", change: { kind: "advance", milliseconds } };
}

describe("a plan that was found holds", () => {
  it.each([
    [29_999, 200],
    [30_000, 401],
  ])("to the millisecond of a key's expiry: after %d ms the answer is %d", async (milliseconds, status) => {
    const expires: Change = { kind: "modify", of: "shop", modifier: "key: expires" };
    expect(await statusAfter("key:ci", [expires], [passes(milliseconds)])).toBe(status);
  });

  it.each([
    [299_999, 200],
    [300_000, 401],
  ])("to the millisecond of a token's expiry: after %d ms the answer is %d", async (milliseconds, status) => {
    expect(await statusAfter("token:last", [], [passes(milliseconds)])).toBe(status);
  });

  it.each([
    [-300_000, 200],
    [-300_001, 401],
  ])(
    "until the clock is put back before a token can have been made: by %d ms, the answer is %d",
    async (by, status) => {
      const adjusted: Step = { kind: "change", change: { kind: "adjust", milliseconds: by } };
      expect(await statusAfter("token:last", [], [adjusted])).toBe(status);
    },
  );

  it.each([
    [89_999, 200],
    [90_000, 401],
  ])("to the millisecond in which an external token expires: after %d ms the answer is %d", async (by, status) => {
    expect(await statusAfter("external:brief", [], [passes(by)])).toBe(status);
  });

  it.each([
    [0, 200],
    [-1, 401],
  ])(
    "until the clock is put back before an external token is valid: by %d ms, the answer is %d",
    async (by, status) => {
      const waited: Change = { kind: "advance", milliseconds: 30_000 };
      const adjusted: Step = { kind: "change", change: { kind: "adjust", milliseconds: by } };
      expect(await statusAfter("external:later", [waited], [adjusted])).toBe(status);
    },
  );

  it.each([
    ["issuer: usual", 200],
    ["issuer: another audience", 401],
    ["issuer: one key", 401],
    ["issuer: for staff", 401],
    ["issuer: gone", 401],
  ])("until its external issuer is another one: after %s the answer is %d", async (modifier, status) => {
    const change: Change = { kind: "modify", of: "shop", modifier };
    expect(await statusAfter("external:eve", [], [{ kind: "change", change }])).toBe(status);
  });

  it("until the session is ended", async () => {
    const ending = usually({ method: "DELETE", path: "/sessions/{session}", credential: "token:last" });
    expect(await statusAfter("token:last", [], [{ kind: "ask", asked: ending }])).toBe(401);
  });
});

it("a header that proves nothing is not kept, whatever it was meant for", async () => {
  const disabled: Change = { kind: "modify", of: "shop", modifier: "authentication: Disabled" };
  await expect(statusAfter("login:ann", [disabled], [])).rejects.toThrow("to be greater than or equal to 2");
});

async function compareHistories(numRuns: number, isCaching: boolean): Promise<void> {
  const histories = fc.asyncProperty(steps, fc.boolean(), async (history, isProxied) => {
    const worlds = await openWorlds(isProxied, isCaching);
    try {
      await run(worlds, history);
    } finally {
      await worlds.close();
    }
  });
  await fc.assert(histories, { numRuns, seed: testSeed() });
}

describe("whatever changes between requests,", () => {
  it("two data planes that decide every request anew answer the same", async () => {
    await compareHistories(countForTier(3, 100), false);
  });

  it(
    "a data plane that caches plans answers as one that decides every request anew",
    async () => {
      await compareHistories(countForTier(40, nightlyHistories), true);
      // Of some sixty requests in a history.
      expect(found).toBeGreaterThan(countForTier(40, nightlyHistories) * 10);
    },
    countForTier(170, 1_800) * 1_000,
  );
});
