// The project that every scenario serves, and what its clients know of it.

import type { ProjectParts } from "../../core/config/types.ts";
import { apikey, type Modifier, project, withKey, withResource, withRootKey, withUser } from "../support/projects.ts";

export const writers = ["w0", "w1", "w2", "w3"] as const;
/** In front of the shelf, and moved by nobody. */
export const fixedObjects = 40;
/** Ranks of what comes and goes begin here, behind all that stays. */
export const movingFrom = 1_000;

export const base = "/default/shop";
export const worker = apikey("worker");
export const user = "ann";
export const victim = "victim";

export function shopParts(): ProjectParts {
  return project(
    "shop",
    withUser(user),
    withKey("worker", { role: "Administrators" }),
    withKey(victim, { role: "Administrators" }),
    items("key", "n"),
    shelf("rank"),
    withRootKey("registers", { initialValue: each(null) }),
    withRootKey("log", { initialValue: each([]) }),
  );
}

const whole = { scope: { read: "All", write: "All" } } as const;

/** Objects that writers own, with these indexes. */
export function items(...indexes: readonly string[]): Modifier {
  const properties = { key: { type: "string" }, n: { type: "integer" } };
  return withResource("items", { ...whole, schema: { type: "object", properties, required: ["key", "n"] }, indexes });
}

/** Objects that pages are read of, with these indexes. */
export function shelf(...indexes: readonly string[]): Modifier {
  const properties = { rank: { type: "integer" }, label: { type: "integer" } };
  return withResource("shelf", { ...whole, schema: { type: "object", properties }, indexes });
}

function each(value: unknown): string {
  return JSON.stringify(Object.fromEntries(writers.map((name) => [name, value])));
}
