// Several processes, each with timers of its own that stop when it is paused, and an API server
// that fails in every way: at no moment do two of them hold the Lease, and when all is well again
// one does.

import { asyncProperty, assert as check, constantFrom, integer } from "fast-check";
import { expect, test } from "vitest";
import { createElector, type Leadership } from "../../../../operator/lead/elector.ts";
import { FakeApiObjects } from "../../../support/fake-api/fake-api-objects.ts";
import { type ManualTime, manualTime } from "../../../support/time/manual-time.ts";
import { seededMoments } from "../../../support/time/seeded-moments.ts";
import { countForTier } from "../../../support/time/test-tier.ts";
import { type LeaseApi, type LeaseFault, leaseApi } from "./lease-api.ts";

interface Process {
  readonly time: ManualTime;
  readonly api: LeaseApi;
  readonly held: () => boolean;
  pausedMs: number;
}

/**
 * A process that stands for election again whenever it has lost, under another name, as after a
 * restart.
 */
function startProcess(objects: FakeApiObjects, name: string, random: () => number): Process {
  const time = manualTime();
  const api = leaseApi(objects, time);
  let leadership: Leadership | undefined;
  const run = async (): Promise<void> => {
    for (let life = 1; ; life += 1) {
      const identity = `${name}-${life}`;
      const lease = { namespace: "system", name: "operator", identity, leaseDurationMs: 15_000 };
      const elector = createElector({ ...time, ...lease, api, random });
      leadership = await elector.acquire(new AbortController().signal);
      const { ended } = leadership;
      await new Promise((resolve) => ended.addEventListener("abort", resolve));
    }
  };
  void run();
  return { time, api, held: () => leadership?.held() ?? false, pausedMs: 0 };
}

const fault = (random: () => number): LeaseFault | undefined => {
  const kinds = ["unreachable", "lost", "refused", "slow"] as const;
  const kind = kinds[Math.floor(random() * 10)];
  return kind && { kind, milliseconds: Math.floor(random() * 20_000) };
};

const stepMs = 250;

/** Two minutes in which everything fails; answers with how often somebody was seen leading. */
async function trouble(processes: readonly Process[], random: () => number): Promise<number> {
  let led = 0;
  for (const { api } of processes) api.faults = () => fault(random);
  for (let step = 0; step < 480; step += 1) {
    for (const process of processes) {
      if (random() < 0.002) process.pausedMs = random() * 40_000;
      await move(process);
      const holders = processes.filter(({ held }) => held()).length;
      expect(holders).toBeLessThanOrEqual(1);
      led += holders;
    }
  }
  return led;
}

async function peace(processes: readonly Process[]): Promise<void> {
  for (const process of processes) {
    process.api.faults = () => undefined;
    process.pausedMs = 0;
  }
  for (let step = 0; step < 160; step += 1) {
    for (const process of processes) await move(process);
  }
}

/** Time goes on for all alike; a paused process sees none of it until it wakes up. */
async function move(process: Process): Promise<void> {
  if (process.pausedMs > 0) {
    process.pausedMs -= stepMs;
    process.time.freeze(stepMs);
  } else await process.time.advance(stepMs);
}

test("at no moment do two processes hold the Lease, and one does within 40 s after the faults", async () => {
  await check(
    asyncProperty(integer(), constantFrom(2, 3), async (seed, count) => {
      const random = seededMoments(seed);
      const objects = new FakeApiObjects();
      const processes = Array.from({ length: count }, (_, number) => startProcess(objects, `p${number}`, random));
      expect(await trouble(processes, random)).toBeGreaterThan(0);
      await peace(processes);
      expect(processes.filter(({ held }) => held())).toHaveLength(1);
    }),
    { numRuns: countForTier(25) },
  );
});
