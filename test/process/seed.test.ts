// Data to begin with: the folder `seed` next to manifests, and --seed, in a dev mode as a person
// runs it.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { freePort } from "../support/process/free-port.ts";

let cwd = "";
let ports: readonly string[] = [];
let running: DevProcess[] = [];

const project = (name: string) => `
apiVersion: jsonplane.io/v1alpha1
kind: Project
metadata: {name: ${name}}
spec: {authentication: {policy: Disabled}}
---
`;
const books = (of = "shop") => `
apiVersion: jsonplane.io/v1alpha1
kind: ApiResource
metadata: {name: books-${of}}
spec:
  projectRef: {name: ${of}}
  resourceName: books
  schema: {type: object, required: [title], additionalProperties: false, properties: {title: {type: string}}}
  limits: {maxObjects: 2000}
---
`;
const flags = `
apiVersion: jsonplane.io/v1alpha1
kind: RootKey
metadata: {name: flags}
spec: {projectRef: {name: shop}, initialValue: {dark: false}}
---
`;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "jsonplane-seed-"));
  put("manifests/shop.yaml", project("shop") + books() + flags);
  ports = ["--port", String(await freePort()), "--admin-port", String(await freePort())];
});

afterEach(async () => {
  for (const dev of running) if (dev.child.exitCode === null) await dev.stop("SIGKILL");
  running = [];
  rmSync(cwd, { recursive: true, force: true });
});

function put(path: string, text: string): void {
  const file = join(cwd, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Where dev mode has its lock, wherever that is. */
function dataFolders(): readonly string[] {
  const files = readdirSync(join(cwd, ".jsonplane"), { recursive: true, encoding: "utf8" });
  return files.filter((file) => basename(file) === "lock.db").map((file) => join(cwd, ".jsonplane", dirname(file)));
}

async function ready(...words: readonly string[]): Promise<DevProcess> {
  const dev = devProcess(["manifests", ...ports, ...words], cwd);
  running.push(dev);
  await dev.ready();
  return dev;
}

interface Listed {
  readonly count: number;
  readonly items: readonly { readonly id: string; readonly title: string; readonly _metadata: object }[];
}

async function get<T>(path: string): Promise<T> {
  return (await (await fetch(`http://127.0.0.1:${ports[1]}/default${path}`)).json()) as T;
}

const listed = (of = "shop") => get<Listed>(`/${of}/api/books?_sort=id`);

describe("a folder `seed` beside the manifests", () => {
  it("fills what is empty when dev mode starts, with ids and _metadata where it has some", async () => {
    const id = "018bcfe5-6801-7000-bff6-b52dc1aa6787";
    const given = { id, title: "Old", _metadata: { created: 1_700_000_000, creator: "ann", creator_type: "user" } };
    put("manifests/seed/books.ndjson", `{"title":"New"}\n\n${JSON.stringify(given)}\r\n`);
    put("manifests/seed/json/flags.json", '{"dark": true}');
    put("manifests/seed/README.md", "not a seed");
    const dev = await ready();
    expect(dev.out()).toContain("Seeded books with 2 objects from manifests/seed/books.ndjson\n");
    expect(dev.out()).toContain("Seeded flags with the value in manifests/seed/json/flags.json\n");
    const { items } = await listed();
    expect(items).toEqual([
      given,
      { id: expect.any(String), title: "New", _metadata: expect.objectContaining({ creator: "anonymous" }) },
    ]);
    expect(await get("/shop/json/flags")).toEqual({ dark: true });
  });

  it("is taken in once: what people have written since stays, after a restart too", async () => {
    put("manifests/seed/books.json", '[{"title":"A"},{"title":"B"}]');
    put("manifests/seed/flags.json", "[1]");
    const dev = await ready();
    const [first] = (await listed()).items;
    await fetch(`http://127.0.0.1:${ports[1]}/default/shop/api/books/${first?.id}`, { method: "DELETE" });
    await dev.stop();
    put("manifests/seed/flags.json", "[2]");
    const again = await ready();
    expect(again.out()).not.toContain("eeded");
    expect((await listed()).items.map(({ title }) => title)).toEqual(["B"]);
    expect(await get("/shop/json/flags")).toEqual([1]);
  });

  it("with a mistake stores nothing of that file, says where each mistake is, and is taken in once it is mended", async () => {
    put("manifests/seed/books.ndjson", '{"title":"A"}\n{"titel":"B"}\n{"title":3,"id":7}\n');
    const dev = await ready();
    const output = dev.out();
    expect(output).toContain("Not seeded: 2 of 3 objects in manifests/seed/books.ndjson can't be stored, so none is:");
    expect(output).toMatch(/books\.ndjson:2: \/titel: /);
    expect(output).toContain("books.ndjson:3: /id: must be an id as the service makes them");
    expect((await listed()).count).toBe(0);
    put("manifests/seed/books.ndjson", '{"title":"A"}\n{"title":"B"}\n');
    await dev.line(/^Seeded books with 2 objects/);
    expect((await listed()).count).toBe(2);
  });

  it("for which there is no resource is named once, and is taken in once there is one", async () => {
    put("manifests/seed/bokks.ndjson", '{"title":"A"}\n');
    const dev = await ready();
    const line = "Not seeded: manifests/seed/bokks.ndjson: there is no resource or root key called bokks";
    expect(dev.out().split(line)).toHaveLength(2);
    put(
      "manifests/more.yaml",
      books().replace("books-shop", "bokks").replace("resourceName: books", "resourceName: bokks"),
    );
    await dev.line(/^Seeded bokks with 1 object/);
    expect(dev.out().split(line)).toHaveLength(2);
  });

  it("with a file for several resources and root keys, as json-server has, says how to divide it", async () => {
    const numbered = books().replace("properties: {", "properties: {number: {type: integer}, ");
    put("manifests/shop.yaml", project("shop") + numbered + flags);
    put("manifests/seed/db.json", '{"books":[{"id":1,"title":"A"}],"flags":{"dark":true},"others":[]}');
    const dev = await ready();
    const [first = "", ...lines] = dev.out().slice(dev.out().indexOf("Not seeded: ")).split("\n");
    expect(first).toBe(
      "Not seeded: manifests/seed/db.json: there is no resource or root key called db. Each of its values needs a file of its own:",
    );
    expect(lines.slice(0, 5)).toEqual([
      "  jq '[.books[] | .number = .id | del(.id)]' manifests/seed/db.json > manifests/seed/books.json",
      "  jq .flags manifests/seed/db.json > manifests/seed/flags.json",
      "Objects get new ids. The former one is kept in the field number, which the schema must have, and references still lead to that.",
      "No manifest declares others: write an ApiResource for an array of objects, a RootKey for any other value.",
      "Then remove manifests/seed/db.json.",
    ]);
    // As jq writes them.
    put("manifests/seed/books.json", '[{"title":"A","number":1}]');
    put("manifests/seed/flags.json", '{"dark":true}');
    rmSync(join(cwd, "manifests/seed/db.json"));
    await dev.line(/^Seeded books with 1 object/);
    await dev.line(/^Seeded flags with the value/);
  });

  it("beside a single file of manifests fills what that one declares", async () => {
    put("manifests/seed/books.json", '[{"title":"A"}]');
    const dev = devProcess(["manifests/shop.yaml", ...ports], cwd);
    running.push(dev);
    await dev.ready();
    expect((await listed()).items.map(({ title }) => title)).toEqual(["A"]);
    expect(dev.out()).not.toContain("Not seeded");
    put("manifests/seed/flags.json", "[1]");
    await dev.line(/^Seeded flags with the value/);
  });

  it("is taken in once the schema was mended, and says what was left half-done when dev mode was killed", async () => {
    const wrong = books().replace("type: string", "type: integer");
    put("manifests/shop.yaml", project("shop") + wrong);
    put("manifests/seed/books.ndjson", '{"title":"A"}\n');
    const dev = await ready();
    expect(dev.out()).toContain("Not seeded: 1 of 1 object in manifests/seed/books.ndjson");
    put("manifests/shop.yaml", project("shop") + books());
    await dev.line(/^Seeded books with 1 object/);
    await dev.stop();
    const [data = ""] = dataFolders();
    writeFileSync(join(data, "seeding"), "manifests/seed/books.ndjson\n");
    const again = await ready();
    expect(again.out()).toContain("Only a part of manifests/seed/books.ndjson was stored when dev mode ended");
  });

  it("names the Project where several have the name, and fills a resource that is declared later", async () => {
    put("manifests/blog.yaml", project("blog") + books("blog"));
    put("manifests/seed/books.json", '[{"title":"A"}]');
    put("manifests/seed/default/blog/api/books.json", '[{"title":"Of the blog"}]');
    const dev = await ready();
    expect(dev.out()).toContain("there are several called books: put the file into a folder <namespace>/<project>/");
    expect((await listed("blog")).items.map(({ title }) => title)).toEqual(["Of the blog"]);
    expect((await listed()).count).toBe(0);
    put("manifests/seed/default/later/books.json", '[{"title":"Later"}]');
    put("manifests/later.yaml", project("later") + books("later"));
    await dev.line(/^Seeded books with 1 object from manifests\/seed\/default\/later/);
    expect((await listed("later")).count).toBe(1);
  });
});

describe("--seed", () => {
  it("takes in a file in place of the folder, thousands of objects as well, and says what it leaves alone", async () => {
    put("manifests/seed/flags.json", "[1]");
    put("data/books.jsonl", Array.from({ length: 2_000 }, (_, index) => `{"title":"Book ${index}"}`).join("\n"));
    const dev = await ready("--seed", "data/books.jsonl");
    expect(dev.out()).toContain("Seeded books with 2000 objects from data/books.jsonl");
    expect(await get("/shop/json/flags")).toEqual({ dark: false });
    await dev.stop();
    const again = await ready("--seed", "data/books.jsonl");
    expect(again.out()).toContain("Not seeded: books has 2000 objects already");
  });

  it("refuses more objects than the resource may hold, and a path where there is nothing", async () => {
    put("data/books.jsonl", '{"title":"A"}\n'.repeat(2_001));
    const dev = await ready("--seed", "data");
    expect(dev.out()).toContain(
      "data/books.jsonl: has more than 2000 objects (spec.limits.maxObjects), so none was stored",
    );
    expect((await listed()).count).toBe(0);
    await dev.stop();
    const none = devProcess(["manifests", ...ports, "--seed", "nowhere"], cwd);
    running.push(none);
    expect(await none.exit()).toBe(1);
    expect(none.error()).toContain(
      "There is no nowhere: name a file such as books.ndjson, or a folder of them, with --seed",
    );
  });
});
