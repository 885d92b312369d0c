import { describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import type { DataEntry, DataRecord } from "../../../../operator/model/data-record.ts";
import type { Publisher } from "../../../../operator/publish/publisher.ts";
import { ForeignInstance, KeyRingCopied, type RedisRefused } from "../../../../operator/publish/refusals.ts";
import { createMaintenance } from "../../../../operator/runtime/maintenance.ts";
import { manualTime } from "../../../support/time/manual-time.ts";

type Call = "verify" | "complete" | "published" | "ring" | "memory" | "sweep";

/** A leader's maintenance over a publisher that says what is published, and fails where it is told to. */
function leader({ keys = [] as readonly string[], unknown = "", random = 0.5 } = {}) {
  const time = manualTime();
  const end = new AbortController();
  const calls: Call[] = [];
  const failing = new Set<Call>();
  const added: string[] = [];
  const logged: [level: string, message: string, fields: object | undefined][] = [];
  const world = {
    keys: [...keys],
    published: [...keys],
    records: new Map<string, DataRecord>(),
    onCall: (_: Call): void => undefined,
    onPublisher: (): void => undefined,
  };
  const call = async (name: Call): Promise<void> => {
    calls.push(name);
    world.onCall(name);
    if (failing.has(name)) throw new StoreUnavailable("Redis is away");
  };
  const publisher = {
    complete: () => call("complete"),
    async published() {
      await call("published");
      return world.published.map((key) => {
        const [namespace = "", name = ""] = key.split("/");
        return { namespace, name, hosts: [], revision: 1 };
      });
    },
    dataRecords: () => world.records,
  } as Pick<Publisher, "complete" | "published" | "dataRecords"> as Publisher;
  const log = (level: string) => (message: string, fields?: object) => void logged.push([level, message, fields]);
  const maintenance = createMaintenance({
    queue: {
      add: (key: string, lane: string) => void added.push(`${key} ${lane}`),
      hurry: () => void added.push("hurry"),
    } as never,
    timers: time.timers,
    monotonic: time.monotonic,
    random: () => random,
    logger: { info: log("info"), warn: log("warn") } as never,
    signal: end.signal,
    keys: () => world.keys,
    knows: (namespace) => namespace !== unknown,
    publisher: async () => {
      world.onPublisher();
      return publisher;
    },
    verify: () => call("verify"),
    rotateRing: () => call("ring"),
    lookAtRedis: () => call("memory"),
    sweepOrphans: () => call("sweep"),
  });
  const count = (name: Call): number => calls.filter((each) => each === name).length;
  const taken = (): readonly string[] => added.splice(0);
  return { time, end, maintenance, world, calls, count, failing, taken, logged };
}

const projects = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `shop/p-${n}`);

describe("after a publisher has begun", () => {
  it("everything is looked at, and it is complete once every key was worked through", async () => {
    const { time, maintenance, count, taken } = leader({ keys: ["shop/a", "shop/b"] });
    maintenance.begun([]);
    expect(taken()).toEqual(["shop/a bulk", "shop/b bulk"]);
    maintenance.processed("shop/a", true);
    await time.advance(0);
    expect(count("complete")).toBe(0);
    maintenance.processed("shop/b", true);
    await time.advance(0);
    expect(count("complete")).toBe(1);
  });

  it("is not complete where Redis was emptied meanwhile, and a new session has begun, before it was said and while it is", async () => {
    for (const hook of ["onPublisher", "onCall"] as const) {
      const { time, maintenance, world, count, logged } = leader({ keys: ["shop/a"] });
      maintenance.begun([]);
      world[hook] = () => {
        world[hook] = () => undefined;
        maintenance.begun([]);
      };
      maintenance.processed("shop/a", true);
      await time.advance(0);
      expect(logged).toEqual([]);
      const said = count("complete");
      expect(said).toBe(hook === "onPublisher" ? 0 : 1);
      maintenance.processed("shop/a", true);
      await time.advance(0);
      expect(count("complete")).toBe(said + 1);
    }
  });

  it("with no project at all, it is complete at once", async () => {
    const { time, maintenance, count } = leader();
    maintenance.begun([]);
    await time.advance(0);
    expect(count("complete")).toBe(1);
  });

  it("it is measured at once how much memory Redis uses, for the first scrape to tell it", async () => {
    const { time, maintenance, count } = leader({ keys: ["shop/a"] });
    maintenance.begun([]);
    await time.advance(0);
    expect(count("memory")).toBe(1);
  });

  it("a key that Redis lacks keeps it incomplete until it was published, and is named in the log each minute", async () => {
    const { time, maintenance, count, logged, end } = leader({ keys: ["shop/a", "shop/b"] });
    maintenance.begun([]);
    void maintenance.run();
    maintenance.processed("shop/a", true);
    maintenance.processed("shop/b", false);
    await time.advance(60_000);
    expect(count("complete")).toBe(0);
    expect(logged).toEqual([["info", "Some Projects are not published yet", { projects: 1, one: "shop/b" }]]);
    maintenance.processed("shop/b", true);
    await time.advance(0);
    expect(count("complete")).toBe(1);
    end.abort();
  });

  it("what Redis has lost goes before everything else, as somebody's change does", () => {
    const { maintenance, taken } = leader({ keys: ["shop/a", "shop/b"] });
    maintenance.begun(["shop/b", "shop/withdrawn"]);
    expect(taken()).toEqual(["shop/b live", "shop/withdrawn live", "shop/a bulk", "shop/b bulk"]);
  });

  it("keys that nobody waits for change nothing, and what is complete is completed once", async () => {
    const { time, maintenance, count } = leader({ keys: ["shop/a"] });
    maintenance.begun([]);
    for (const key of ["shop/other", "shop/a", "shop/a"]) maintenance.processed(key, true);
    await time.advance(0);
    expect(count("complete")).toBe(1);
  });

  it("a second beginning makes everything incomplete again", async () => {
    const { time, maintenance, count, taken } = leader({ keys: ["shop/a"] });
    maintenance.begun([]);
    maintenance.processed("shop/a", true);
    await time.advance(0);
    taken();
    expect(maintenance.beginning()).toBe(1);
    maintenance.begun([]);
    expect(maintenance.beginning()).toBe(2);
    expect(taken()).toEqual(["shop/a bulk"]);
    await time.advance(0);
    expect(count("complete")).toBe(1);
    maintenance.processed("shop/a", true);
    await time.advance(0);
    expect(count("complete")).toBe(2);
  });

  it("a completion that Redis refused is logged, and tried again with the next look", async () => {
    const { time, maintenance, count, failing, logged, end } = leader({ keys: ["shop/a"] });
    failing.add("complete");
    maintenance.begun([]);
    maintenance.processed("shop/a", true);
    await time.advance(0);
    expect(logged).toContainEqual([
      "warn",
      "Maintenance failed",
      { what: "complete", error: expect.stringContaining("Redis is away") },
    ]);
    failing.clear();
    void maintenance.run();
    await time.advance(2_000);
    expect(count("complete")).toBe(2);
    expect(logged.at(-1)).toEqual(["info", "All Projects are published", undefined]);
    end.abort();
  });
});

describe("what is published and has no object", () => {
  /** Complete, with these projects published and none of them there. */
  async function completeWithout(gone: readonly string[], present: readonly string[], unknown = "") {
    const world = leader({ keys: present, unknown });
    world.world.published = [...present, ...gone];
    world.maintenance.begun([]);
    for (const key of present) world.maintenance.processed(key, true);
    world.taken();
    await world.time.advance(0);
    return world;
  }

  it("is withdrawn by its own reconcile as soon as everything was published", async () => {
    const { taken } = await completeWithout(["shop/gone"], ["shop/a"]);
    expect(taken()).toEqual(["shop/gone bulk"]);
  });

  it("is left alone in a namespace whose objects are not known", async () => {
    const { taken } = await completeWithout(["hidden/gone"], ["shop/a"], "hidden");
    expect(taken()).toEqual([]);
  });

  it("is looked for again after 15 s when it is most of all, and withdrawn when it is still missing", async () => {
    const { taken, time, logged } = await completeWithout(projects(11), ["shop/a"]);
    expect(taken()).toEqual([]);
    expect(logged.at(-1)).toEqual([
      "warn",
      expect.stringMatching(/^Most published projects have no Project/),
      { projects: 11 },
    ]);
    await time.advance(14_999);
    expect(taken()).toEqual([]);
    await time.advance(1);
    expect(taken()).toHaveLength(11);
  });

  it("is not looked for again sooner by a look that comes in between", async () => {
    const { taken, time, end, maintenance } = await completeWithout(projects(11), ["shop/a"]);
    await time.advance(14_000);
    maintenance.begun([]);
    taken();
    maintenance.processed("shop/a", true);
    await time.advance(0);
    expect(taken()).toEqual([]);
    await time.advance(1_000);
    expect(taken()).toHaveLength(11);
    end.abort();
  });

  it("is not withdrawn when its objects are there again by then", async () => {
    const { taken, time, world } = await completeWithout(projects(11), ["shop/a"]);
    world.keys.push(...projects(11));
    await time.advance(15_000);
    expect(taken()).toEqual([]);
  });

  it("is not looked for again once leadership has ended", async () => {
    const { time, end, count } = await completeWithout(projects(11), ["shop/a"]);
    end.abort();
    await time.advance(60_000);
    expect(count("published")).toBe(1);
  });

  it("is looked at, too, when only its purge is left, or data of which nobody has seen the object go", async () => {
    const world = leader({ keys: ["shop/a"] });
    const entry = { what: "resource", name: "books", uid: "u", namespaceUid: "n" } as const;
    const record = (more: Partial<DataEntry>): DataRecord => ({
      policy: "Retain",
      projectUid: "p",
      entries: [{ ...entry, ...more }],
    });
    world.world.records = new Map([
      ["shop/a", record({})],
      ["shop/purged", record({ purgeFromRevision: 3 })],
      ["shop/kept", record({ retained: true })],
      ["shop/guarded", record({ retained: true, guarded: true })],
      ["shop/left", record({})],
    ]);
    world.maintenance.begun([]);
    world.taken();
    world.maintenance.processed("shop/a", true);
    await world.time.advance(0);
    expect(world.taken()).toEqual(["shop/purged bulk", "shop/guarded bulk", "shop/left bulk"]);
  });
});

describe("while it leads, maintenance", () => {
  it("verifies at once and every 2 s, asks for the ring every 5 s and for Redis' memory every 15 s, sweeps every minute, looks at everything every 10 minutes", async () => {
    const { time, maintenance, count, taken, end } = leader({ keys: ["shop/a"] });
    const running = maintenance.run();
    await time.advance(0);
    expect(count("verify")).toBe(1);
    await time.advance(599_999);
    expect([count("verify"), count("ring"), count("memory"), count("sweep")]).toEqual([1 + 299, 119, 39, 9]);
    expect(taken()).toEqual([]);
    await time.advance(1);
    expect(taken()).toEqual(["shop/a bulk"]);
    end.abort();
    await running;
    expect(time.waiting()).toBe(0);
  });

  it.each([
    [0, 1_800],
    [1, 2_200],
  ])("spreads its times by a tenth to both sides: %s", async (random, milliseconds) => {
    const { time, maintenance, count, end } = leader({ random });
    void maintenance.run();
    await time.advance(milliseconds - 1);
    expect(count("verify")).toBe(1);
    await time.advance(1);
    expect(count("verify")).toBe(2);
    end.abort();
  });

  it("looks for what no object explains only once everything was published", async () => {
    const { time, maintenance, count, end } = leader({ keys: ["shop/a"] });
    maintenance.begun([]);
    void maintenance.run();
    await time.advance(60_000);
    expect([count("published"), count("sweep")]).toEqual([0, 1]);
    maintenance.processed("shop/a", true);
    await time.advance(60_000);
    expect([count("published"), count("sweep")]).toEqual([2, 2]);
    end.abort();
  });

  it.each<Call>(["verify", "ring", "sweep"])("goes on after %s has failed, and logs each failure", async (name) => {
    const { time, maintenance, failing, count, logged, end } = leader();
    failing.add(name);
    void maintenance.run();
    await time.advance(180_000);
    expect(count(name)).toBeGreaterThan(2);
    for (const other of ["verify", "ring", "sweep"] as const) expect(count(other)).toBeGreaterThan(2);
    const failures = logged.filter(([level, message]) => level === "warn" && message === "Maintenance failed");
    expect(failures).toHaveLength(count(name));
    end.abort();
  });

  it("while the Redis is another installation's: looks at everything once, says so once, and once more when it is over", async () => {
    const { time, maintenance, world, taken, logged, end } = leader({ keys: ["shop/a", "shop/b"] });
    const copied = new KeyRingCopied("there/ring/uid");
    const refuse = (call: Call, refusal: RedisRefused): void => {
      if (call !== "verify" && call !== "ring") return;
      maintenance.refused(refusal);
      throw refusal;
    };
    world.onCall = (call) => refuse(call, copied);
    void maintenance.run();
    await time.advance(300_000);
    const everything = ["shop/a bulk", "shop/b bulk"];
    expect(taken()).toEqual(everything);
    const left = "Redis belongs to another installation; not writing to it";
    expect(logged.filter(([level]) => level === "warn")).toEqual([
      ["warn", left, { why: copied.message, writer: copied.writer }],
    ]);
    logged.length = 0;
    // For another reason, which the statuses say, too.
    world.onCall = (call) => refuse(call, new ForeignInstance());
    await time.advance(60_000);
    expect([taken(), logged.filter(([level]) => level === "warn").length]).toEqual([everything, 1]);
    world.onCall = () => undefined;
    logged.length = 0;
    maintenance.begun([]);
    maintenance.begun([]);
    expect([taken(), logged]).toEqual([
      [...everything, ...everything],
      [["info", "Redis belongs to this installation again", undefined]],
    ]);
    maintenance.refused(copied);
    expect(taken()).toEqual(everything);
    end.abort();
  });

  it("hurries what failed meanwhile, once Redis can be reached again: it may be a revocation", async () => {
    const { time, maintenance, failing, taken, end } = leader();
    void maintenance.run();
    await time.advance(10_000);
    failing.add("verify");
    await time.advance(10_000);
    expect(taken()).toEqual([]);
    failing.clear();
    await time.advance(10_000);
    expect(taken()).toEqual(["hurry"]);
    end.abort();
  });

  it("ends when leadership ends, and keeps silent about what fails because of it", async () => {
    const { time, maintenance, world, failing, count, logged, end } = leader();
    const running = maintenance.run();
    await time.advance(0);
    failing.add("verify");
    world.onCall = () => end.abort();
    await time.advance(600_000);
    await running;
    expect(count("verify")).toBe(2);
    expect(logged).toEqual([]);
    expect(time.waiting()).toBe(0);
  });
});
