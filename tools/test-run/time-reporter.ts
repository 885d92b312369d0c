// A reporter of vitest's that writes how long each test file took, and which errors no test
// carries, to the file that JSONPLANE_TEST_TIMES names. tools/test-run/run-tests.ts reads it.

import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { SerializedError } from "vitest";
import type { Reporter, TestModule } from "vitest/node";
import type { FileTime, LaneTimes } from "./times.ts";

export default class TimeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const path = process.env.JSONPLANE_TEST_TIMES;
    const times: LaneTimes = { files: modules.map(timeOf), unhandled: errors.map(unhandled) };
    if (path) writeFileSync(path, JSON.stringify(times));
  }
}

/** vitest adds the test file that ran meanwhile. */
function unhandled({ message, stack, VITEST_TEST_PATH: file }: SerializedError): string {
  const place = stack?.split("\n").find((line) => /^\s+at /.test(line));
  const meanwhile = typeof file === "string" ? `, while ${relative(process.cwd(), file)} ran` : "";
  return `An unhandled error: ${message}${place ? `, ${place.trim()}` : ""}${meanwhile}`;
}

function timeOf(module: TestModule): FileTime {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  const load = environmentSetupDuration + prepareDuration + collectDuration + setupDuration;
  return { file: relative(process.cwd(), module.moduleId), load: load / 1_000, run: duration / 1_000 };
}
