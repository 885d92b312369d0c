import { expect, it } from "vitest";
import { endRunning, lastWords, runCommand } from "../../../../tools/parts/run-command.ts";

const node = (script: string, timeout = 60_000) => runCommand(process.execPath, ["-e", script], { timeout });

it("a program's output and exit code come back, whatever it answers", async () => {
  const done = await node('console.log("out"); console.error("err"); process.exitCode = 3;');
  expect(done).toEqual({ code: 3, stdout: "out\n", stderr: "err\n" });
  expect(lastWords(done)).toBe("out\nerr");
});

it("a program that isn't there is told from one that failed, and leaves nothing that keeps the process alive", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const done = await runCommand("jsonplane-no-such-program", []);
  expect(done.code).toBe(127);
  expect(done.stderr).toContain("ENOENT");
  expect(timers()).toBeLessThanOrEqual(before);
});

it("a program that takes too long is killed", async () => {
  expect((await node("setInterval(() => {}, 1000);", 50)).code).toBe(128);
});

it("what a program has started, and goes on with its output, is not waited for when the program took too long", async () => {
  const startOther = 'spawn(process.execPath, ["-e", "setTimeout(() => {}, 120_000)"], { stdio: "inherit" })';
  const program = `console.log(require("node:child_process").${startOther}.pid); setInterval(() => {}, 1000);`;
  const { code, stdout } = await node(program, 1_000);
  expect(code).toBe(128);
  // It is still there, else this would throw.
  process.kill(Number(stdout), "SIGKILL");
});

it("programs that run are ended with the process that is told to stop", async () => {
  const running = [node("setInterval(() => {}, 1000);"), node("setInterval(() => {}, 1000);")];
  endRunning();
  expect((await Promise.all(running)).map(({ code }) => code)).toEqual([128, 128]);
});
