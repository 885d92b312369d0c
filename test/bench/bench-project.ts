// The projects that benchmarks serve: `bench`, and a neighbour.

import type { ProjectParts } from "../../core/config/types.ts";
import { hashPassword } from "../../core/password/hash-password.ts";
import {
  changed,
  type Modifier,
  project,
  withConfig,
  withKey,
  withLimits,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { bookIndexes, bookSchema } from "./subjects.ts";

/** growth.ts goes past the default. */
const maxObjects = 10_000_000;
/** Of the user `ann`. */
export const annsPassword = "bench";
/** Resources of the same shape, each in a slot of its own of a Redis Cluster. */
export const collections: readonly string[] = Array.from({ length: 9 }, (_, at) => `shelf-${at}`);

const aDay = { accessTokenSeconds: 86_400, refreshTokenSeconds: 86_400 };

const catalogueSchema = {
  type: "object",
  properties: { edition: { type: "integer" }, books: { type: "array", items: bookSchema } },
};

export async function benchProject(): Promise<ProjectParts> {
  const cheap = project(
    "bench",
    // A session is opened at the beginning, and used until the end.
    withConfig({ sessions: { ...aDay, maxPerUser: 100, maxPerProject: 10_000 } }),
    withKey("admin", { role: "Administrators" }),
    withKey("owner"),
    withUser("ann"),
    withBooks(bookIndexes),
    withResource("notes", { schema: bookSchema, indexes: ["title"] }),
    withResource("catalogues", { schema: catalogueSchema }),
    withResource("forms", { schema: catalogueSchema, access: { create: "Anyone" } }),
    // A form of one address is to be measured for longer than the default lasts.
    withLimits({ anonymousWritesPerMinute: 1_000_000 }),
    ...collections.map((name) =>
      withResource(name, { schema: bookSchema, indexes: bookIndexes, scope: { read: "All" } }),
    ),
    withRootKey("kv", { initialValue: '{"theme":{"colour":"#334455"},"list":[]}' }),
  );
  // Builders hash cheaply; a login is measured with what production uses.
  const ann = { ...cheap.users.get("ann"), passwordHash: await hashPassword(annsPassword) } as never;
  return changed(cheap, (made) => ({ ...made, users: new Map([["ann", ann]]) }));
}

export function withBooks(indexes: readonly string[]): Modifier {
  return withResource("books", { schema: bookSchema, indexes, scope: { read: "All" }, maxObjects });
}

export function neighbourProject(): ProjectParts {
  return project(
    "neighbour",
    withKey("neighbour", { role: "Administrators" }),
    withResource("books", { schema: bookSchema, indexes: ["title"] }),
  );
}
