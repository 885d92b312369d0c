import { describe, expect, test } from "vitest";
import { type Candidate, leases, openElection } from "./candidates.ts";

const endings = ({ reported }: Candidate): unknown[] =>
  reported.flatMap((each) => (each.kind === "ended" ? [each.why] : []));

describe("a free Lease", () => {
  test("is created by the first who comes, with times of six digits", async () => {
    const { time, candidate, spec } = openElection();
    const a = candidate("a");
    await time.advance(10);
    expect(a.leads?.held()).toBe(true);
    expect(spec()).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      acquireTime: "2025-10-09T08:53:20.001000Z",
      renewTime: "2025-10-09T08:53:20.001000Z",
    });
  });

  test("goes to one of two who come at once", async () => {
    const { time, candidate } = openElection();
    const both = [candidate("a"), candidate("b")];
    await time.advance(60_000);
    expect(both.map(({ leads }) => leads?.held() ?? false)).toEqual([true, false]);
  });

  test("is renewed every two seconds, keeps what others wrote into it, and tells when it was acquired", async () => {
    const { time, objects, candidate, lease, spec } = openElection();
    const a = candidate("a");
    await time.advance(10);
    const present = lease();
    objects.replace(leases, {
      ...present,
      metadata: { ...present?.metadata, labels: { team: "x" } },
      spec: { ...spec(), strategy: "OldestEmulationVersion" },
    });
    const { acquireTime, renewTime } = spec();
    await time.advance(20_000);
    expect(a.leads?.held()).toBe(true);
    expect(spec()).toMatchObject({ strategy: "OldestEmulationVersion", acquireTime, leaseTransitions: 0 });
    expect(spec()["renewTime"]).not.toBe(renewTime);
    expect(lease()?.metadata.labels).toEqual({ team: "x" });
    // One conflict was resolved by reading again; all other renewals were one call.
    expect(a.api.calls.filter((verb) => verb === "get")).toHaveLength(2);
  });
});

describe("a standby", () => {
  test("takes over 15 s after the last change that it saw, and counts the transition", async () => {
    const { time, candidate, spec } = openElection();
    const a = candidate("a");
    await time.advance(10);
    const b = candidate("b");
    await time.advance(6_000);
    a.api.faults = () => ({ kind: "unreachable" });
    await time.advance(14_000);
    expect(b.leads).toBeUndefined();
    await time.advance(6_000);
    expect(b.leads?.held()).toBe(true);
    expect(a.leads?.held()).toBe(false);
    expect(spec()).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    expect(b.reported).toContainEqual({ kind: "acquired", transitions: 1 });
  });

  test("takes over within three seconds of a release", async () => {
    const { time, candidate, spec } = openElection();
    const a = candidate("a");
    await time.advance(10);
    const b = candidate("b");
    await time.advance(7_000);
    const released = a.leads?.release();
    await time.advance(5);
    await released;
    expect(spec()).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    await time.advance(2_990);
    expect(b.leads?.held()).toBe(true);
    expect(spec()).toMatchObject({ holderIdentity: "b", leaseDurationSeconds: 15, leaseTransitions: 1 });
  });

  test("believes its own clock, not the times in the Lease", async () => {
    const { time, objects, candidate } = openElection();
    objects.create(leases, {
      metadata: { namespace: "system", name: "jsonplane-operator" },
      spec: { holderIdentity: "gone", leaseDurationSeconds: 15, renewTime: "1999-01-01T00:00:00.000000Z" },
    });
    const b = candidate("b");
    await time.advance(14_000);
    expect(b.leads).toBeUndefined();
    await time.advance(4_000);
    expect(b.leads?.held()).toBe(true);
  });

  test("goes on trying while the API server fails", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a");
    a.api.faults = () => ({ kind: "refused" });
    await time.advance(30_000);
    expect(a.reported.filter(({ kind }) => kind === "failed").length).toBeGreaterThan(10);
    a.api.faults = () => undefined;
    await time.advance(3_000);
    expect(a.leads?.held()).toBe(true);
  });

  test("takes a Lease that was released within 1.2 seconds, and asks for it once a second", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a");
    await time.advance(10);
    const b = candidate("b");
    await time.advance(10_500);
    expect(b.api.calls.length).toBeLessThanOrEqual(11);
    void a.leads?.release();
    await time.advance(1_200);
    expect(b.leads?.held()).toBe(true);
  });

  test("stops when it is told to, and leaves no Lease behind that it took meanwhile", async () => {
    const { time, candidate, spec } = openElection();
    const a = candidate("a");
    a.stop.abort(new Error("stopping"));
    await time.advance(100);
    await expect(a.acquired).rejects.toThrow("stopping");
    expect(spec()).toMatchObject({ holderIdentity: "" });
    expect(time.waiting()).toBe(0);
  });

  test("leads when it took the Lease by a request whose answer was lost", async () => {
    const { time, candidate, spec } = openElection();
    const a = candidate("a");
    a.api.faults = (verb) => (verb === "create" ? { kind: "lost" } : undefined);
    await time.advance(8_000);
    expect(a.leads?.held()).toBe(true);
    expect(spec()).toMatchObject({ holderIdentity: "a", leaseTransitions: 0 });
  });
});

describe("a leader", () => {
  test("ends ten seconds after the request of its last renewal was sent, not after its answer", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a");
    a.api.faults = (verb) => (verb === "create" ? { kind: "slow", milliseconds: 4_000 } : undefined);
    await time.advance(4_500);
    expect(a.leads?.held()).toBe(true);
    a.api.faults = () => ({ kind: "unreachable" });
    await time.advance(10_000 - 4_500);
    expect(a.leads?.held()).toBe(true);
    await time.advance(2);
    expect([a.leads?.held(), a.leads?.ended.aborted, endings(a)]).toEqual([false, true, ["overdue"]]);
  });

  test("stays while renewals fail for less than that", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a");
    await time.advance(10);
    a.api.faults = () => ({ kind: "refused" });
    await time.advance(7_000);
    a.api.faults = () => undefined;
    await time.advance(30_000);
    expect([a.leads?.held(), endings(a)]).toEqual([true, []]);
  });

  test("stays when renewals happen and their answers are lost", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a");
    await time.advance(10);
    let puts = 0;
    a.api.faults = (verb) => {
      if (verb === "replace") puts += 1;
      return verb === "replace" && puts === 1 ? { kind: "lost" } : undefined;
    };
    await time.advance(30_000);
    expect([a.leads?.held(), endings(a)]).toEqual([true, []]);
  });

  test("that was paused holds nothing when it wakes up, before any timer, and asks for nothing more", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a");
    await time.advance(3_000);
    const calls = a.api.calls.length;
    time.freeze(10_000);
    expect(a.leads?.held()).toBe(false);
    await time.advance(60_000);
    expect([a.api.calls.length, endings(a)]).toEqual([calls, ["overdue"]]);
  });

  test("that slept with its machine, where only the time of day went on, holds nothing either", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a");
    await time.advance(3_000);
    time.adjustClock(60_000);
    expect(a.leads?.held()).toBe(false);
    await time.advance(2_000);
    expect(endings(a)).toEqual(["overdue"]);
  });

  test("goes on when the time of day is set back", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a");
    await time.advance(3_000);
    time.adjustClock(-3_600_000);
    await time.advance(30_000);
    expect([a.leads?.held(), endings(a)]).toEqual([true, []]);
  });

  test("that wakes up to the answer of an old renewal does not count it", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a");
    await time.advance(1_999);
    a.api.faults = () => ({ kind: "slow", milliseconds: 3_000 });
    await time.advance(100);
    time.freeze(20_000);
    await time.advance(0);
    expect([a.leads?.held(), endings(a)]).toEqual([false, ["overdue"]]);
  });

  test("ends at its next renewal when somebody else stands in the Lease", async () => {
    const { time, objects, candidate, lease, spec } = openElection();
    const a = candidate("a");
    await time.advance(10);
    objects.replace(leases, { ...lease(), spec: { ...spec(), holderIdentity: "by-hand" } });
    await time.advance(2_010);
    expect([a.leads?.held(), endings(a), spec()["holderIdentity"]]).toEqual([false, ["taken"], "by-hand"]);
  });

  test("ends at its next renewal when the Lease was deleted", async () => {
    const { time, objects, candidate, lease } = openElection();
    const a = candidate("a");
    await time.advance(10);
    objects.remove(leases, "system", "jsonplane-operator");
    await time.advance(2_010);
    expect([endings(a), lease()]).toEqual([["taken"], undefined]);
  });

  test("finds by asking that the Lease is another's", async () => {
    const { time, objects, candidate, lease, spec } = openElection();
    const a = candidate("a");
    await time.advance(10);
    const first = a.leads?.confirm();
    await time.advance(5);
    expect(await first).toBe(true);
    objects.replace(leases, { ...lease(), spec: { ...spec(), holderIdentity: "by-hand" } });
    const second = a.leads?.confirm();
    await time.advance(5);
    expect([await second, a.leads?.held(), endings(a)]).toEqual([false, false, ["taken"]]);
  });

  test("that releases the Lease holds nothing from the first moment, and needs no more timers", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a");
    await time.advance(1_999);
    a.api.faults = (verb) => (verb === "replace" ? { kind: "slow", milliseconds: 4_000 } : undefined);
    await time.advance(10);
    a.api.faults = () => undefined;
    const released = Promise.all([a.leads?.release(), a.leads?.release()]);
    expect([a.leads?.held(), a.leads?.ended.aborted]).toEqual([false, true]);
    await time.advance(4_100);
    await released;
    expect([endings(a), time.waiting()]).toEqual([["released"], 0]);
  });

  test("that can't release the Lease says so and does not throw", async () => {
    const { time, candidate } = openElection();
    const a = candidate("a");
    await time.advance(10);
    a.api.faults = () => ({ kind: "unreachable" });
    const released = a.leads?.release();
    await time.advance(5_000);
    await released;
    expect(a.reported.at(-1)?.kind).toBe("release_failed");
  });

  test("that lost the Lease releases nothing", async () => {
    const { time, objects, candidate, lease, spec } = openElection();
    const a = candidate("a");
    await time.advance(10);
    objects.replace(leases, { ...lease(), spec: { ...spec(), holderIdentity: "by-hand" } });
    await time.advance(3_000);
    await a.leads?.release();
    expect(spec()["holderIdentity"]).toBe("by-hand");
  });
});

test("a release that crosses an earlier renewal on its way leaves the Lease free", async () => {
  const { time, candidate, spec } = openElection();
  const a = candidate("a");
  await time.advance(1_999);
  a.api.faults = (verb) => (verb === "replace" ? { kind: "slow", milliseconds: 2 } : undefined);
  await time.advance(3);
  a.api.faults = () => undefined;
  const released = a.leads?.release();
  await time.advance(1_000);
  await released;
  expect(spec()).toMatchObject({ holderIdentity: "" });
});
