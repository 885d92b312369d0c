// A first hour: everything that `jsonplane init` and then `jsonplane dev` print to be pasted is
// pasted.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DevProcess, devProcess, pastedDevProcess } from "../support/fleet/dev-process.ts";
import { freePort } from "../support/process/free-port.ts";

const program = fileURLToPath(new URL("../../bin/jsonplane", import.meta.url));
let cwd = "";
let running: DevProcess[] = [];

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "jsonplane init-"));
});

afterEach(async () => {
  for (const dev of running) if (dev.child.exitCode === null) await dev.stop("SIGKILL");
  running = [];
  rmSync(cwd, { recursive: true, force: true });
});

const init = (...words: readonly string[]) => spawnSync(program, ["init", ...words], { cwd, encoding: "utf8" });

/** The lines that are set in, as what is to be pasted is. */
function commandsIn(text: string): readonly string[] {
  return [...text.matchAll(/^ {2}(\S.*)$/gm)].map(([, line = ""]) => line);
}

describe("jsonplane init", () => {
  it("writes a project that is served by the command that it prints, with requests that work as printed", async () => {
    const [serve = "", ...more] = commandsIn(init().stdout);
    expect(more).toEqual([]);
    const variables = { JSONPLANE_PORT: String(await freePort()), JSONPLANE_ADMIN_PORT: "0" };
    const dev = pastedDevProcess(serve, cwd, variables);
    running.push(dev);
    await dev.ready();
    expect(dev.error()).toBe("");
    const paste = (line: string): unknown => JSON.parse(execFileSync("sh", ["-c", line], { cwd, encoding: "utf8" }));
    const [create = "", list = "", login = "", read = ""] = commandsIn(dev.out()).filter((line) =>
      line.startsWith("curl "),
    );
    const created = paste(create);
    expect(created).toMatchObject({ title: expect.any(String), _metadata: { creator: "robot" } });
    expect(paste(list)).toMatchObject({ count: 1, items: [created] });
    expect(paste(login)).toMatchObject({ message: "Successfully logged in" });
    expect(paste(read)).toEqual({ heading: "To do", colours: ["green", "amber", "red"] });
  });

  it("refuses to write where something is, and says what to do instead", () => {
    expect(init("here").status).toBe(0);
    const refused = init("here");
    expect(refused.status).toBe(1);
    expect(refused.stdout).toBe("");
    expect(refused.stderr).toMatch(
      /^jsonplane: here is not empty \(project\.yaml is in it\), and nothing was written: name a new folder with \S+ init DIR, or serve what is in this one with \S+ dev here\n$/,
    );
  });
});

describe("jsonplane dev", () => {
  it("with an empty folder points to init, and serves what that writes at once", async () => {
    mkdirSync(join(cwd, "new"));
    const dev = devProcess(["new", "--port", "0", "--admin-port", "0"], cwd);
    running.push(dev);
    await dev.ready();
    const advice = await dev.line(/^No Project is served yet/);
    const [, command = ""] = /have one written with (.+), and it is live/.exec(advice) ?? [];
    execFileSync("sh", ["-c", command], { cwd });
    await dev.line(/^ApiResource\/default\/tasks is live$/);
  });

  it("without a folder says that init makes one", () => {
    const refused = spawnSync(program, ["dev"], { cwd, encoding: "utf8" });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain("DIR is missing");
    expect(refused.stderr).toContain("jsonplane init writes a first one");
  });
});
