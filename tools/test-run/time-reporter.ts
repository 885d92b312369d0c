// A reporter of vitest's that writes how long each test file took to the file that
// JSONPLANE_TEST_TIMES names; tools/test-run/times.ts prints what came of it.

import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import type { FileTime } from "./times.ts";

export default class TimeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const path = process.env.JSONPLANE_TEST_TIMES;
    if (path) writeFileSync(path, JSON.stringify(modules.map(timeOf)));
  }
}

function timeOf(module: TestModule): FileTime {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  const load = environmentSetupDuration + prepareDuration + collectDuration + setupDuration;
  return { file: relative(process.cwd(), module.moduleId), load: load / 1_000, run: duration / 1_000 };
}
