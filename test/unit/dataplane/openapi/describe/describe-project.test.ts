import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../../core/clock.ts";
import type { CompiledProject, JsonObject } from "../../../../../core/config/types.ts";
import { createMemoryDirectory } from "../../../../../dataplane/config/memory-directory.ts";
import { tenantsOf } from "../../../../fuzz/tenants.ts";
import { describedText } from "../../../../support/http/described.ts";
import { testIssuer, withIssuer } from "../../../../support/http/external-issuer.ts";
import {
  changed,
  project,
  withAuthenticationDisabled,
  withLimits,
  withResource,
  withRootKey,
  withServing,
} from "../../../../support/http/projects.ts";

interface Described {
  readonly status?: number;
  readonly [member: string]: unknown;
}
type Operations = Readonly<Record<string, Readonly<Record<string, Described>>>>;

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Operations;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
}

function textOf(parts: CompiledProject): Promise<string> {
  const live = createMemoryDirectory(systemClock);
  expect(live.put(parts)).toEqual([]);
  const found = live.directory.project(parts.project);
  if (found instanceof Promise || found.outcome !== "found") throw new Error("it is live at once");
  return describedText(found.value, "https://api.example.org/default/shop");
}

const documentOf = async (parts: CompiledProject) => JSON.parse(await textOf(parts)) as Document;

// Compiles the OpenAPI schema once.
const openApi = new Validator();

/** What the independent validator has against it, and references that lead nowhere. */
async function faultsOf(document: Document): Promise<readonly unknown[]> {
  const { valid, errors } = await openApi.validate(document as unknown as Record<string, unknown>);
  const references = JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g);
  const lost = [...references].map(([, ref]) => ref ?? "").filter((ref) => valueAt(document, ref) === undefined);
  return [...(valid ? [] : [errors]), ...lost];
}

function valueAt(document: Document, reference: string): unknown {
  let found: unknown = document;
  for (const name of reference.split("/").slice(1)) {
    found = (found as Record<string, unknown> | undefined)?.[name.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return reference.startsWith("#/") ? found : undefined;
}

const draft07 = {
  $schema: "http://json-schema.org/draft-07/schema#",
  $id: "https://example.org/shelf",
  type: "object",
  required: ["tuple"],
  definitions: { size: { $id: "#size", type: "integer", minimum: 1 }, other: { $ref: "#size", maximum: 3 } },
  properties: {
    tuple: { type: "array", items: [{ $ref: "#/definitions/other" }, true], additionalItems: { type: "string" } },
    size: { $ref: "https://example.org/shelf#/definitions/size" },
    nested: { $ref: "#" },
  },
  dependencies: { size: ["tuple"], nested: { required: ["size"] } },
};

describe("the OpenAPI document of a project", () => {
  it("is valid for an independent validator, each example project's", async () => {
    const [tenant] = await tenantsOf(1);
    for (const { parts } of tenant?.projects ?? []) {
      expect([parts.project.name, await faultsOf(await documentOf(parts))]).toEqual([parts.project.name, []]);
    }
  });

  it("is valid for schemas of both drafts, with references of every kind and odd names", async () => {
    const closed = { type: "object", additionalProperties: false, properties: { a: { type: "string" } } };
    const document = await documentOf(
      project(
        "shop",
        withResource("Problem", { schema: draft07 }),
        withResource("books", { schema: { $ref: "#/$defs/a~1b%20c", $defs: { "a/b c": closed } } }),
        withResource("odd", {
          schema: {
            type: "object",
            properties: { ["__proto__"]: { type: "string" }, "a.b": { $dynamicRef: "#x" }, _: true },
            $defs: { x: { $dynamicAnchor: "x", type: "number" } },
          },
        }),
        withResource("open", { schema: { allOf: [{ properties: { a: { type: "string" } } }, { required: ["a"] }] } }),
        withRootKey("Problem"),
      ),
    );
    expect(await faultsOf(document)).toEqual([]);
    const { schemas } = document.components;
    expect(schemas?.["Problem-2"]).toEqual({
      type: "object",
      required: ["tuple"],
      dependentRequired: { size: ["tuple"] },
      dependentSchemas: { nested: { required: ["size"] } },
      properties: {
        tuple: {
          type: "array",
          prefixItems: [{ $ref: "#/components/schemas/Problem.other" }, true],
          items: { type: "string" },
        },
        size: { $ref: "#/components/schemas/Problem.size" },
        nested: { $ref: "#/components/schemas/Problem-2" },
      },
    });
    // Next to a reference, draft-07 reads nothing: 2020-12 would.
    expect(schemas?.["Problem.other"]).toEqual({ $ref: "#/components/schemas/Problem.size" });
  });

  it("says that answers have id and _metadata, also where the schema admits no other members", async () => {
    const schema = {
      type: "object",
      required: ["a"],
      additionalProperties: false,
      maxProperties: 1,
      properties: { a: { type: "string" } },
    };
    const { schemas } = (await documentOf(project("shop", withResource("books", { schema })))).components;
    expect(schemas?.["books.stored"]).toMatchObject({
      additionalProperties: false,
      maxProperties: 3,
      required: ["id", "a", "_metadata"],
    });
    expect(schemas?.["books"]).toEqual(schema);
    expect(schemas?.["books.changes"]).not.toHaveProperty("required");
  });

  it("says less of answers, not something wrong, where the schema can't be extended", async () => {
    const schema = { type: "object", propertyNames: { pattern: "^[a-c]$" }, properties: { a: { type: "string" } } };
    const { schemas } = (await documentOf(project("shop", withResource("books", { schema })))).components;
    expect(schemas?.["books.stored"]).toMatchObject({
      required: ["id", "_metadata"],
      properties: { a: { type: "string" } },
    });
    expect(schemas?.["books.stored"]).not.toHaveProperty("propertyNames");
  });

  it("describes a default, which is never filled in, in words: generators take the keyword for a promise", async () => {
    const tags = { type: "array", items: { type: "string", default: "new" }, default: ["x".repeat(200)] };
    const properties = { count: { type: "integer", description: "How many.", default: 1 }, tags };
    const schema = { type: "object", properties, default: {} };
    const { schemas } = (await documentOf(project("shop", withResource("books", { schema })))).components;
    const shown = {
      count: {
        type: "integer",
        description: "How many. Suggested value: `1`; it is not filled in.",
        "x-default": 1,
      },
      tags: {
        type: "array",
        items: { type: "string", description: 'Suggested value: `"new"`; it is not filled in.', "x-default": "new" },
        "x-default": tags.default,
      },
    };
    for (const name of ["books", "books.stored", "books.changes"]) {
      expect(schemas?.[name]).toMatchObject({ properties: shown });
      expect(JSON.stringify(schemas?.[name])).not.toContain('"default"');
    }
  });

  it("leaves out what nobody may do, and paths that are left without operations", async () => {
    const nobody = { create: "Nobody", read: "Nobody", update: "Nobody", delete: "Nobody" } as const;
    const { paths } = await documentOf(
      project(
        "shop",
        withResource("hidden", { access: nobody }),
        withResource("inbox", { access: { read: "Nobody", delete: "Administrators" } }),
        withRootKey("fixed", { access: { ...nobody, read: "Anyone", update: "Authenticated" } }),
      ),
    );
    const offered = Object.entries(paths).map(([path, { parameters: _, ...methods }]) => [path, Object.keys(methods)]);
    expect(Object.fromEntries(offered)).toMatchObject({
      "/api/inbox": ["post"],
      // An update answers with the object, which nobody may read.
      "/api/inbox/{id}": ["delete"],
      "/json/fixed": ["get", "put", "patch"],
      "/json/fixed/{path}": ["get", "put", "patch"],
    });
    expect(Object.keys(paths).filter((path) => path.includes("hidden"))).toEqual([]);
    const put = paths["/json/fixed/{path}"]?.put as { readonly responses: object };
    expect(Object.keys(put.responses)).not.toContain("201");
  });

  it("asks for credentials where the policies do, and names only problems that can occur", async () => {
    const shop = project("shop", withResource("books", { access: { read: "Anyone" }, scope: { read: "All" } }));
    const statuses = async (parts: CompiledProject, path: string, method: string) => {
      const { responses = {} } = (await documentOf(parts)).paths[path]?.[method] ?? {};
      return Object.keys(responses as object);
    };
    const { paths } = await documentOf(shop);
    expect(paths["/api/books"]?.get?.security).toEqual([{}, { bearer: [] }, { apikey: [] }]);
    expect(paths["/api/books"]?.post?.security).toEqual([{ bearer: [] }, { apikey: [] }]);
    const permissionOf = (method: string) => paths["/api/books"]?.[method]?.["x-jsonplane-permission"];
    expect([permissionOf("get"), permissionOf("post")]).toEqual(["Anyone", "Authenticated"]);
    expect(await statuses(shop, "/api/books", "get")).toEqual(["200", "304", "400", "401", "408", "412", "431", "503"]);
    expect(await statuses(shop, "/api/books/{id}", "delete")).toContain("403");
    const open = project("shop", withResource("books"), withAuthenticationDisabled());
    expect((await documentOf(open)).paths["/api/books"]?.post?.security).toEqual([{}, { bearer: [] }, { apikey: [] }]);
    expect(await statuses(open, "/api/books/{id}", "delete")).not.toContain("403");
    const readOnly = project("shop", withResource("books"), withAuthenticationDisabled(), withServing("ReadOnly"));
    expect(await statuses(readOnly, "/api/books/{id}", "delete")).toContain("403");
  });

  it("says who may see a session and who may end one", async () => {
    const { get, delete: end } = (await documentOf(project("shop"))).paths["/sessions/{id}"] ?? {};
    const who = "Who may: the session's owner, and callers with the role Administrators";
    expect(get?.description).toBe(`${who}.`);
    expect(end?.description).toContain(`${who} and the access level Write.`);
  });

  it("promises of sessions and removed parts no problem that can't occur there", async () => {
    const document = await documentOf(project("shop", withRootKey("doc")));
    const codesOf = (path: string, method: string) => {
      const { responses = {} } = document.paths[path]?.[method] ?? {};
      const enums = Object.values(responses as Record<string, { $ref?: string }>).flatMap(({ $ref = "" }) => {
        const text = JSON.stringify(valueAt(document, $ref) ?? {});
        return [...text.matchAll(/"code":\{"enum":\[([^\]]*)\]/g)].flatMap(([, codes]) => JSON.parse(`[${codes}]`));
      });
      return new Set(enums as readonly string[]);
    };
    // The fair share, and what is refused once data were lost, are about stored data.
    const stored = ["project_busy", "data_lost"];
    for (const [path, methods] of [
      ["/sessions", ["get", "post"]],
      ["/sessions/refresh", ["post"]],
      ["/sessions/{id}", ["get", "delete"]],
    ] as const) {
      for (const method of methods) {
        const codes = codesOf(path, method);
        expect(codes).toContain("store_unavailable");
        // A list of sessions takes a share, too: there may be thousands.
        const takesShare = path === "/sessions" && method === "get";
        expect(stored.filter((code) => codes.has(code))).toEqual(takesShare ? ["project_busy"] : []);
      }
    }
    const removal = codesOf("/json/doc/{path}", "delete");
    expect(["not_found", "invalid_index", ...stored].filter((code) => !removal.has(code))).toEqual([]);
    expect(["parent_not_found", "not_a_container"].filter((code) => removal.has(code))).toEqual([]);
    expect(codesOf("/json/doc/{path}", "put")).toContain("parent_not_found");
  });

  it("never shows what a root key starts with: readers of the document may not be readers of the value", async () => {
    const secret = "payments-team-is-Ada";
    const text = await textOf(project("shop", withRootKey("owners", { initialValue: `{"checkout":"${secret}"}` })));
    expect(text).not.toContain(secret);
    expect(text).toContain("/json/owners");
  });

  it("filters by declared properties that have a value to compare, each with its type", async () => {
    const schema = {
      properties: {
        n: { type: "integer" },
        list: { type: "array" },
        o: { properties: { s: { type: "string" } } },
        _: {},
      },
    };
    const { paths } = await documentOf(project("shop", withResource("books", { schema })));
    const parameters = paths["/api/books"]?.get?.parameters as readonly {
      readonly name?: string;
      readonly schema?: unknown;
    }[];
    const named = parameters.filter(({ name }) => name !== undefined);
    const paging = "_limit _offset _cursor _sort _fields _count _etags _valid _any _count_by".split(" ");
    const metadata = ["gt", "ge", "lt", "le"].map((operator) => `_metadata.created:${operator}`);
    expect(named.map(({ name }) => name)).toEqual([
      ...[...paging, ...metadata, "_metadata.creator"],
      ...["n", "o", "o.s", "list:contains"],
    ]);
    expect(named.find(({ name }) => name === "n")?.schema).toEqual({ type: "integer" });
  });

  it("shows operators of the fields that an index answers, those that fit the field's type", async () => {
    const schema = { properties: { n: { type: "integer" }, s: { type: "string" }, t: { type: "string" } } };
    const { paths } = await documentOf(project("shop", withResource("books", { schema, indexes: ["n", "t"] })));
    const parameters = paths["/api/books"]?.get?.parameters as readonly { readonly name?: string }[];
    const named = parameters.flatMap(({ name }) =>
      name?.includes(":") && !name.startsWith("_metadata") ? [name] : [],
    );
    const ofNumbers = ["n:gt", "n:ge", "n:lt", "n:le", "n:ne", "n:in", "n:exists"];
    const ofTexts = ["t:gt", "t:ge", "t:lt", "t:le", "t:ne", "t:in", "t:starts", "t:contains", "t:exists"];
    expect(named).toEqual([...ofNumbers, ...ofTexts]);
  });

  it("says of each field that can be searched with :contains what that finds", async () => {
    const schema = {
      properties: { s: { type: "string" }, list: { type: "array" }, both: { type: ["string", "array"] }, open: {} },
    };
    const indexes = ["s", "both", "open"];
    const { paths } = await documentOf(project("shop", withResource("books", { schema, indexes })));
    const parameters = paths["/api/books"]?.get?.parameters as readonly {
      readonly name?: string;
      readonly description?: string;
    }[];
    const described = parameters.flatMap(({ name, description = "" }) =>
      name?.endsWith(":contains") ? [[name, description.slice(0, description.indexOf("."))]] : [],
    );
    const [inString, inArray] = [
      "is a string that contains this text",
      "is an array with an element that equals this value",
    ];
    expect(Object.fromEntries(described)).toEqual({
      "s:contains": `Only objects whose \`s\` ${inString}`,
      "list:contains": `Only objects whose \`list\` ${inArray}`,
      "both:contains": `Only objects whose \`both\` ${inString} or ${inArray}`,
      "open:contains": `Only objects whose \`open\` ${inString} or ${inArray}`,
    });
  });

  it("names rates and their headers where the project has some", async () => {
    const answers = async (parts: CompiledProject) => {
      const { responses = {} } = (await documentOf(parts)).paths["/api/books"]?.get ?? {};
      return responses as Readonly<Record<string, { readonly headers?: object }>>;
    };
    const parts = project("shop", withResource("books"));
    expect(await answers(parts)).not.toHaveProperty("429");
    const limited = await answers(changed(parts, withLimits({ rate: { caller: { requestsPerSecond: 1, burst: 2 } } })));
    expect(limited).toHaveProperty("429");
    expect(Object.keys(limited["200"]?.headers ?? {})).toContain("RateLimit");
  });

  it("has a security scheme for each external issuer, wherever an API key counts as well", async () => {
    const serviceAccounts = [{ namespace: "jobs", name: "importer", role: "Users", access: "Read" }] as const;
    const document = await documentOf(
      project(
        "shop",
        withResource("books", { access: { read: "Anyone", delete: "Nobody" } }),
        withIssuer(testIssuer("pods", { url: "https://kubernetes.default.svc", serviceAccounts })),
        withIssuer(testIssuer("corp", { url: "https://login.example.org/realms/main/", audiences: ["shop", "till"] })),
        withIssuer(testIssuer("bearer", { keysAreFetched: false })),
      ),
    );
    expect(await faultsOf(document)).toEqual([]);
    const { securitySchemes } = document.components;
    expect(securitySchemes?.["issuer.corp"]).toEqual({
      type: "openIdConnect",
      openIdConnectUrl: "https://login.example.org/realms/main/.well-known/openid-configuration",
      description: expect.stringContaining("`https://login.example.org/realms/main/` whose `aud` has `shop` or `till`"),
    });
    for (const name of ["issuer.bearer", "issuer.pods"]) {
      expect(securitySchemes?.[name]).toMatchObject({ type: "http", scheme: "bearer", bearerFormat: "JWT" });
    }
    const callers = ["bearer", "apikey", "issuer.bearer", "issuer.corp", "issuer.pods"].map((name) => ({ [name]: [] }));
    const securityOf = (path: string, method: string) => document.paths[path]?.[method]?.security;
    expect(securityOf("/api/books", "post")).toEqual(callers);
    expect(securityOf("/api/books", "get")).toEqual([{}, ...callers]);
    expect(securityOf("/whoami", "get")).toEqual([{}, ...callers]);
    expect(securityOf("/sessions", "get")).toEqual(callers);
    expect(securityOf("/sessions", "post")).toEqual([{ login: [] }]);
    expect(securityOf("/sessions/current", "get")).toEqual([{ bearer: [] }]);
    expect(securityOf("/sessions/refresh", "post")).toEqual([{ refresh: [] }]);
    const mayWait = ({ paths, components }: Document) => {
      const name = /Problem503[\w.-]*/.exec(JSON.stringify(paths["/whoami"]))?.[0] ?? "";
      return JSON.stringify(components["responses"]?.[name]).includes("project_busy");
    };
    expect([mayWait(document), mayWait(await documentOf(project("shop")))]).toEqual([true, false]);
  });

  it("is the same text for the same configuration", async () => {
    const resources = Array.from({ length: 3 }, (_, count) =>
      withResource(`r${count}`, { schema: { properties: { a: { type: "string" }, b: { type: "number" } } } }),
    );
    const parts = project("shop", ...resources);
    expect(await textOf(parts)).toBe(await textOf(parts));
  });

  it("leaves schemas out when they are too large together, the last ones by name", async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [`field${n}`, { title: "x".repeat(3_400) }]),
    );
    const names = Array.from({ length: 60 }, (_, n) => `r${String(n).padStart(2, "0")}`);
    const { schemas, ...rest } = (
      await documentOf(project("shop", ...names.map((name) => withResource(name, { schema: { properties } }))))
    ).components;
    expect(Object.keys(schemas?.["r00"]?.properties ?? {})).toHaveLength(30);
    expect(schemas?.["r59"]).toMatchObject({ type: "object", additionalProperties: true });
    expect(JSON.stringify({ schemas, rest }).length).toBeLessThan(20 * 1024 * 1024);
  });
});

it("a property whose name ends as an operator does is described once, as itself", async () => {
  const properties = { s: { type: "string" }, "s:gt": { type: "string" } };
  const parts = project("shop", withResource("notes", { schema: { type: "object", properties }, indexes: ["s"] }));
  const document = await documentOf(parts);
  const described = document.paths["/api/notes"]?.get?.parameters as { name?: string }[] | undefined;
  const names = described?.flatMap(({ name }) => name ?? []) ?? [];
  expect(names.filter((name) => name === "s:gt")).toHaveLength(1);
  expect(names).toContain("s:ge");
});
