import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { DevOperatorView } from "../../../../cli/dev/apply/dev-operator.ts";
import { type Following, follow } from "../../../../cli/dev/apply/follow.ts";
import { type ManualTime, manualTime } from "../../../support/time/manual-time.ts";

let folder = "";
let time: ManualTime;
let following: Following | undefined;
let passes: number;
let view: DevOperatorView;

const nothing: DevOperatorView = {
  known: { objects: new Map(), pendingDeletions: [] },
  published: new Map(),
  generated: new Map(),
  folderSecrets: new Map(),
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "jsonplane-follow-"));
  time = manualTime();
  passes = 0;
});
afterEach(async () => {
  await following?.stop();
  rmSync(folder, { recursive: true });
});

async function started(first: DevOperatorView): Promise<void> {
  view = first;
  const devOperator = {
    reconcile: async () => {
      passes += 1;
      return [];
    },
    view: () => view,
  };
  const { now } = time.clock;
  following = await follow({ devOperator, paths: [folder], say: () => undefined, now, timers: time.timers });
}

it("passes again at the moment that credentials change by themselves, and not before", async () => {
  await started({ ...nothing, nextAt: time.clock.now() + 60_000 });
  expect(passes).toBe(1);
  await time.advance(59_999);
  expect(passes).toBe(1);
  view = nothing;
  await time.advance(1);
  expect(passes).toBe(2);
  await time.advance(1_000_000);
  expect(passes).toBe(2);
});
