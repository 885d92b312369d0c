// What a person sees of jsonplane dev while it runs: requests at a terminal, new credentials, and
// what a changed schema means for stored objects.

import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DevProcess, devProcess, pastedDevProcess } from "../support/fleet/dev-process.ts";
import { freePort } from "../support/process/free-port.ts";

const program = fileURLToPath(new URL("../../bin/jsonplane", import.meta.url));
const template = fileURLToPath(new URL("../../cli/init/project.yaml", import.meta.url));
let cwd = "";
let url = "";
let flags: readonly string[] = [];
let running: DevProcess[] = [];

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "jsonplane-terminal-"));
  mkdirSync(join(cwd, "backend"));
  edit((text) => text, template);
  const port = String(await freePort());
  url = `http://127.0.0.1:${port}/default/todo`;
  flags = ["backend", "--port", port, "--admin-port", "0", "--data", ".data"];
});

afterEach(async () => {
  for (const dev of running) if (dev.child.exitCode === null) await dev.stop("SIGKILL");
  running = [];
  rmSync(cwd, { recursive: true, force: true });
});

/** Whole at once. */
function edit(change: (text: string) => string, from = join(cwd, "backend/project.yaml")): void {
  writeFileSync(join(cwd, "saved"), change(readFileSync(from, "utf8")));
  renameSync(join(cwd, "saved"), join(cwd, "backend/project.yaml"));
}

function apiKey(): string {
  const text = readFileSync(join(cwd, ".data/secrets/default/robot-api-key.yaml"), "utf8");
  return /apiKey: (.*)/.exec(text)?.[1] ?? "";
}

async function send(path: string, init: RequestInit = {}): Promise<number> {
  const response = await fetch(`${url}${path}`, init);
  await response.text();
  return response.status;
}

async function onPipe(...words: readonly string[]): Promise<DevProcess> {
  const dev = devProcess([...flags, ...words], cwd);
  running.push(dev);
  await dev.ready();
  return dev;
}

/** At a terminal that `script`, which every Linux has, makes for it. */
async function atTerminal(variables: NodeJS.ProcessEnv): Promise<DevProcess> {
  const command = `script -qefc '${program} dev ${flags.join(" ")}' /dev/null`;
  const dev = pastedDevProcess(command, cwd, { TERM: "xterm", ...variables });
  running.push(dev);
  await dev.line(/^Ready\r$/);
  return dev;
}

describe("requests to jsonplane dev", () => {
  it.runIf(process.platform === "linux")("are one line each at a terminal, without what may be secret", async () => {
    const dev = await atTerminal({ NO_COLOR: "1" });
    const secret = apiKey();
    const headers = { authorization: `apikey ${secret}` };
    expect(await send("/api/tasks", { method: "POST", headers, body: '{"title":"hidden-title"}' })).toBe(201);
    expect(await send("/api/tasks?title=a&_sort=title")).toBe(200);
    expect(await send("/api/tasks?access_token=hidden-token")).toBe(400);
    expect(await send(`/api/nothing?${secret}`, { headers })).toBe(404);
    // An overview that is open asks every two seconds.
    expect(await send("/../../-/overview/state.json")).toBe(200);
    const time = String.raw`\d+(?:\.\d)? ms`;
    await dev.line(new RegExp(`^POST {3}/default/todo/api/tasks {2}201 {2}${time} {2}key robot\r$`));
    await dev.line(
      new RegExp(String.raw`^GET {4}/default/todo/api/tasks\?title=a&_sort=title {2}200 {2}${time} {2}anonymous\r$`),
    );
    await dev.line(/^GET {4}\/default\/todo\/api\/tasks\?access_token=… {2}400 invalid_parameter {2}/);
    await dev.line(/^GET {4}\/default\/todo\/api\/nothing\?… {2}404 unknown_resource {2}/);
    expect(secret.length).toBeGreaterThan(20);
    for (const text of [secret, "hidden-title", "hidden-token", "/-/overview", "\u001b"])
      expect(dev.out()).not.toContain(text);
  });

  it.runIf(process.platform === "linux")("have colours at a terminal that has them", async () => {
    // A build machine says CI, and has no colours.
    const dev = await atTerminal({ NO_COLOR: undefined, CI: undefined });
    await send("/api/tasks");
    expect(await dev.line(/^GET {4}\/default\/todo\/api\/tasks/)).toContain("\u001b[32m200\u001b[39m");
  });

  it("are shown in a pipe too, without colours", async () => {
    const dev = await onPipe();
    await send("/api/tasks?title=a");
    expect(await dev.line(/^GET {4}\/default\/todo\/api\/tasks\?title=a {2}200 {2}/)).not.toContain("\u001b");
  });

  it.each(["info", "error"])("are not shown at the level %s: the log has them, or nobody wants them", async (level) => {
    const dev = await onPipe("--log-level", level);
    const since = dev.out().length;
    await send("/api/tasks");
    await dev.stop();
    expect(dev.out().slice(since)).toBe("");
    const logged = dev
      .error()
      .split("\n")
      .filter((line) => line.includes('"message":"Request"'));
    expect(logged.length).toBe(level === "info" ? 1 : 0);
  });
});

describe("a change that jsonplane dev makes live", () => {
  it("is followed by where the new password or key is, and by nothing about those that are as they were", async () => {
    const dev = await onPipe();
    const since = dev.out().length;
    const grace = (text: string) => text.replace("name: ada", "name: grace");
    edit((text) => `${text}---\n${grace(text.split("---\n").find((part) => part.includes("ProjectUser")) ?? "")}`);
    await dev.line(/^ProjectUser\/default\/grace: its password is in /, since);
    expect(dev.out().slice(since)).toBe(
      "ProjectUser/default/grace is live\n" +
        "ProjectUser/default/grace: its password is in .data/secrets/default/grace-password.yaml\n",
    );
  });

  it("is followed by where a rotated key is", async () => {
    const dev = await onPipe();
    const before = apiKey();
    edit((text) => text.replace("  description: Scripts", '  rotation: { id: "2" }\n  description: Scripts'));
    await dev.line(/^ApiKey\/default\/robot: its key is in \.data\/secrets\/default\/robot-api-key\.yaml$/);
    expect(apiKey()).not.toBe(before);
  });

  it("of the Project's name in all manifests serves everything there, with new secrets in the same files", async () => {
    const dev = await onPipe();
    const before = apiKey();
    edit((text) => text.replaceAll("name: todo", "name: chores"));
    const line = await dev.line(/^Project\/default\/chores: .* were created again/);
    expect(line).toContain("ApiResource/tasks, ProjectUser/ada, ApiKey/robot, RootKey/settings now belong to it");
    await dev.line(/^ApiKey\/default\/robot: its key is in \.data\/secrets\/default\/robot-api-key\.yaml$/);
    expect(apiKey()).not.toBe(before);
    const headers = { authorization: `apikey ${apiKey()}` };
    expect(await send("/../chores/api/tasks", { method: "POST", headers, body: '{"title":"a"}' })).toBe(201);
    expect(await send("/api/tasks")).toBe(404);
  });

  it("is followed by how many stored objects no longer fit its schema", async () => {
    const dev = await onPipe();
    const headers = { authorization: `apikey ${apiKey()}` };
    for (const title of ["short", "quite a long title"]) {
      await send("/api/tasks", { method: "POST", headers, body: JSON.stringify({ title }) });
    }
    edit((text) => text.replace("maxLength: 200", "maxLength: 10"));
    const line = await dev.line(/^default\/todo\/api\/tasks: /);
    expect(line).toMatch(/: 1 of 2 stored objects doesn't fit the new schema: /);
    expect(await send("/api/tasks")).toBe(200);
  });
});
