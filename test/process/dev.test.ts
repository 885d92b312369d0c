import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { freePort } from "../support/process/free-port.ts";
import { startRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const examples = fileURLToPath(new URL("../../examples", import.meta.url));
let cwd = "";
let ports: readonly string[] = [];
let running: DevProcess[] = [];

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "jsonplane dev-"));
  cpSync(examples, join(cwd, "manifests"), { recursive: true });
  ports = ["--port", String(await freePort()), "--admin-port", String(await freePort())];
});

afterEach(async () => {
  for (const dev of running) if (dev.child.exitCode === null) await dev.stop("SIGKILL");
  running = [];
  rmSync(cwd, { recursive: true, force: true });
});

function start(...words: readonly string[]): DevProcess {
  const dev = devProcess(["manifests", ...ports, ...words], cwd);
  running.push(dev);
  return dev;
}

async function ready(...words: readonly string[]): Promise<DevProcess> {
  const dev = start(...words);
  await dev.ready();
  return dev;
}

function url(path: string): string {
  return `http://127.0.0.1:${ports[1]}${path}`;
}

function curlLines(dev: DevProcess): readonly string[] {
  return dev
    .out()
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("curl "));
}

/** As somebody who pastes it into a shell in the same folder. */
function paste(line: string): unknown {
  return JSON.parse(execFileSync("sh", ["-c", line], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }));
}

/**
 * Whole at once: a file that is written in place is empty for as long as a busy machine likes,
 * which withdraws what it held.
 */
function edit(file: string, change: (text: string) => string): void {
  const path = join(cwd, "manifests", file);
  const saved = join(cwd, "saved.yaml");
  writeFileSync(saved, change(readFileSync(path, "utf8")));
  renameSync(saved, path);
}

/** The one that dev mode chose for the folder of manifests. */
function dataFolder(): string {
  const [name = "", ...more] = readdirSync(join(cwd, ".jsonplane"));
  expect(more).toEqual([]);
  return join(cwd, ".jsonplane", name);
}

/** Every password, key and private part that lies in the data folder. */
function secrets(): readonly string[] {
  const folder = join(dataFolder(), "secrets", "default");
  return readdirSync(folder).flatMap((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    return [...text.matchAll(/^ {2}(?:apiKey|password): (.+)$|"d":"([^"]+)"/gm)].map(([, a, b]) => a ?? b ?? "");
  });
}

describe("jsonplane dev", () => {
  it("says where everything is, and its four lines work when pasted", async () => {
    const dev = await ready();
    for (const name of ["bookshop", "feature-flags", "form-inbox", "open-notes"]) {
      expect(dev.out()).toContain(url(`/default/${name}`));
    }
    expect(dev.out()).toMatch(/ \.jsonplane\/manifests-[0-9a-f]{8}\/secrets\/default\/ada-password\.yaml$/m);
    expect(dev.out()).toMatch(/ \.jsonplane\/manifests-[0-9a-f]{8}\/secrets\/default\/frontend-api-key\.yaml$/m);
    expect(dev.out().trimEnd().split("\n").at(-1)).toBe("Ready");
    const [create = "", list = "", login = "", read = "", ...more] = curlLines(dev);
    expect(more).toEqual([]);
    const created = paste(create);
    expect(created).toMatchObject({ id: expect.any(String), _metadata: { creator_type: "apikey" } });
    expect(paste(list)).toMatchObject({ count: 1, items: [created] });
    expect(paste(login)).toMatchObject({ message: "Successfully logged in" });
    expect(paste(read)).toMatchObject({ currency: "EUR" });
  });

  it("answers curl at the URLs that it prints, with where its resources and root keys are", async () => {
    const dev = await ready();
    const overview = /^Open (\S+) in a browser/.exec(dev.out())?.[1] ?? "";
    const printed = [...dev.out().matchAll(/^ {2}default\/\S+ +(http\S+)$/gm)].map(([, address]) => address);
    expect(printed).toHaveLength(7);
    const { projects } = paste(`curl -sSf ${overview}`) as { readonly projects: readonly { readonly url: string }[] };
    expect(projects.map((project) => project.url)).toEqual(printed);
    for (const address of printed) {
      const { url, resources, rootKeys } = paste(`curl -sSf ${address}`) as Readonly<Record<string, readonly string[]>>;
      expect(url).toBe(address);
      // Who may read it is another matter.
      for (const each of [...(resources ?? []), ...(rootKeys ?? [])])
        expect([200, 401]).toContain((await fetch(each)).status);
    }
  });

  it("says below all else how much is wrong, and where that is shown", async () => {
    edit("open-notes.yaml", (text) => text.replace("type: object", "type: objekt"));
    const dev = await ready();
    const lines = dev.out().trimEnd().split("\n").slice(-4);
    expect(lines).toEqual([
      expect.stringMatching(/^manifests\/open-notes\.yaml:\d+:\d+: ApiResource\/default\/notes \/spec\/schema\/type: /),
      "ApiResource/default/notes is not served until this is fixed",
      `1 problem, listed above and at ${url("/")}`,
      "Ready",
    ]);
  });

  it("shows no secret, neither at the terminal nor in its log", async () => {
    const dev = await ready("--log-level", "debug");
    for (const line of curlLines(dev)) paste(line);
    await fetch(url("/default/bookshop/api/books"), { headers: { authorization: `apikey ${secrets()[0]}` } });
    expect(await dev.stop()).toBe(0);
    const found = secrets();
    expect(found.length).toBeGreaterThan(8);
    expect(dev.error()).toContain("/default/bookshop");
    for (const secret of found) {
      expect(dev.out()).not.toContain(secret);
      expect(dev.error()).not.toContain(secret);
    }
  });

  it("keeps its folder from other users and from git", async () => {
    await ready();
    const data = dataFolder();
    const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const folder of [data, join(cwd, ".jsonplane")]) expect(statSync(folder).mode & 0o077).toBe(0);
    expect(files.filter((entry) => entry.parentPath.includes("secrets")).length).toBeGreaterThan(10);
    for (const { parentPath, name } of files.filter((entry) => !entry.parentPath.includes("cache"))) {
      expect([name, statSync(join(parentPath, name)).mode & 0o077]).toEqual([name, 0]);
    }
    execFileSync("git", ["init", "-q"], { cwd });
    expect(execFileSync("git", ["status", "--short"], { cwd, encoding: "utf8" })).toBe("?? manifests/\n");
  });

  it("takes over an edit, refuses a broken one with its place, and says when it is mended", async () => {
    const dev = await ready();
    const list = () => fetch(url("/default/open-notes/api/notes?_limit=101"));
    expect((await list()).status).toBe(400);
    edit("open-notes.yaml", (text) => text.replace("deletionPolicy: Delete", "limits: { maxPageSize: 200 }"));
    await dev.line(/^Project\/default\/open-notes is live$/);
    expect((await list()).status).toBe(200);

    let since = dev.out().length;
    edit("open-notes.yaml", (text) => text.replace("maxPageSize: 200", "maxPageSize: many"));
    const fault = await dev.line(/maxPageSize/, since);
    expect(fault).toMatch(
      /^manifests\/open-notes\.yaml:9:26: Project\/default\/open-notes \/spec\/limits\/maxPageSize: /,
    );
    await dev.line(/^Project\/default\/open-notes is still served in its last valid version$/, since);
    expect((await list()).status).toBe(200);

    since = dev.out().length;
    edit("open-notes.yaml", (text) => `${text}a: b: c\n`);
    await dev.line(
      /^manifests\/open-notes\.yaml: what can't be read in it is skipped until this is fixed; what was live stays live$/,
      since,
    );
    expect((await list()).status).toBe(200);

    since = dev.out().length;
    edit("open-notes.yaml", (text) => text.replace("maxPageSize: many", "maxPageSize: 100").replace("a: b: c\n", ""));
    await dev.line(/^Project\/default\/open-notes is live$/, since);
    expect((await list()).status).toBe(400);
  });

  it("misses no edit, however soon it comes after the start", async () => {
    const dev = start();
    await dev.line(/^Projects$/);
    edit("open-notes.yaml", (text) => text.replace("deletionPolicy: Delete", "serving: ReadOnly"));
    await dev.line(/^Project\/default\/open-notes is live$/);
  });

  it("withdraws what is removed, and serves what is added in a new folder", async () => {
    const dev = await ready();
    rmSync(join(cwd, "manifests", "open-notes.yaml"));
    await dev.line(/^Project\/default\/open-notes is no longer served$/);
    expect((await fetch(url("/default/open-notes/api/notes"))).status).toBe(404);
    mkdirSync(join(cwd, "manifests", "more"));
    const manifest = "apiVersion: jsonplane.io/v1alpha1\nkind: Project\nmetadata: {name: late, namespace: other}\n";
    writeFileSync(join(cwd, "manifests", "more", "late.yaml"), manifest);
    await dev.line(/^Project\/other\/late is live at http:\/\/127\.0\.0\.1:\d+\/other\/late$/);
    expect((await fetch(url("/other/late/sessions"))).status).not.toBe(404);
  });

  it("keeps data, secrets and sessions over a restart", async () => {
    const first = await ready();
    const [create = "", list = "", login = ""] = curlLines(first);
    paste(create);
    const { access_token: token } = paste(login) as { readonly access_token: string };
    const before = secrets();
    expect(await first.stop("SIGTERM")).toBe(0);
    const second = await ready();
    expect(curlLines(second)).toEqual(curlLines(first));
    expect(paste(list)).toMatchObject({ count: 1 });
    expect(secrets()).toEqual(before);
    const orders = await fetch(url("/default/bookshop/api/orders"), { headers: { authorization: `bearer ${token}` } });
    expect(orders.status).toBe(200);
  });

  it("survives being killed, and takes its folder over", async () => {
    const first = await ready();
    paste(curlLines(first)[0] ?? "");
    await first.stop("SIGKILL");
    const second = await ready();
    expect(paste(curlLines(second)[1] ?? "")).toMatchObject({ count: 1 });
  });

  it("follows a changed password and ends the sessions of the former one", async () => {
    const dev = await ready();
    const login = curlLines(dev).find((line) => line.includes("/sessions/")) ?? "";
    const { access_token: token } = paste(login) as { readonly access_token: string };
    const file = join(dataFolder(), "secrets", "default", "ada-password.yaml");
    // Whole or not at all: who reads it in between would find it empty.
    writeFileSync(`${file}.new`, readFileSync(file, "utf8").replace(/password: .*/, "password: chosen"));
    renameSync(`${file}.new`, file);
    await eventually(async () => {
      const headers = { authorization: `bearer ${token}` };
      expect((await fetch(url("/default/bookshop/api/orders"), { headers })).status).toBe(401);
    });
    expect(paste(login)).toMatchObject({ message: "Successfully logged in" });
  });

  it("serves the folder that it stands in, its own data folder left out", async () => {
    const dev = devProcess([".", ...ports, "--log-level", "error"], join(cwd, "manifests"));
    running.push(dev);
    await dev.ready();
    const since = dev.out().length;
    for (let count = 0; count < 20; count++) {
      await fetch(url("/default/open-notes/api/notes"), { method: "POST", body: '{"text":"a"}' });
    }
    edit("open-notes.yaml", (text) => text.replace("deletionPolicy: Delete", "serving: ReadOnly"));
    await dev.line(/^Project\/default\/open-notes is live$/, since);
    expect(dev.out().slice(since)).toBe("Project/default/open-notes is live\n");
  });

  it("keeps data in Redis where it is told to", async () => {
    const redis = await startRedis();
    try {
      const first = await ready("--redis", redis.url);
      const [create = "", list = "", login = ""] = curlLines(first);
      const created = paste(create);
      expect(paste(login)).toMatchObject({ message: "Successfully logged in" });
      expect(await first.stop()).toBe(0);
      await ready("--redis", redis.url);
      expect(paste(list)).toMatchObject({ items: [created] });
      expect(readdirSync(dataFolder())).not.toContain("store");
    } finally {
      await redis.stop();
    }
  });
});

describe("jsonplane dev refuses to start, with what to do,", () => {
  it("when its port or its admin port is in use", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(Number(ports[1]), "127.0.0.1", resolve));
    const dev = start();
    expect(await dev.exit()).toBe(1);
    expect(dev.error()).toBe(
      `jsonplane: Port ${ports[1]} is in use on 127.0.0.1: stop what listens there, or choose another with --port\n`,
    );
    const second = start("--port", ports[3] ?? "", "--admin-port", ports[1] ?? "");
    expect(await second.exit()).toBe(1);
    expect(second.error()).toContain("or choose another with --admin-port\n");
    server.close();
  });

  it("when another one uses the data folder", async () => {
    const first = await ready();
    const second = start("--port", "0", "--admin-port", "0");
    expect(await second.exit()).toBe(1);
    expect(second.error()).toMatch(
      /uses the data folder \.jsonplane\/manifests-\w+: stop it, or choose another folder with --data/,
    );
    expect(second.error()).toContain(`process ${first.child.pid}, ${url("")}`);
  });

  it("when the data folder belongs to other manifests", async () => {
    await (await ready("--data", ".kept")).stop();
    const other = devProcess([".", ...ports, "--data", ".kept"], cwd);
    running.push(other);
    expect(await other.exit()).toBe(1);
    expect(other.error()).toContain(
      "belongs to the manifests in manifests: remove it to start over, choose another with",
    );
  });

  it("when the data folder would lie among the manifests", async () => {
    const dev = start("--data", "manifests/data");
    expect(await dev.exit()).toBe(1);
    expect(dev.error()).toBe(
      "jsonplane: The data folder manifests/data lies among the manifests in manifests: choose another with --data\n",
    );
    expect(readdirSync(join(cwd, "manifests"))).not.toContain("data");
  });

  it("when the data folder can't be made, also below a folder that takes none", async () => {
    const dev = start("--data", "/proc/jsonplane/data");
    expect(await dev.exit()).toBe(1);
    expect(dev.error()).toMatch(
      /^jsonplane: The data folder \/proc\/jsonplane\/data can't be used \(ENOENT: .*\): choose another/,
    );
  });

  it("when Redis can't be reached", async () => {
    const dev = start("--redis", "redis://:hunter2@127.0.0.1:1");
    expect(await dev.exit()).toBe(1);
    expect(dev.error()).toMatch(/^jsonplane: .*Redis/);
    expect(dev.error()).not.toContain("hunter2");
  });

  it("when it is given a file of data", async () => {
    writeFileSync(join(cwd, "db.json"), '{"posts":[{"id":1}]}');
    const dev = devProcess(["db.json", ...ports], cwd);
    running.push(dev);
    expect(await dev.exit()).toBe(1);
    expect(dev.error()).toMatch(/^jsonplane: db\.json has no manifests in it\. If it is data, .* FOLDER\/seed/);
  });

  it("when there is no such folder", async () => {
    const dev = devProcess(["nothing-here", ...ports], cwd);
    running.push(dev);
    expect(await dev.exit()).toBe(1);
    expect(dev.error()).toMatch(
      /^jsonplane: There is no folder nothing-here: name one with manifests in it, or make one with \S+\/bin\/jsonplane init nothing-here\n$/,
    );
  });

  it("when what it knows of objects is damaged", async () => {
    await (await ready()).stop();
    const file = join(dataFolder(), "objects.json");
    chmodSync(file, 0o600);
    writeFileSync(file, "{");
    const dev = start();
    expect(await dev.exit()).toBe(1);
    expect(dev.error()).toContain("objects.json is damaged: restore it, or choose another folder with --data");
  });
});
