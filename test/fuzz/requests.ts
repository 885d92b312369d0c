// Random requests by the schemas and policies of the example projects: valid ones, nearly valid
// ones, and noise. What they name of what is stored (the third object, the last key) is looked up
// when they are sent, so one seed makes one sequence.

import fc from "fast-check";
import type { CompiledProject } from "../../core/config/types.ts";
import { jsonTexts } from "../support/json/random-json.ts";
import { markerPlace, valuesOf } from "./schema-values.ts";

export const methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"] as const;

export type RequestTarget =
  | { readonly kind: "objects"; readonly resource: string; readonly object: number | undefined }
  | { readonly kind: "document"; readonly rootKey: string; readonly path: readonly string[] }
  | { readonly kind: "sessions"; readonly tail: string }
  | { readonly kind: "noise"; readonly path: string };

export interface Planned {
  /** Index of the tenant whose project is asked, and of the project. */
  readonly tenant: number;
  readonly project: number;
  /**
   * Who asks: by number among the project's credentials, another tenant's, or something that is no
   * credential.
   */
  readonly caller: Caller;
  readonly method: string;
  readonly target: RequestTarget;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

export type Caller =
  | { readonly kind: "own" | "login"; readonly number: number }
  | { readonly kind: "foreign" | "foreign login"; readonly number: number }
  | { readonly kind: "nobody" }
  | { readonly kind: "text"; readonly text: string };

const callers: fc.Arbitrary<Caller> = fc.oneof(
  { weight: 12, arbitrary: number().map((at) => ({ kind: "own", number: at }) as const) },
  { weight: 5, arbitrary: number().map((at) => ({ kind: "login", number: at }) as const) },
  { weight: 2, arbitrary: number().map((at) => ({ kind: "foreign", number: at }) as const) },
  { weight: 1, arbitrary: number().map((at) => ({ kind: "foreign login", number: at }) as const) },
  { weight: 2, arbitrary: fc.constant({ kind: "nobody" } as const) },
  {
    weight: 1,
    arbitrary: fc
      .oneof(
        fc.constantFrom("apikey", "apikey ", "bearer a.b.c", "Bearer null", "Basic Og==", "Digest x", "apikey  x y"),
        fc.string({ unit: "grapheme-ascii", maxLength: 40 }),
        fc.base64String({ maxLength: 60 }).map((text) => `bearer eyJhbGciOiJub25lIn0.${text}.`),
      )
      .map((text) => ({ kind: "text", text }) as const),
  },
);

function number(): fc.Arbitrary<number> {
  return fc.nat({ max: 1_000 });
}

const noise = fc.oneof(
  fc.webPath(),
  fc.constantFrom(
    "/",
    "//",
    "/api",
    "/api/",
    "/json",
    "/json/",
    "/.well-known/jwks.json",
    "/sessions/refresh",
    "/%00",
    "/..",
    "/api/%2e%2e",
  ),
  fc.string({ maxLength: 30 }).map((text) => `/${encodeURIComponent(text.toWellFormed())}`),
  fc.string({ unit: "grapheme-ascii", maxLength: 30 }).map((text) => `/${text}`),
);

const segments = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "a",
      "b",
      "0",
      "1",
      "-",
      "value",
      "checkout",
      "rollout",
      "countries",
      "openingHours",
      "currency",
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom("__proto__", "constructor", "01", "%", "%2F", "%ff", "a.b", "$", "*", '"') },
  {
    weight: 1,
    arbitrary: fc.string({ unit: "binary", maxLength: 8 }).map((text) => encodeURIComponent(text.toWellFormed())),
  },
);

/** Nearly always a name that is there. */
function nameAmong(names: readonly string[]): fc.Arbitrary<string> {
  const unknown = fc.constantFrom("nothing", "__proto__");
  if (names.length === 0) return unknown;
  return fc.oneof({ weight: 15, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: unknown });
}

function methodsAt(target: RequestTarget): fc.Arbitrary<string> {
  const likely = {
    collection: ["POST", "POST", "POST", "GET", "GET"],
    object: ["PUT", "PUT", "PUT", "GET", "GET", "DELETE"],
    document: ["PUT", "PUT", "PUT", "POST", "POST", "GET", "GET", "DELETE"],
    sessions: ["GET", "POST", "DELETE"],
    noise: ["GET", "POST"],
  };
  const kind = target.kind === "objects" && target.object === undefined ? "collection" : target.kind;
  const usual = likely[kind === "objects" ? "object" : kind];
  return fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...methods) },
  );
}

function targetsOf(parts: CompiledProject): fc.Arbitrary<RequestTarget> {
  const resources = [...parts.resources.keys()];
  const rootKeys = [...parts.rootKeys.keys()];
  const objects = fc.record({
    kind: fc.constant("objects" as const),
    resource: nameAmong(resources),
    object: fc.option(number(), { nil: undefined }),
  });
  const documents = fc.record({
    kind: fc.constant("document" as const),
    rootKey: nameAmong(rootKeys),
    path: fc.array(segments, { maxLength: 3 }),
  });
  const sessions = fc.record({
    kind: fc.constant("sessions" as const),
    tail: fc.oneof(
      fc.constantFrom("", "/", "/refresh", "/x"),
      fc.uuid().map((id) => `/${id}`),
    ),
  });
  return fc.oneof(
    { weight: resources.length > 0 ? 10 : 1, arbitrary: objects },
    { weight: rootKeys.length > 0 ? 6 : 1, arbitrary: documents },
    { weight: 1, arbitrary: sessions },
    { weight: 1, arbitrary: noise.map((path) => ({ kind: "noise", path }) as const) },
  );
}

function queriesOf(parts: CompiledProject, target: RequestTarget): fc.Arbitrary<string> {
  const schema = target.kind === "objects" ? parts.resources.get(target.resource)?.schema : undefined;
  const fields = [
    ...Object.keys((schema?.properties ?? {}) as object),
    "id",
    "_metadata.created",
    "nothing",
    "__proto__",
  ];
  const operators = ["gt", "ge", "lt", "le", "ne", "in", "contains", "starts", "exists", "like", ""];
  const filters = fields.flatMap((field) => operators.map((operator) => `${field}:${operator}`));
  const own = ["_limit", "_offset", "_sort", "_", "_fields", "_count", "_cursor", "_cursor"];
  const name = fc.oneof(fc.constantFrom(...own), fc.constantFrom(...fields), fc.constantFrom(...filters));
  const cursor = fc
    .tuple(fc.constantFrom("1", "2"), fc.uuid(), fc.string({ unit: "binary", maxLength: 8 }))
    .map((parts) => Buffer.from([parts[0], "00000000", ...parts.slice(1)].join("\0")).toString("base64url"));
  const value = fc.oneof(
    fc.nat({ max: 200 }).map(String),
    cursor,
    fc.constantFrom(`${fields[0]},-${fields[1]}`, "a%5C%2Cb,c", "a%5C", ",", "false"),
    fc.constantFrom(
      ...fields,
      ...fields.map((field) => `-${field}`),
      "",
      "-1",
      "1e9",
      "null",
      "true",
      "%",
      "%00",
      "%ff",
    ),
    fc.string({ unit: "binary", maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed())),
  );
  const pairs = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 3 });
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant("") },
    { weight: 2, arbitrary: pairs.map((all) => `?${all.map(([left, right]) => `${left}=${right}`).join("&")}`) },
  );
}

const types = [
  "application/json",
  "application/json; charset=utf-8",
  "text/plain",
  "application/merge-patch+json",
  "application/json-patch+json",
  "text/html",
  "x",
];
const headers = fc.record(
  {
    "content-type": fc.constantFrom(...types),
    "x-request-id": fc.oneof(fc.constantFrom("a", "x".repeat(200), "a b", "<script>"), fc.uuid()),
    origin: fc.constantFrom("https://www.example.org", "null", "https://evil.example"),
    "if-match": fc.constantFrom("*", '"x"', "x"),
    "if-none-match": fc.constantFrom("*", 'W/"x", "y"', "x"),
    "idempotency-key": fc.constantFrom("a", '"a"', "b", "x y"),
    "x-forwarded-host": fc.constantFrom("other.example", "a/b"),
    "x-forwarded-for": fc.constantFrom("192.0.2.1", "x"),
    "x-http-method-override": fc.constantFrom("DELETE", "PUT"),
    accept: fc.constantFrom("*/*", "text/html", ""),
    cookie: fc.constantFrom("a=b"),
    range: fc.constantFrom("bytes=0-1"),
  },
  { requiredKeys: [] },
);

const noiseBodies: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  jsonTexts,
  fc.constantFrom(
    "",
    "{",
    "[",
    "nul",
    "{}{}",
    "\ufeff{}",
    '{"a":1,"a":2}',
    "1e400",
    "123456789012345678901234567890",
    '"\\ud800"',
  ),
  fc.constantFrom(
    "[".repeat(100),
    '{"__proto__":{"a":1}}',
    '{"id":"x"}',
    '{"_metadata":{}}',
    '{"_sort":1}',
    "null",
    "[]",
    '"x"',
  ),
  fc.constantFrom(
    '{"a":null}',
    '[{"op":"add","path":"/extra","value":[1.0]}]',
    '[{"op":"remove","path":"/a"}]',
    '[{"op":"copy","from":"","path":"/copy"},{"op":"test","path":"/copy","value":0}]',
    '[{"op":"move","from":"/a","path":"/b"}]',
    '[{"op":"replace","path":"/id","value":"x"}]',
  ),
  fc.uint8Array({ maxLength: 40 }),
);

/** A value's text with something changed, so that it may still fit or not. */
function mutated(text: string): fc.Arbitrary<string> {
  return fc.oneof(
    fc.nat({ max: text.length }).map((at) => text.slice(0, at)),
    fc
      .tuple(fc.nat({ max: text.length }), fc.constantFrom('"', "0", ",", "}", "\\", "é", "null"))
      .map(([at, put]) => text.slice(0, at) + put + text.slice(at + 1)),
    fc
      .constantFrom('"extra":1', '"id":"x"', '"_metadata":{"creator":"root"}', '"__proto__":{}', '"constructor":1')
      .map((member) => (text.startsWith("{") && text.length > 2 ? `{${member},${text.slice(1)}` : member)),
    fc
      .constantFrom("1e400", "-1", '""', "[]", "18446744073709551616")
      .map((value) => text.replace(/:[^,}]+/, `:${value}`)),
  );
}

function bodiesOf(parts: CompiledProject, target: RequestTarget): fc.Arbitrary<string | Uint8Array> {
  const schema = target.kind === "objects" ? parts.resources.get(target.resource)?.schema : undefined;
  const valid =
    schema === undefined
      ? valuesOf({ type: "any" }).map((value) => ({ secret: markerPlace, value }))
      : valuesOf(schema);
  const texts = valid.map((value) => JSON.stringify(value));
  return fc.oneof(
    { weight: 10, arbitrary: texts },
    { weight: 3, arbitrary: texts.chain(mutated) },
    { weight: 1, arbitrary: noiseBodies },
  );
}

/** Most patches say which kind they are: without it all of them would hear 415. */
function withPatchType(planned: Planned): Planned {
  const { method, headers: sent, body } = planned;
  if (method !== "PATCH" || "content-type" in sent) return planned;
  const isOperations = typeof body === "string" && body.startsWith("[");
  const type = isOperations ? "application/json-patch+json" : "application/merge-patch+json";
  return { ...planned, headers: { ...sent, "content-type": type } };
}

/** Requests to the projects, which are the same for both tenants. */
export function requestsTo(projects: readonly CompiledProject[]): fc.Arbitrary<Planned> {
  const weighted = fc.nat({ max: projects.length - 1 });
  const all = weighted.chain((project) => {
    const parts = projects[project] as CompiledProject;
    return targetsOf(parts)
      .chain((target) =>
        fc.record({
          tenant: fc.nat({ max: 1 }),
          project: fc.constant(project),
          caller: callers,
          method: methodsAt(target),
          target: fc.constant(target),
          query: queriesOf(parts, target),
          headers: fc.oneof(
            { weight: 6, arbitrary: fc.constant({}) },
            { weight: 1, arbitrary: headers },
          ) as fc.Arbitrary<Readonly<Record<string, string>>>,
          body: fc.option(bodiesOf(parts, target), { freq: 12, nil: undefined }),
        }),
      )
      .map(withPatchType);
  });
  // Without fast-check's liking for extremes: those are among the values already.
  return fc.noBias(all);
}
