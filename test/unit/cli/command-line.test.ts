import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Command, defineCommand } from "../../../cli/command.ts";
import { runCommandLine } from "../../../cli/command-line.ts";
import { commands } from "../../../cli/commands.ts";
import { adminPort, dryRun, force, host, port } from "../../../core/env/settings.ts";

async function run(words: readonly string[], known: readonly Command[] = commands, environment = {}) {
  const written = { out: "", error: "" };
  const code = await runCommandLine(known, words, {
    out: (text) => {
      written.out += text;
    },
    error: (text) => {
      written.error += text;
    },
    environment,
  });
  return { code, ...written };
}

function recording() {
  const calls: unknown[] = [];
  const command = defineCommand({
    name: "serve",
    summary: "Serve",
    argument: { name: "DIR", help: "a folder" },
    settings: { host, port, adminPort },
    run: async (settings, argument) => {
      calls.push({ settings, argument });
      return 7;
    },
  });
  return { calls, command };
}

describe("the command line", () => {
  it("runs a command with its argument and settings, and answers with its exit code", async () => {
    const { calls, command } = recording();
    const words = ["serve", "--port", "1", "dir", "--admin-port=2"];
    const { code } = await run(words, [command], { JSONPLANE_HOST: "::1" });
    expect(code).toBe(7);
    expect(calls).toEqual([{ settings: { host: "::1", port: 1, adminPort: 2 }, argument: "dir" }]);
  });

  it("takes a short flag where a setting has one, and shows it", async () => {
    const calls: unknown[] = [];
    const command = defineCommand({
      name: "show",
      summary: "Show",
      settings: { host: { ...host, short: "a" } },
      run: async (settings) => calls.push(settings),
    });
    expect((await run(["show", "-a", "::1"], [command])).code).toBe(1);
    expect((await run(["show", "-a::2"], [command])).code).toBe(2);
    expect(calls).toEqual([{ host: "::1" }, { host: "::2" }]);
    expect((await run(["show", "-a"], [command])).error).toContain("jsonplane: -a needs a value");
    expect((await run(["show", "-h"], [command])).out).toContain("  -a, --host ADDRESS  ");
  });

  it("takes what follows -- for an argument", async () => {
    const { calls, command } = recording();
    await run(["serve", "--", "--dir"], [command]);
    expect(calls).toMatchObject([{ argument: "--dir" }]);
  });

  it("says every setting that is missing at once, as a fault of the command line", async () => {
    expect(await run(["operator"])).toEqual({
      code: 2,
      out: "",
      error:
        "jsonplane: operator needs --redis URL\njsonplane: operator needs --public-url URL\nSee jsonplane operator --help\n",
    });
    const { code, error } = await run(["dataplane"], commands, { JSONPLANE_REDIS: "redis://127.0.0.1" });
    expect([code, error]).toEqual([2, "jsonplane: dataplane needs --keyring FILE\nSee jsonplane dataplane --help\n"]);
  });

  it("says everything that is wrong at once, with the nearest flag, and runs nothing", async () => {
    const { calls, command } = recording();
    const { code, error, out } = await run(["serve", "--prot", "1", "-x", "a", "b", "--admin-port", "z"], [command]);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(error.split("\n")).toEqual([
      "jsonplane: --prot is not known; did you mean --port?",
      "jsonplane: -x is not known",
      'jsonplane: unexpected argument "a"',
      'jsonplane: unexpected argument "b"',
      'jsonplane: --admin-port must be a port from 0 to 65535, not "z"',
      "See jsonplane serve --help",
      "",
    ]);
    expect(calls).toEqual([]);
  });

  it.each([
    [["serve", "--port"], "--port needs a value"],
    [["serve", "dir", "--port", "--host", "::1"], "--port needs a value"],
    [["serve", "dir", "--port="], "--port must be a port"],
    [["serve"], "DIR is missing: a folder"],
    [["serv", "dir"], '"serv" is not a command; did you mean serve?'],
    [["help", "nothing"], '"nothing" is not a command'],
  ])("refuses %j", async (words, message) => {
    const { code, error } = await run(words, [recording().command]);
    expect(code).toBe(2);
    expect(error).toContain(`jsonplane: ${message}`);
  });

  it.each([[[]], [["--help"]], [["-h"]], [["help"]]])("shows every command for %j", async (words) => {
    const { code, out } = await run(words);
    expect(code).toBe(0);
    for (const { summary } of commands) expect(out).toContain(summary);
  });

  it.each(commands.map((command) => [command.name, command] as const))(
    "shows all that %s takes",
    async (name, command) => {
      const itself = name.split(" ");
      for (const words of [
        [...itself, "--help"],
        ["help", ...itself],
        ["--help", ...itself],
        [...itself, "dir", "-h"],
      ]) {
        const { code, out } = await run(words);
        expect(code).toBe(0);
        for (const { flag, fallback, isSwitch } of Object.values(command.settings)) {
          expect(out).toContain(`--${flag} `);
          if (fallback && !isSwitch) expect(out).toContain(`(${fallback})`);
        }
      }
    },
  );

  it("shows neither flags nor variables of a command that has none", async () => {
    const argument = { name: "DIR", help: "a folder" };
    const bare = defineCommand({ name: "dig", summary: "Dig", argument, settings: {}, run: async () => 0 });
    const help = (await run(["dig", "--help"], [bare])).out;
    expect(help).toMatch(/^Usage: jsonplane dig DIR$/m);
    expect(help).toMatch(/^ {2}DIR {2}.*\n$/m);
    expect(help).not.toContain("variable");
    expect((await run(["operator", "--help"])).out).toMatch(/^Usage: jsonplane operator \[flags\]$/m);
  });

  it("shows the version of the package", async () => {
    expect((await run(["--version"])).out).toMatch(/^[0-9]+\.[0-9]+\.[0-9]+\n$/);
  });

  it("takes a switch without a value, keeps what follows it, and lets =false win over its variable", async () => {
    const calls: unknown[] = [];
    const command = defineCommand({
      name: "bury",
      summary: "Bury",
      argument: { name: "DIR", help: "a folder" },
      settings: { dryRun, force },
      run: async (settings, argument) => {
        calls.push({ ...settings, argument });
        return 0;
      },
    });
    await run(["bury", "--dry-run", "dir"], [command]);
    await run(["bury", "dir", "--force=false"], [command], { JSONPLANE_FORCE: "true", JSONPLANE_DRY_RUN: "true" });
    expect(calls).toEqual([
      { dryRun: true, force: false, argument: "dir" },
      { dryRun: true, force: false, argument: "dir" },
    ]);
    expect((await run(["bury", "--force=perhaps", "dir"], [command])).error).toContain(
      'jsonplane: --force must be true or false, not "perhaps"',
    );
    expect((await run(["bury", "--help"], [command])).out).toMatch(/^ {2}--dry-run {2}Print what/m);
  });

  it("knows commands of two words", async () => {
    const words: string[] = [];
    const command = defineCommand({
      name: "graves dig",
      summary: "Dig",
      argument: { name: "DIR", help: "a folder" },
      settings: {},
      run: async (_, argument) => {
        words.push(argument);
        return 0;
      },
    });
    expect((await run(["graves", "dig", "here"], [command])).code).toBe(0);
    expect(words).toEqual(["here"]);
    const alone = await run(["graves"], [command]);
    expect(alone.code).toBe(2);
    expect(alone.error).toContain('"graves" is not a command by itself; did you mean graves dig?');
    expect((await run(["help", "graves", "dig"], [command])).out).toContain("Usage: jsonplane graves dig DIR\n");
  });
});

it("an older Node is told where there is a newer one", () => {
  const older = "data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'22.1.0'}})";
  const main = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, ["--import", older, main, "--version"], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toBe(
    `jsonplane needs Node 24 or newer, this is ${process.version}: https://nodejs.org/en/download has it\n`,
  );
});
