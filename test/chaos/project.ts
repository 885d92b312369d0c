// The project that every scenario serves, and what its clients know of it.

import type { CompiledProject } from "../../core/config/types.ts";
import {
  changed,
  type Modifier,
  project,
  withConfig,
  withKey,
  withLimits,
  withResource,
  withRootKey,
  withSessions,
  withUser,
} from "../support/http/projects.ts";

export const writers = ["w0", "w1", "w2", "w3"] as const;
/** Who repeat what was not acknowledged. */
export const repeaters = ["k0", "k1", "k2"] as const;
/** Each adds to a list of its own. */
export const listed = [...writers, ...repeaters] as const;
/** In front of the shelf, and moved by nobody. */
export const fixedObjects = 40;
/** Ranks of what comes and goes begin here, behind all that stays. */
export const movingFrom = 1_000;

export const base = "/default/shop";
export const user = "ann";
export const victim = "victim";

/** Who own objects that no other one of them sees, where changes are followed. */
export const owners = ["o0", "o1"] as const;

export function shopParts(): CompiledProject {
  return project(
    "shop",
    withUser(user),
    // No client's session ends for another one: those that could not be ended, of a server whose
    // clock has jumped, add up.
    withSessions({ maxPerUser: 1_000 }),
    withKey("worker", { role: "Administrators" }),
    withKey(victim, { role: "Administrators" }),
    items("key", "n"),
    shelf("rank"),
    withRootKey("registers", { initialValue: JSON.stringify(emptyRegisters) }),
    withRootKey("log", { initialValue: JSON.stringify(emptyLists) }),
  );
}

/**
 * Of a project next to the shop, for scenarios with `limits`: what it lets through, in all and of
 * guesses at a password.
 */
export const limitedBase = "/default/limited";
export const limitedRate = { perSecond: 5, burst: 5 } as const;
/** Ten in five minutes, which is longer than a run. */
export const guesses = { perSecond: 0, burst: 10 } as const;

/**
 * What nobody has to log in for: writes of an address in a minute; of windows of a minute at most
 * three meet a run.
 */
export const openBase = "/default/open";
export const anonymousWrites = { perSecond: 0, burst: 30 } as const;
const anonymousWritesPerMinute = anonymousWrites.burst / 3;

export function openParts(): CompiledProject {
  const access = { create: "Anyone" } as const;
  return project(
    "open",
    withConfig({ uid: "open" }),
    withResource("notes", { access }),
    withLimits({ anonymousWritesPerMinute }),
  );
}

/** With logs of what is followed, and the keys of those who see a part of it. */
export function withLogs(maxEntries: number): Modifier {
  const changes = { retentionSeconds: 3_600, maxEntries };
  const logged = <T>(all: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
    new Map([...all].map(([name, each]) => [name, { ...each, changes }]));
  return (parts) =>
    changed(
      { ...parts, resources: logged(parts.resources), rootKeys: logged(parts.rootKeys) },
      ...owners.map((name) => withKey(name)),
    );
}

export function limitedParts(): CompiledProject {
  const rate = { requestsPerSecond: limitedRate.perSecond, burst: limitedRate.burst };
  return project(
    "limited",
    withConfig({ uid: "limited" }),
    withUser(user),
    withKey("flood"),
    withResource("items"),
    withLimits({ rate: { caller: rate } }),
  );
}

export const itemsSchema = {
  type: "object",
  properties: { key: { type: "string" }, n: { type: "integer" } },
  required: ["key", "n"],
} as const;

export const shelfSchema = {
  type: "object",
  properties: { rank: { type: "integer" }, label: { type: "integer" } },
} as const;

/**
 * Objects that writers own and see no others of, with these indexes: the store keeps them by owner
 * as well.
 */
export function items(...indexes: readonly string[]): Modifier {
  return withResource("items", { scope: { read: "Own", write: "All" }, schema: itemsSchema, indexes });
}

/** Objects that pages are read of by everybody, with these indexes. */
export function shelf(...indexes: readonly string[]): Modifier {
  return withResource("shelf", { scope: { read: "All", write: "All" }, schema: shelfSchema, indexes });
}

/** What the root keys begin with. */
export const emptyRegisters = Object.fromEntries(writers.map((name) => [name, null]));
export const emptyLists = Object.fromEntries(listed.map((name) => [name, []]));
