// Random steps for the model of a collection: requests and edits of the manifest, chosen so that
// they often touch the same objects, values and rules.

import type { ExpiryConfig, UniqueRule } from "../../core/config/types.ts";
import { apikey, withResource } from "../support/http/projects.ts";
import { seededMoments } from "../support/time/seeded-moments.ts";
import { CollectionModel, type Fields, type Operation, type Rule, type Rules, type Step } from "./collection-model.ts";

export const callers = ["ann", "bob"] as const;
const field = (name: string) => ({ name, path: [name] });
export const indexings = [[], ["stock", "name"], ["group", "stock,name"], ["group,stock", "note", "until"]];
const uniques: readonly (readonly Rule[])[] = [
  [],
  [{ fields: ["name"] }],
  [{ fields: ["name"], ignoreCase: true, where: ["group", "a"] }],
  [
    { fields: ["group", "stock"], per: "Owner" },
    { fields: ["name"], ignoreCase: true },
  ],
];
const expiries: readonly Rules["expiry"][] = [undefined, "until", "until", "ends", 3_600, 2];

export type Manifest = Rules & { readonly indexes: readonly string[] };

export function resource(manifest: Manifest) {
  const { unique, expiry, filledIn, ratchets, maxObjects, readsAll, indexes } = manifest;
  const expiryOf = (given: string | number): ExpiryConfig =>
    typeof given === "number" ? { afterSeconds: given } : { field: field(given) };
  const ruleOf = ({ fields, where, ...more }: Rule): UniqueRule => ({
    ...more,
    fields: fields.map(field),
    ...(where && { where: [{ field: field(where[0]), value: where[1] }] }),
  });
  return withResource("items", {
    schema: CollectionModel.schemaOf(manifest),
    indexes,
    scope: { read: readsAll ? "All" : "Own" },
    changes: { retentionSeconds: 3_600, maxEntries: 100_000 },
    maxObjects,
    ...(unique.length > 0 && { unique: unique.map(ruleOf) }),
    ...(expiry !== undefined && { expiry: expiryOf(expiry) }),
    ...(filledIn !== undefined && { defaults: "Apply" }),
    ...(ratchets && { updates: "Ratchet" }),
  });
}

export type Random = ReturnType<typeof chooser>;

export function chooser(seed: number) {
  const next = seededMoments(seed);
  const below = (count: number) => Math.floor(next() * count);
  const pick = <T>(choices: readonly T[]): T => choices[below(choices.length)] as T;
  return { below, pick, chance: (of: number) => next() < of };
}

const timeIn = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();

function randomFields({ below, pick, chance }: Random): Fields {
  const values = {
    name: () => pick(["x", "X", "y", "long", "Long"]),
    group: () => pick(["a", "a", "b", null]),
    stock: () => pick([0, 1, 2, 2, 19, 20, 21, 999, 1_001]),
    note: () => pick(["n", "m", null]),
    until: () => pick([timeIn(3_600_000), timeIn(3_600_000), timeIn(60 + below(300)), timeIn(-1_000), null]),
    ends: () => pick([timeIn(3_600_000), timeIn(60 + below(300)), timeIn(-1_000)]),
  };
  const shares = { name: 0.5, group: 0.5, stock: 0.7, note: 0.4, until: 0.25, ends: 0.15 };
  const names = Object.keys(values) as (keyof typeof values)[];
  return Object.fromEntries(names.filter((name) => chance(shares[name])).map((name) => [name, values[name]()]));
}

function randomOperation({ pick, chance }: Random): Operation {
  const path = `/${pick(["name", "group", "stock", "note"])}`;
  const value = pick(["x", "a", 2, null]);
  const bounds = { ...(chance(0.5) && { min: 0 }), ...(chance(0.3) && { max: 20 }) };
  return pick<Operation>([
    { op: "increment", path: "/stock", by: pick([-1, -1, 1, 7]), ...bounds },
    { op: "increment", path: "/stock", by: -1, min: 0 },
    { op: pick(["add", "replace", "test"]), path, value },
    { op: "remove", path },
  ]);
}

export function randomStep(random: Random, model: CollectionModel, sent: readonly Step[]): Step {
  const { below, pick, chance } = random;
  const body = randomFields(random);
  const item = pick([...model.items.values()].slice(-5));
  const id = item?.id ?? "none";
  const as = item === undefined || chance(0.3) ? pick(callers) : item.owner;
  const repeated = sent.filter((step) => step.what === "create" && step.key !== undefined).at(-1 - below(6));
  const named = pick<Fields>([{ name: pick(["x", "X", "y"]) }, { group: pick(["a", "b"]), stock: pick([1, 2]) }]);
  const steps: readonly (() => Step)[] = [
    () => ({ as, what: "create", body }),
    () => ({ as, what: "create", body, key: `k${below(1_000)}` }),
    () => (repeated?.what === "create" ? { ...repeated, ...(chance(0.2) && { body }) } : { as, what: "create", body }),
    () => ({ as, what: "put", id, body }),
    () => ({ as, what: "merge", id, body }),
    () => ({ as, what: "patch", id, body: Array.from({ length: 1 + below(2) }, () => randomOperation(random)) }),
    () => ({ as, what: "patch", id, body: [randomOperation(random)] }),
    () => ({ as, what: "upsert", named, body: chance(0.5) ? { ...body, ...named } : body }),
    () => ({ as, what: "upsert", named, body: { note: "n" } }),
    () => ({ as, what: "delete", id }),
  ];
  return pick(steps)();
}

export function randomEdit({ pick, chance }: Random, manifest: Manifest): Manifest {
  const { filledIn: _, expiry: __, ...rest } = manifest;
  const expiry = pick(expiries);
  return pick([
    { ...manifest, isStrict: !manifest.isStrict },
    { ...manifest, ratchets: !manifest.ratchets },
    { ...manifest, unique: pick(uniques) },
    { ...manifest, unique: pick(uniques) },
    {
      ...rest,
      ...(manifest.filledIn === undefined && { filledIn: pick(["new", "fresh"]) }),
      ...pickExpiry(manifest.expiry),
    },
    { ...rest, ...(manifest.filledIn !== undefined && { filledIn: manifest.filledIn }), ...pickExpiry(expiry) },
    { ...manifest, indexes: pick(indexings) },
    { ...manifest, maxObjects: chance(0.5) ? 12 : 1_000 },
  ]);
}

const pickExpiry = (expiry: Rules["expiry"]) => (expiry === undefined ? {} : { expiry });

export function request(step: Step) {
  const as = apikey(step.as);
  const types = {
    put: "application/json",
    merge: "application/merge-patch+json",
    patch: "application/json-patch+json",
  };
  switch (step.what) {
    case "create":
      return [
        "",
        { method: "POST", as, body: step.body, headers: step.key ? { "idempotency-key": step.key } : {} },
      ] as const;
    case "upsert": {
      const query = new URLSearchParams(Object.entries(step.named).map(([name, value]) => [name, String(value)]));
      return [`?${query}`, { method: "PUT", as, body: step.body }] as const;
    }
    case "delete":
      return [`/${step.id}`, { method: "DELETE", as }] as const;
    default: {
      const method = step.what === "put" ? "PUT" : "PATCH";
      const headers = { "content-type": types[step.what] };
      return [`/${step.id}`, { method, as, body: JSON.stringify(step.body), headers }] as const;
    }
  }
}
