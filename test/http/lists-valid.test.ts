// Stored objects that don't meet the schema of now: how administrators list them, and what
// `jsonplane validate --against` says of them.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { runValidate } from "../../cli/validate/run-validate.ts";
import type { ResourceConfig } from "../../core/config/types.ts";
import { list, make, outcome } from "../support/http/api-calls.ts";
import { apikey, keyOf, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";

const admin = apikey("admin");
const loose = { properties: { price: {} } } as const;
const strict = { properties: { price: { type: "number" } } } as const;
const shop = project(
  "shop",
  withKey("admin", { role: "Administrators" }),
  withKey("user"),
  withResource("books", { schema: loose, indexes: ["price"], scope: { read: "All" } }),
);

describeServedOnBothStores("stored objects that a new schema refuses", (serve) => {
  let served: Served;
  let ids: string[];
  beforeEach(async () => {
    served = await serve(shop);
    ids = [];
    for (const price of [1, "two", 3, "four"]) ids.push((await make(served, "books", { price }, admin)).id);
    served.change(withResource("books", { schema: strict, indexes: ["price"], scope: { read: "All" } }));
  });

  it("are listed by _valid=false, and the others by _valid=true, in pages, orders and beside filters", async () => {
    const shown = async (query: string) => (await list(served, `books?${query}`, admin)).items.map(({ id }) => id);
    expect(await shown("_valid=false")).toEqual([ids[1], ids[3]]);
    expect(await shown("_valid=true")).toEqual([ids[0], ids[2]]);
    expect(await shown("_valid=false&_sort=price")).toEqual([ids[3], ids[1]]);
    expect(await shown("_valid=true&price:ge=3")).toEqual([ids[2]]);
    expect(await shown("_valid=false&_metadata.created:gt=99999999999")).toEqual([]);
    const first = await list(served, "books?_valid=false&_limit=1&_cursor=", admin);
    expect(first).toMatchObject({ count: 2, items: [{ id: ids[1] }] });
    expect(first.links.next).toContain("_valid=false");
  });

  it("are listed for administrators alone", async () => {
    const ask = async (query: string, as?: string) =>
      outcome(await served.send(`/api/books?${query}`, as === undefined ? {} : { as }));
    expect(await ask("_valid=false", apikey("user"))).toEqual([403, "insufficient_access"]);
    expect(await ask("_valid=true", apikey("user"))).toEqual([403, "insufficient_access"]);
    expect(await ask("_valid=false")).toEqual([401, "authentication_required"]);
    expect(await ask("_valid=no", admin)).toEqual([400, "invalid_parameter"]);
  });

  it("are told of before an apply: how many, with examples, by a key of an administrator", async () => {
    const folder = await mkdtemp(join(tmpdir(), "validate-"));
    const [manifests, keyFile] = [join(folder, "manifests.yaml"), join(folder, "key")];
    const validate = async (schema: object, policy = "Enabled", base = served.base, more: object = {}) => {
      const head = "apiVersion: jsonplane.io/v1alpha1\nmetadata: {namespace: default, name: ";
      const spec = JSON.stringify({ projectRef: { name: "shop" }, schema, ...more });
      const resources = ["books", "films"].map((name) => `${head}${name}}\nkind: ApiResource\nspec: ${spec}\n`);
      await writeFile(
        manifests,
        [
          `${head}shop}\nkind: Project\nspec: {authentication: {policy: ${policy}}, limits: {maxObjectBytes: 1024}}\n`,
          ...resources,
        ].join("---\n"),
      );
      const lines: string[] = [];
      const against = `${served.origin}${base}`;
      const settings = { strict: false, against, apiKeyFile: keyFile };
      return { code: await runValidate(manifests, settings, (line) => lines.push(line)), lines: lines.slice(1) };
    };
    await writeFile(keyFile, `${keyOf("admin")}\n`);
    const films = "apiresource.jsonplane.io/films: not served there yet";
    expect(await validate(strict)).toEqual({
      code: 1,
      lines: [
        "apiresource.jsonplane.io/books: 2 of 4 stored objects don't meet the schema, such as",
        `  /api/books/${ids[1]}: /price (type)`,
        `  /api/books/${ids[3]}: /price (type)`,
        films,
        "2 stored objects would be invalid",
      ],
    });
    const all = "apiresource.jsonplane.io/books: all 4 stored objects meet the schema";
    expect(await validate(loose)).toEqual({ code: 0, lines: [all, films] });
    // Larger than the Project allows.
    const migrate = [{ op: "add", path: "/price", value: 1 }];
    const text = { op: "add", path: "/text", value: "x".repeat(1_100) };
    for (const [patch, code, said] of [
      [migrate, 0, /4 stored objects meet the schema; 2 would be migrated/],
      [[...migrate, text], 1, /document_too_large/],
    ] as const) {
      const found = await validate(strict, "Enabled", served.base, {
        schemaChange: { storedObjects: "Refuse", migrate: patch },
      });
      expect([found.code, found.lines.join("\n")]).toEqual([code, expect.stringMatching(said)]);
    }
    // Another URL is no project that stores nothing.
    for (const wrong of ["", `${served.base}s`, `${served.base}/api`]) {
      const { code, lines } = await validate(loose, "Disabled", wrong);
      expect([code, lines]).toEqual([1, [expect.stringContaining("/whoami answers 404")]]);
    }
    await writeFile(keyFile, keyOf("user"));
    const refused = expect.stringContaining("Only an administrator sees all objects");
    expect(await validate(strict)).toEqual({ code: 1, lines: [refused] });
    await rm(folder, { recursive: true });
  });
});

describeServedOnBothStores("while stored objects are checked against a next schema", (serve) => {
  it("writes have to meet both schemas, also one that began before; lists, filters and reads are as before", async () => {
    const served = await serve(shop);
    const { id } = await make(served, "books", { price: "two" }, admin);
    const short = { properties: { price: { maxLength: 3 } } } as const;
    const held = { schema: short, nextSchema: strict, scope: { read: "All" } } as const;
    served.change(withResource("books", held));
    const create = async (price: unknown) =>
      outcome(await served.send("/api/books", { method: "POST", body: { price }, as: admin }));
    expect(await create(12)).toEqual([201, undefined]);
    expect(await create("three")).toEqual([400, "validation_failed"]);
    expect(await create("two")).toEqual([400, "validation_failed"]);
    const patch = { method: "PATCH", body: { price: "one" }, as: admin } as const;
    const headers = { "content-type": "application/merge-patch+json" };
    expect(outcome(await served.send(`/api/books/${id}`, { ...patch, headers }))).toEqual([400, "validation_failed"]);
    expect(await list(served, "books?price=two", admin)).toMatchObject({ count: 1 });
    served.change((parts) => {
      const { nextSchemaBinds: _binds, ...refused } = parts.resources.get("books") as ResourceConfig;
      return { ...parts, resources: new Map(parts.resources).set("books", refused) };
    });
    expect(await create("two")).toEqual([201, undefined]);
    // What the refused one asks to correct.
    expect(await list(served, "books?_valid=false", admin)).toMatchObject({ count: 2 });
  });

  it("an update that ratchets keeps what breaks the former one, and adds nothing that breaks the next one alike", async () => {
    const served = await serve(shop);
    const { id } = await make(served, "books", { price: "two" }, admin);
    const nextSchema = { dependentSchemas: { sold: strict } };
    const held = { schema: strict, nextSchema, nextSchemaBinds: true, updates: "Ratchet" } as const;
    served.change(withResource("books", held));
    const update = (body: object) => served.send(`/api/books/${id}`, { method: "PUT", body, as: admin });
    expect(outcome(await update({ note: 1 }))).toEqual([200, undefined]);
    const refused = await update({ sold: true });
    expect(outcome(refused)).toEqual([400, "validation_failed"]);
    expect(refused.json()).toMatchObject({ errors: [{ pointer: "/price", keyword: "type" }] });
  });
});
