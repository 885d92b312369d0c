// The projects that benchmarks serve: `bench`, and its neighbour.

import type { CompiledProject } from "../../core/config/types.ts";
import { hashPassword } from "../../core/password/hash-password.ts";
import {
  changed,
  project,
  withConfig,
  withKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { bookIndexes, bookSchema } from "./subjects.ts";

const aDay = { accessTokenSeconds: 86_400, refreshTokenSeconds: 86_400 };

const catalogueSchema = {
  type: "object",
  properties: { edition: { type: "integer" }, books: { type: "array", items: bookSchema } },
};

const cartSchema = {
  ...bookSchema,
  properties: { ...(bookSchema.properties as object), until: { type: "string", format: "date-time" } },
};

const changes = { retentionSeconds: 3_600, maxEntries: 100_000 };
const openSchema = { type: "object" };

export async function benchProject(): Promise<CompiledProject> {
  const cheap = project(
    "bench",
    // One session lasts for all measurements.
    withConfig({ sessions: { ...aDay, maxPerUser: 100, maxPerProject: 10_000 } }),
    withKey("admin", { role: "Administrators" }),
    withKey("owner"),
    withUser("ann"),
    withResource("books", {
      schema: bookSchema,
      indexes: bookIndexes,
      scope: { read: "All" },
      maxObjects: 10_000_000,
    }),
    withResource("distinct", {
      schema: bookSchema,
      indexes: bookIndexes,
      scope: { read: "All" },
      maxObjects: 10_000_000,
      unique: [{ fields: [{ name: "title", path: ["title"] }] }],
    }),
    withResource("watched", { schema: openSchema, scope: { read: "All" }, maxObjects: 10_000_000, changes }),
    withResource("unwatched", { schema: openSchema, scope: { read: "All" }, maxObjects: 10_000_000 }),
    withResource("carts", {
      schema: cartSchema,
      indexes: bookIndexes,
      scope: { read: "All" },
      maxObjects: 10_000_000,
      expiry: { field: { name: "until", path: ["until"] } },
    }),
    withResource("notes", { schema: bookSchema, indexes: ["title"] }),
    withResource("catalogues", { schema: catalogueSchema }),
    withRootKey("kv", { initialValue: '{"theme":{"colour":"#334455"},"list":[]}' }),
  );
  // Builders hash cheaply, production does not.
  const ann = { ...cheap.users.get("ann"), passwordHash: await hashPassword("bench") } as never;
  return changed(cheap, (made) => ({ ...made, users: new Map([["ann", ann]]) }));
}

export function neighbourProject(): CompiledProject {
  return project(
    "neighbour",
    withKey("neighbour", { role: "Administrators" }),
    withResource("books", { schema: bookSchema, indexes: ["title"] }),
  );
}
