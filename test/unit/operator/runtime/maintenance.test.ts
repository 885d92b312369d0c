import { describe, expect, it } from "vitest";
import { RedisContested, type RedisRefused, WrittenByNewerVersion } from "../../../../operator/publish/refusals.ts";
import { type Call, leader } from "./maintained-leader.ts";

describe("after a publisher has begun", () => {
  it("everything is looked at, and it is complete once every key was worked through", async () => {
    const { time, maintenance, count, taken } = leader({ keys: ["shop/a", "shop/b"] });
    maintenance.onSessionBegun([]);
    expect(taken()).toEqual(["shop/a bulk", "shop/b bulk"]);
    maintenance.processed("shop/a", true);
    await time.advance(0);
    expect(count("complete")).toBe(0);
    maintenance.processed("shop/b", true);
    await time.advance(0);
    expect(count("complete")).toBe(1);
  });

  it("with no project at all, it is complete at once", async () => {
    const { time, maintenance, count } = leader();
    maintenance.onSessionBegun([]);
    await time.advance(0);
    expect(count("complete")).toBe(1);
  });

  it("how much memory Redis uses and how many objects replicas count is read at once, for the first scrape", async () => {
    const { time, maintenance, count } = leader({ keys: ["shop/a"] });
    maintenance.onSessionBegun([]);
    await time.advance(0);
    expect([count("memory"), count("stored")]).toEqual([1, 1]);
  });

  it("a key that Redis lacks keeps it incomplete until it was published, and is named in the log each minute", async () => {
    const { time, maintenance, count, logged, end } = leader({ keys: ["shop/a", "shop/b"] });
    maintenance.onSessionBegun([]);
    void maintenance.run();
    maintenance.processed("shop/a", true);
    maintenance.processed("shop/b", false);
    await time.advance(60_000);
    expect(count("complete")).toBe(0);
    expect(logged).toEqual([["info", "Some Projects are not published yet", { projects: 1, example: "shop/b" }]]);
    maintenance.processed("shop/b", true);
    await time.advance(0);
    expect(count("complete")).toBe(1);
    end.abort();
  });

  it("what Redis has lost goes before everything else, as somebody's change does", () => {
    const { maintenance, taken } = leader({ keys: ["shop/a", "shop/b"] });
    maintenance.onSessionBegun(["shop/b", "shop/withdrawn"]);
    expect(taken()).toEqual(["shop/b live", "shop/withdrawn live", "shop/a bulk", "shop/b bulk"]);
  });

  it("keys that nobody waits for change nothing, and what is complete is completed once", async () => {
    const { time, maintenance, count } = leader({ keys: ["shop/a"] });
    maintenance.onSessionBegun([]);
    for (const key of ["shop/other", "shop/a", "shop/a"]) maintenance.processed(key, true);
    await time.advance(0);
    expect(count("complete")).toBe(1);
  });

  it("a second beginning makes everything incomplete again", async () => {
    const { time, maintenance, count, taken } = leader({ keys: ["shop/a"] });
    maintenance.onSessionBegun([]);
    maintenance.processed("shop/a", true);
    await time.advance(0);
    taken();
    expect(maintenance.sessionCount()).toBe(1);
    maintenance.onSessionBegun([]);
    expect(maintenance.sessionCount()).toBe(2);
    expect(taken()).toEqual(["shop/a bulk"]);
    await time.advance(0);
    expect(count("complete")).toBe(1);
    maintenance.processed("shop/a", true);
    await time.advance(0);
    expect(count("complete")).toBe(2);
  });

  it("is not complete by what was published before a beginning that comes while the publisher is asked for", async () => {
    const { time, maintenance, world, count, logged } = leader({ keys: ["shop/a", "shop/b"] });
    maintenance.onSessionBegun([]);
    maintenance.processed("shop/a", true);
    // Redis was emptied, and whoever asks first begins again.
    world.onPublisher = () => {
      world.onPublisher = () => undefined;
      maintenance.onSessionBegun([]);
    };
    maintenance.processed("shop/b", true);
    await time.advance(0);
    expect(count("complete")).toBe(0);
    for (const key of ["shop/a", "shop/b"]) maintenance.processed(key, true);
    await time.advance(0);
    expect(count("complete")).toBe(1);
    expect(logged).toContainEqual(["info", "All Projects are published", undefined]);
  });

  it("is not complete by what was published before a beginning that comes while Redis is told", async () => {
    const { time, maintenance, world, count } = leader({ keys: ["shop/a"] });
    maintenance.onSessionBegun([]);
    world.onCall = (call) => {
      if (call !== "complete") return;
      world.onCall = () => undefined;
      maintenance.onSessionBegun([]);
    };
    maintenance.processed("shop/a", true);
    await time.advance(0);
    maintenance.processed("shop/a", true);
    await time.advance(0);
    expect(count("complete")).toBe(2);
  });

  it("a completion that Redis refused is logged, and tried again with the next look", async () => {
    const { time, maintenance, count, failing, logged, end } = leader({ keys: ["shop/a"] });
    failing.add("complete");
    maintenance.onSessionBegun([]);
    maintenance.processed("shop/a", true);
    await time.advance(0);
    expect(logged).toContainEqual([
      "warn",
      "Maintenance failed",
      { task: "complete", error: expect.stringContaining("Redis is away") },
    ]);
    failing.clear();
    void maintenance.run();
    await time.advance(2_000);
    expect(count("complete")).toBe(2);
    expect(logged.at(-1)).toEqual(["info", "All Projects are published", undefined]);
    end.abort();
  });
});

describe("while it leads, maintenance", () => {
  it("verifies at once and every 2 s, asks for the ring every 5 s and for Redis' memory every 15 s, sweeps and looks at stored objects every minute, looks at everything every 10 minutes", async () => {
    const { time, maintenance, count, taken, end } = leader({ keys: ["shop/a"] });
    const running = maintenance.run();
    await time.advance(0);
    expect(count("verify")).toBe(1);
    await time.advance(599_999);
    expect([count("verify"), count("ring"), count("memory"), count("sweep")]).toEqual([1 + 299, 119, 39, 9]);
    expect(count("stored")).toBe(9);
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
    maintenance.onSessionBegun([]);
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
    const contested = new RedisContested("there/uid/hash");
    const refuse = (call: Call, refusal: RedisRefused): void => {
      if (call !== "verify" && call !== "ring") return;
      maintenance.refused(refusal);
      throw refusal;
    };
    world.onCall = (call) => refuse(call, contested);
    void maintenance.run();
    await time.advance(300_000);
    const everything = ["shop/a bulk", "shop/b bulk"];
    expect(taken()).toEqual(everything);
    expect(logged.filter(([level]) => level === "warn")).toEqual([
      ["warn", "Not writing to Redis", { reason: "RedisContested", why: contested.message, owner: "there/uid/hash" }],
    ]);
    logged.length = 0;
    // For another reason, which the statuses say, too.
    world.onCall = (call) => refuse(call, new WrittenByNewerVersion(2, 1));
    await time.advance(60_000);
    expect([taken(), logged.filter(([level]) => level === "warn").length]).toEqual([everything, 1]);
    world.onCall = () => undefined;
    logged.length = 0;
    maintenance.onSessionBegun([]);
    maintenance.onSessionBegun([]);
    expect([taken(), logged]).toEqual([
      [...everything, ...everything],
      [["info", "Writing to Redis again", undefined]],
    ]);
    maintenance.refused(contested);
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
    expect(taken()).toEqual(["retryNow"]);
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
