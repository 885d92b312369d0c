import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const parts = fileURLToPath(new URL("../../tools/parts", import.meta.url));
let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-first-run-"));
  await mkdir(join(folder, "bin"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const bin = () => join(folder, "bin");

/** Puts links to the machine's own programs into bin/. */
async function link(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const path = spawnSync("/bin/sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();
    await symlink(path, join(bin(), name));
  }
}

/** Puts a shell program into bin/; never over a link, which would lead to the machine's own. */
async function program(name: string, text: string): Promise<string> {
  await rm(join(bin(), name), { force: true });
  await writeFile(join(bin(), name), `#!/bin/sh\n${text}\n`, { mode: 0o755, flag: "wx" });
  return join(bin(), name);
}

describe("Node", () => {
  const find = (env: Readonly<Record<string, string>>) => {
    const whole = { JSONPLANE_CACHE: join(folder, "cache"), PATH: bin(), ...env };
    return spawnSync("/bin/sh", [join(parts, "node.sh")], { encoding: "utf8", env: whole });
  };
  const linux = "case $1 in -s) echo Linux ;; *) echo x86_64 ;; esac";

  beforeEach(() => link("tr", "mkdir", "mktemp", "rm", "tail", "sha512sum", "tar", "gzip", "mv"));

  it("is the one that JSONPLANE_NODE names", () => {
    expect(find({ JSONPLANE_NODE: process.execPath }).stdout.trim()).toBe(process.execPath);
  });

  it("that JSONPLANE_NODE names is refused when it is too old", async () => {
    const refused = find({ JSONPLANE_NODE: await program("old", "echo v20.19.0") });
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("is not a Node of version 24 or newer");
  });

  it("is the PATH's when that is new enough", async () => {
    const node = await program("node", "echo v24.0.0");
    expect(find({}).stdout.trim()).toBe(node);
  });

  it.each(["v20.19.0", "nonsense"])(
    "is missing when the PATH's says %s and there is no npm to fetch another",
    async (version) => {
      await program("node", `echo ${version}`);
      await program("uname", linux);
      const refused = find({});
      expect(refused.status).toBe(1);
      expect(refused.stderr).toContain(`the machine's own is ${version}`);
      expect(refused.stderr).toMatch(/no npm to fetch it with[\s\S]*Ways to Node 24[\s\S]*JSONPLANE_NODE/);
    },
  );

  it("is not fetched for another system or processor: it says how to get one", async () => {
    await program("npm", "touch called");
    await program("uname", "case $1 in -s) echo Darwin ;; *) echo arm64 ;; esac");
    const refused = find({});
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/it can be fetched for Linux x64 only[\s\S]*brew install node@24/);
  });

  it("that npm can't fetch is told with npm's own words, and leaves nothing in the cache", async () => {
    await program("uname", linux);
    await program("npm", "echo npm error network unreachable >&2; exit 1");
    const refused = find({});
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("network unreachable");
    expect(await readdir(join(folder, "cache"))).toEqual([]);
  });

  it("that isn't the pinned one is not used", async () => {
    await program("uname", linux);
    await program("npm", 'eval last=$$#; echo forged > "$(echo "$last" | tr @ -).tgz"');
    const refused = find({});
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("is not the pinned one (SHA-512 differs)");
    expect(await readdir(join(folder, "cache"))).toEqual([]);
  });
});

describe("the packages", () => {
  const lock = (version: string) => ({
    packages: { "": { name: "x" }, "node_modules/a": { version, integrity: `sha512-${version}` } },
  });
  const calls = async () =>
    existsSync(join(folder, "calls")) ? (await readFile(join(folder, "calls"), "utf8")).trim().split("\n") : [];
  const install = () => {
    const env = { PATH: `${bin()}:/usr/bin:/bin` };
    const script = join(folder, "repo/tools/parts/packages.sh");
    return spawnSync("/bin/sh", [script, join(bin(), "node")], { encoding: "utf8", env });
  };
  const writeLock = (version: string) =>
    writeFile(join(folder, "repo/package-lock.json"), JSON.stringify(lock(version)));

  beforeEach(async () => {
    await symlink(process.execPath, join(bin(), "node"));
    await program(
      "npm",
      `echo "$@" >> ${folder}/calls; mkdir -p node_modules; cp package-lock.json node_modules/.package-lock.json`,
    );
    await mkdir(join(folder, "repo/tools"), { recursive: true });
    await cp(parts, join(folder, "repo/tools/parts"), { recursive: true });
    await writeFile(join(folder, "repo/package.json"), '{ "type": "module" }');
    await writeLock("1.0.0");
  });

  it("are installed once, without running their scripts, whatever NODE_ENV says", async () => {
    expect(install().status).toBe(0);
    expect(install().status).toBe(0);
    expect(await calls()).toHaveLength(1);
    expect((await calls())[0]).toMatch(/^ci --ignore-scripts --include=dev/);
  });

  it("are installed again when the lock file has changed", async () => {
    install();
    await writeLock("1.0.1");
    install();
    expect(await calls()).toHaveLength(2);
  });

  it("that somebody installed by hand are taken as they are when they match", async () => {
    await mkdir(join(folder, "repo/node_modules"));
    await writeFile(
      join(folder, "repo/node_modules/.package-lock.json"),
      JSON.stringify({ packages: { "node_modules/a": lock("1.0.0").packages["node_modules/a"] } }),
    );
    expect(install().status).toBe(0);
    expect(await calls()).toEqual([]);
  });

  it("that somebody changed by hand after the install are put right", async () => {
    install();
    await writeFile(join(folder, "repo/node_modules/.package-lock.json"), JSON.stringify(lock("0.9.0")));
    install();
    expect(await calls()).toHaveLength(2);
  });

  it("that npm can't install are told, and tried again next time", async () => {
    const npm = await readFile(join(bin(), "npm"), "utf8");
    await program("npm", "echo npm error no network >&2; exit 1");
    const refused = install();
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/no network[\s\S]*npm ci failed/);
    await program("npm", npm);
    expect(install().status).toBe(0);
    expect(await calls()).toHaveLength(1);
  });
});
