// A run of vitest that has reported and does not end.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { endOf } from "../../../../tools/test-run/run-tests.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-gate-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const program = (text: string) => spawn(process.execPath, ["-e", text], { stdio: "ignore" });

it("is killed when its report was written and it does not end, which is no success", async () => {
  const printed: string[] = [];
  const report = join(folder, "report.json");
  const write = `require("fs").writeFileSync(${JSON.stringify(report)}, "{}"); setInterval(() => {}, 1000);`;
  expect(await endOf(program(write), report, { graceMs: 120, print: (line) => printed.push(line) })).toBeNull();
  expect(printed[0]).toContain("a test has left something running");
});

it("may take its time until it has reported, and ends with its own code", async () => {
  const report = join(folder, "report.json");
  expect(await endOf(program("setTimeout(() => { process.exitCode = 3; }, 400)"), report, { graceMs: 60 })).toBe(3);
});
