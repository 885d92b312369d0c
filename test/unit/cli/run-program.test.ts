// How a command ends that runs until it is stopped: in processes of its own, because a signal is
// the process's.

import { spawn } from "node:child_process";
import { expect, it } from "vitest";

const module = new URL("../../../cli/run-program.ts", import.meta.url).href;

/**
 * Runs `start`, a function's text, as a program with these options; sends SIGTERM once it has
 * written `until`.
 */
async function run(
  start: string,
  until?: string,
  options = "",
): Promise<{ code: number | null; lines: readonly string[]; error: string }> {
  const program = `
    import { setTimeout as sleep } from "node:timers/promises";
    const { runProgram } = await import(${JSON.stringify(module)});
    const say = (line) => process.stdout.write(line + "\\n");
    const frame = { name: "it", refusalOf: (error) => (error.message === "a refusal" ? error.message : undefined), ${options} };
    process.exitCode = await runProgram(frame, ${start});
    say("ended");
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let error = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const before = out;
    out += text;
    if (until !== undefined && !before.includes(until) && out.includes(until)) child.kill("SIGTERM");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    error += text;
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, lines: out.trim().split("\n"), error };
}

it("closes what was opened in the reverse order, also what stands behind a closer that fails, and says which failed", async () => {
  const { code, lines, error } = await run(
    `async (cleanup) => {
      const open = setInterval(() => undefined, 1_000);
      cleanup.add(() => { clearInterval(open); say("first closed"); });
      cleanup.add(async () => { throw new Error("it stuck"); });
      cleanup.add(() => say("third closed"));
      say("started");
    }`,
    "started",
  );
  expect(lines).toEqual(["started", "third closed", "first closed", "ended"]);
  expect(error).toContain("it: ");
  expect(error).toContain("it stuck");
  expect(code).toBe(1);
});

it("closes what a start opens after the signal that ended it, and waits for it", async () => {
  const { code, lines } = await run(
    `async (cleanup) => {
      cleanup.add(() => say("first closed"));
      say("starting");
      await sleep(600_000, undefined, { signal: cleanup.stopping }).catch(() => undefined);
      const open = setInterval(() => undefined, 1_000);
      cleanup.add(() => { clearInterval(open); say("second closed"); });
      say("never here");
    }`,
    "starting",
  );
  expect(lines).toEqual(["starting", "first closed", "second closed", "ended"]);
  expect(code).toBe(0);
});

it("has failed where a signal ends what ends by itself", async () => {
  const start = "async ({ stopping: signal }) => { say('working'); await sleep(600_000, undefined, { signal }); }";
  const { code } = await run(start, "working", "endsByItself: true");
  expect(code).toBe(143);
});

it("tells a start that waits that it is to end", async () => {
  const { code, lines } = await run(
    `async (cleanup) => {
      say("starting");
      await sleep(600_000, undefined, { signal: cleanup.stopping });
    }`,
    "starting",
  );
  expect([code, lines]).toEqual([0, ["starting", "ended"]]);
});

it("answers a refusal with a sentence and exit code 1, after all is closed", async () => {
  const { code, lines, error } = await run(`async (cleanup) => {
    cleanup.add(() => say("closed"));
    throw new Error("a refusal");
  }`);
  expect([code, lines, error]).toEqual([1, ["closed", "ended"], "it: a refusal\n"]);
});
