// What users may do to a namespace, for fast-check: custom resources of all kinds, made from the
// CRDs' own schemas with good and bad values, applied, changed and deleted by few names, so that
// they meet; and the Secrets that belong to them or are in their way.

import fc from "fast-check";
import type { Json } from "../../core/config/types.ts";
import { apiKeySchema } from "../../core/manifests/generated/apikey.generated.ts";
import { apiResourceSchema } from "../../core/manifests/generated/apiresource.generated.ts";
import { projectSchema } from "../../core/manifests/generated/project.generated.ts";
import { projectUserSchema } from "../../core/manifests/generated/projectuser.generated.ts";
import { rootKeySchema } from "../../core/manifests/generated/rootkey.generated.ts";
import { type Kind, kinds } from "../../core/manifests/object.ts";
import type { SchemaNode } from "../../core/manifests/schema-node.ts";
import { randomSchemas } from "./random-schemas.ts";

/** Stands for the name of the namespace. */
export const namespacePlace = "(namespace)";

export interface AppliedObject {
  readonly kind: Kind;
  readonly name: string;
  readonly spec: Json;
  readonly annotations: Readonly<Record<string, string>>;
  /**
   * Where there is an object of this name already: with its immutable fields, as an edit has them.
   */
  readonly keeps: boolean;
}

export type Step =
  | ({ readonly do: "apply" } & AppliedObject)
  | { readonly do: "delete"; readonly kind: Kind; readonly name: string }
  | { readonly do: "apply Secret"; readonly name: string; readonly password: string }
  | { readonly do: "delete Secret"; readonly name: string };

const schemas: Readonly<Record<Kind, SchemaNode>> = {
  Project: projectSchema,
  ApiResource: apiResourceSchema,
  ProjectUser: projectUserSchema,
  ApiKey: apiKeySchema,
  RootKey: rootKeySchema,
};

type Value = fc.Arbitrary<Json>;

/** Mostly the first, and sometimes something that should be refused. */
function mostly<T extends Json>(good: readonly T[], bad: readonly Json[]): Value {
  return fc.oneof(
    { weight: 80, arbitrary: fc.constantFrom<Json>(...good) },
    { weight: 1, arbitrary: fc.constantFrom(...bad) },
  );
}

const projectNames = ["shop", "blog", "lab"];
/** Nothing is applied under the last one. */
const projectRefs = mostly(
  ["shop", "shop", "shop", "shop", ...projectNames, "nowhere"],
  ["", "Bad_Name", "x".repeat(64)],
);
const childNames = ["one", "two", "three", "four"];
const objectNames = (good: readonly string[]) => mostly(good, ["Upper", "a.b", "-a", "x".repeat(64), "anonymous", ""]);
const durations = mostly(
  ["5m", "90s", "1h", "24h", "12h30m", "1m", "0s"],
  ["", "5", "-1m", "1d", "99999h", "1m1m1m1m", " 5m"],
);
const secretNames = ["passwords", "one-api-key", "two-password", "shared", "three-password-hash"];

/** Texts whose form no `pattern` of the CRDs tells, by the end of their path. */
const texts: readonly (readonly [RegExp, Value])[] = [
  [/projectRef\.name$/, projectRefs],
  [/(TTL|gracePeriod|maxAge|retention|after)$/, durations],
  [
    /hosts\[\]$/,
    mostly(
      [`a.${namespacePlace}.apps.test`, `b.${namespacePlace}.apps.test`, "else.where.test"],
      ["*.x.test", "A.test", "x"],
    ),
  ],
  [/allowHeaders\[\]$/, mostly(["X-Tenant", "x-b3-traceid", "*"], ["", "X A", "X-*", "X,Y"])],
  [
    /allowedOrigins\[\]$/,
    mostly(
      ["https://app.test", "http://localhost:5173", "capacitor://localhost", "*"],
      ["https://app.test/", "app.test", ""],
    ),
  ],
  [
    /(resourceName|spec\.key)$/,
    mostly(["books", "Books", "one", "a_b", "10"], ["a/b", "a b", "", "ü", "x".repeat(64)]),
  ],
  [/username$/, mostly(["ann", "bob@example.test", "one"], ["", "a:b", "anonymous", "a\u0000b"])],
  [/passwordSecretRef\.name$/, mostly(["passwords", "shared", "missing"], ["Bad_Name", ""])],
  [/passwordSecretRef\.key$/, mostly(["password", "other", ".dotted"], ["a/b", ""])],
  [/secretName$/, mostly(["shared", "one-api-key", "keys"], ["Bad_Name", ""])],
  [/rotation\.id$/, mostly(["1", "2026-11-21", "b"], ["", "a b", "x".repeat(65)])],
  [/expiresAt$/, mostly(["2030-12-31T23:59:59Z", "2020-01-01T00:00:00Z"], ["tomorrow", "2030-13-01T00:00:00Z"])],
  [
    /indexes\[\]$/,
    mostly(["title", "price", "author.name", "a.b", "no_such"], ["id", "_metadata.created", "", "a..b"]),
  ],
  [/expiry\.field$/, mostly(["price", "author.name", "expiresAt"], ["", "id"])],
  [/description$/, mostly(["", "For the web shop", "ü".repeat(256)], ["two\nlines", "x".repeat(257)])],
];

/** Of any type, wherever a schema wants another one. */
const wrong = fc.constantFrom<Json>(null, "", -1, 0.5, 1e300, true, [], {}, [null], "x".repeat(5_000), "\u0000", {
  a: { b: 1 },
});

export function randomSteps(count: number, seed: number): readonly Step[] {
  return fc.sample(step(), { seed, numRuns: count });
}

function step(): fc.Arbitrary<Step> {
  const kind = fc.constantFrom<Kind>(...kinds, "ApiResource", "ApiResource", "RootKey");
  const name = fc.constantFrom(...childNames, ...projectNames);
  const secretName = fc.constantFrom(...secretNames);
  const password = fc.oneof(fc.constantFrom("hunter2", "", "a:b\n", "ü".repeat(40)), fc.string({ maxLength: 30 }));
  return fc.oneof(
    { weight: 20, arbitrary: kind.chain(applied) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("delete" as const), kind, name }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("apply Secret" as const), name: secretName, password }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("delete Secret" as const), name: secretName }) },
  );
}

function applied(kind: Kind): fc.Arbitrary<Step> {
  const node = schemas[kind].properties?.["spec"] ?? {};
  const annotations = fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constantFrom({ "jsonplane.io/adopt-data": "true" }, { "jsonplane.io/rotate-signing-key": "a" }),
    },
  );
  return fc.record({
    do: fc.constant("apply" as const),
    kind: fc.constant(kind),
    name: objectNames(kind === "Project" ? projectNames : childNames) as fc.Arbitrary<string>,
    spec: anyOf(node, "spec"),
    annotations: annotations as fc.Arbitrary<Readonly<Record<string, string>>>,
    keeps: fc.oneof({ weight: 8, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  });
}

/** Values of a node of a CRD's schema; now and then something else. */
function anyOf(node: SchemaNode, path: string): Value {
  return fc.oneof({ weight: 250, arbitrary: goodOf(node, path) }, { weight: 1, arbitrary: wrong });
}

function goodOf(node: SchemaNode, path: string): Value {
  if (path === "spec.schema") return randomSchemas();
  if (node["x-kubernetes-preserve-unknown-fields"] === true) return fc.jsonValue({ maxDepth: 4 }) as Value;
  if (path === "spec.serving") return mostly(["ReadWrite", "ReadWrite", "ReadWrite", "ReadOnly", "Off"], ["On", false]);
  if (node.enum) return mostly(node.enum, ["Nothing", "", 0]);
  switch (node.type) {
    case "object":
      return objectOf(node, path);
    case "array":
      return fc.array(anyOf(node.items ?? {}, `${path}[]`), { maxLength: Math.min(3, node.maxItems ?? 3) }) as Value;
    case "integer":
    case "number":
      return numberOf(node);
    case "boolean":
      return fc.oneof({ weight: 8, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
    case "string":
      return (
        texts.find(([pattern]) => pattern.test(path))?.[1] ?? (fc.string({ maxLength: node.maxLength ?? 20 }) as Value)
      );
    default:
      return fc.jsonValue({ maxDepth: 4 }) as Value;
  }
}

function objectOf(node: SchemaNode, path: string): Value {
  const properties = Object.entries(node.properties ?? {});
  const members = Object.fromEntries(properties.map(([name, inner]) => [name, anyOf(inner, `${path}.${name}`)]));
  const whole = fc.record(members, { requiredKeys: [...(node.required ?? [])] }) as Value;
  const partial = fc.record(members, { requiredKeys: [] }) as Value;
  const strange = whole.map((value) => ({ ...(value as object), strange: 1 }) as Json);
  return fc.oneof(
    { weight: 150, arbitrary: whole },
    { weight: 1, arbitrary: partial },
    { weight: 1, arbitrary: strange },
  );
}

function numberOf({ minimum = 0, maximum = 1_000 }: SchemaNode): Value {
  const within = fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31) });
  return fc.oneof(
    { weight: 80, arbitrary: within },
    { weight: 1, arbitrary: fc.constantFrom(minimum - 1, maximum + 1) },
  );
}
