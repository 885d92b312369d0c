// The project that every scenario serves, and what its clients know of it.

import type { ProjectParts } from "../../core/config/types.ts";
import { apikey, project, withKey, withResource, withRootKey, withUser } from "../support/projects.ts";

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
  const whole = { scope: { read: "All", write: "All" } } as const;
  return project(
    "shop",
    withUser(user),
    withKey("worker", { role: "Administrators" }),
    withKey(victim, { role: "Administrators" }),
    withResource("items", {
      ...whole,
      schema: {
        type: "object",
        properties: { key: { type: "string" }, n: { type: "integer" } },
        required: ["key", "n"],
      },
      indexes: ["key", "n"],
    }),
    withResource("shelf", {
      ...whole,
      schema: { type: "object", properties: { rank: { type: "integer" }, label: { type: "integer" } } },
      indexes: ["rank"],
    }),
    withRootKey("registers", { initialValue: each(null) }),
    withRootKey("log", { initialValue: each([]) }),
  );
}

function each(value: unknown): string {
  return JSON.stringify(Object.fromEntries(writers.map((name) => [name, value])));
}
