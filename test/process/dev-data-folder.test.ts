// Where dev mode keeps its data: apart for each folder of manifests.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { freePort } from "../support/process/free-port.ts";

let cwd = "";
let running: DevProcess[] = [];

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "jsonplane dev-"));
});

afterEach(async () => {
  for (const dev of running) if (dev.child.exitCode === null) await dev.stop("SIGKILL");
  running = [];
  rmSync(cwd, { recursive: true, force: true });
});

/** An open resource `notes` in a project of its own. */
function writeManifests(folder: string, project: string): void {
  mkdirSync(join(cwd, folder), { recursive: true });
  const kind = (name: string) => `apiVersion: jsonplane.io/v1alpha1\nkind: ${name}\n`;
  const manifests = [
    `${kind("Project")}metadata: { name: ${project} }\nspec: { authentication: { policy: Disabled } }\n`,
    `${kind("ApiResource")}metadata: { name: notes }\nspec: { projectRef: { name: ${project} }, schema: { type: object } }\n`,
  ];
  writeFileSync(join(cwd, folder, "manifests.yaml"), manifests.join("---\n"));
}

interface Served {
  readonly dev: DevProcess;
  readonly notes: string;
}

async function serve(folder: string, project: string, ...words: readonly string[]): Promise<Served> {
  const port = String(await freePort());
  const dev = devProcess([folder, "--port", port, "--admin-port", "0", ...words], cwd);
  running.push(dev);
  await dev.ready();
  return { dev, notes: `http://127.0.0.1:${port}/default/${project}/api/notes` };
}

async function count(notes: string): Promise<unknown> {
  return ((await (await fetch(notes)).json()) as { readonly count: unknown }).count;
}

const add = async (notes: string): Promise<number> => (await fetch(notes, { method: "POST", body: "{}" })).status;

describe("the data folder of jsonplane dev", () => {
  it("is one for each folder of manifests, also for two of one name, and both are served at once", async () => {
    writeManifests("shelf", "first");
    writeManifests("more/shelf", "second");
    const first = await serve("shelf", "first");
    const second = await serve("more/shelf", "second");
    expect(await add(first.notes)).toBe(201);
    expect([await count(first.notes), await count(second.notes)]).toEqual([1, 0]);
    expect(readdirSync(join(cwd, ".jsonplane")).map((name) => name.replace(/[0-9a-f]{8}$/, "HASH"))).toEqual([
      "shelf-HASH",
      "shelf-HASH",
    ]);
  });

  it("is found again however the folder of manifests is written, and after everything was moved together", async () => {
    mkdirSync(join(cwd, "work"));
    writeManifests("work/shelf", "shelf");
    const home = cwd;
    cwd = join(home, "work");
    const first = await serve("shelf", "shelf");
    await add(first.notes);
    await first.dev.stop();
    renameSync(cwd, join(home, "moved"));
    cwd = join(home, "moved");
    const second = await serve("./shelf/", "shelf");
    expect(await count(second.notes)).toBe(1);
    expect(readdirSync(join(cwd, ".jsonplane"))).toHaveLength(1);
    await second.dev.stop();
    cwd = home;
  });

  it("is named at the start; a new one also names the folders that have data of the same manifests", async () => {
    const home = cwd;
    writeManifests("app/backend", "shelf");
    cwd = join(home, "app");
    const first = await serve("backend", "shelf");
    expect(first.dev.out()).toMatch(
      /^Stored data and generated secrets are in \.jsonplane\/backend-[0-9a-f]{8}, which is new\.$/m,
    );
    expect(first.dev.out()).not.toContain("has data of the same manifests");
    await add(first.notes);
    await first.dev.stop();
    cwd = home;
    const second = await serve("app/backend", "shelf");
    const line = await second.dev.line(/has data of the same manifests/);
    expect(await count(second.notes)).toBe(0);
    await second.dev.stop();
    const [, option = "", folder = ""] = /start it with (--data) (.*)\.$/.exec(line) ?? [];
    const third = await serve("app/backend", "shelf", option, folder);
    expect(await count(third.notes)).toBe(1);
    expect(third.dev.out()).toContain(`Stored data and generated secrets are in ${folder}.\n`);
  });
});

describe("two of jsonplane dev that serve the same manifests", () => {
  it("from two data folders: the second says where the first is and which data that has", async () => {
    writeManifests("shelf", "shelf");
    const first = await serve("shelf", "shelf", "--data", ".jsonplane/mine");
    expect(first.dev.out()).not.toContain("another jsonplane");
    const second = await serve("shelf", "shelf");
    const origin = new URL(first.notes).origin;
    const who = `another jsonplane (process ${first.dev.child.pid}, ${origin})`;
    const line = `Careful: ${who} serves the same manifests with other data, from .jsonplane/mine. To use those, stop this one.`;
    expect(second.dev.out()).toContain(`${line}\n`);
    await first.dev.stop();
    await second.dev.stop();
    const alone = await serve("shelf", "shelf");
    expect(alone.dev.out()).not.toContain("Careful");
  });
});

describe("a data folder that vanishes while jsonplane dev uses it", () => {
  /** Whatever is answered until the process has ended, with the last status. */
  async function addUntilEnded(notes: string): Promise<readonly number[]> {
    const answers: number[] = [];
    for (;;) {
      const status = await add(notes).catch(() => undefined);
      if (status === undefined) return answers;
      answers.push(status);
    }
  }

  it("ends it with a clear word; no write is acknowledged from then on, and the folder is not made again", async () => {
    writeManifests("shelf", "shelf");
    const { dev, notes } = await serve("shelf", "shelf", "--data", ".data");
    expect(await add(notes)).toBe(201);
    rmSync(join(cwd, ".data"), { recursive: true });
    expect((await addUntilEnded(notes)).filter((status) => status !== 503)).toEqual([]);
    expect(await dev.exit()).toBe(1);
    expect(dev.error()).toBe(
      "jsonplane: The data folder .data was removed while it was in use. Nothing more is written. Start again for a new one; to keep what was stored, put the folder back first\n",
    );
    expect(dev.out()).not.toContain("is live");
    expect(readdirSync(cwd)).toEqual(["shelf"]);
  });

  it("keeps what was acknowledged when it was only moved", async () => {
    writeManifests("shelf", "shelf");
    const { dev, notes } = await serve("shelf", "shelf", "--data", ".data");
    expect(await add(notes)).toBe(201);
    renameSync(join(cwd, ".data"), join(cwd, ".moved"));
    expect(await dev.exit()).toBe(1);
    renameSync(join(cwd, ".moved"), join(cwd, ".data"));
    expect(await count((await serve("shelf", "shelf", "--data", ".data")).notes)).toBe(1);
  });

  it("is left alone when another one has taken its place", async () => {
    writeManifests("shelf", "shelf");
    const first = await serve("shelf", "shelf", "--data", ".data");
    await add(first.notes);
    await first.dev.stop("SIGKILL");
    // The backup has its last writes in the database's log, which closing the former database must
    // not remove.
    cpSync(join(cwd, ".data"), join(cwd, ".backup"), { recursive: true });
    const second = await serve("shelf", "shelf", "--data", ".data");
    await add(second.notes);
    rmSync(join(cwd, ".data"), { recursive: true });
    renameSync(join(cwd, ".backup"), join(cwd, ".data"));
    const before = filesIn(join(cwd, ".data"));
    expect(await second.dev.exit()).toBe(1);
    expect(second.dev.error()).toContain("The data folder .data was replaced while it was in use.");
    expect(filesIn(join(cwd, ".data"))).toEqual(before);
    expect(await count((await serve("shelf", "shelf", "--data", ".data")).notes)).toBe(1);
  });
});

/**
 * Their texts by their paths; without the cache of compiled modules, which Node adds to at its end.
 */
function filesIn(folder: string): ReadonlyMap<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const kept = files.filter((file) => !file.startsWith(join(folder, "cache")));
  return new Map(kept.map((file) => [file, readFileSync(file, "latin1")]));
}
