// What a caller's role and access level, and a resource's permission per operation, let a caller
// do.

import { beforeAll, describe, expect, it } from "vitest";
import type { Operation, Permission } from "../../core/config/types.ts";
import { login, make, outcome } from "../support/http/api-calls.ts";
import type { Reply } from "../support/http/http-client.ts";
import { apikey, bearer, project, withKey, withResource, withUser } from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const operations: readonly Operation[] = ["create", "read", "update", "delete"];
const permissions: readonly Permission[] = ["Anyone", "Authenticated", "Administrators", "Nobody"];

const callers = {
  nobody: undefined,
  "a reading user": bearer("reader"),
  "a writing user": bearer("writer"),
  "a reading administrator": bearer("auditor"),
  "a writing administrator": bearer("admin"),
  "a reading key": apikey("key-reader"),
  "a writing key": apikey("key-writer"),
  "an administrators' reading key": apikey("key-auditor"),
  "an administrators' writing key": apikey("key-admin"),
} as const;
type CallerName = keyof typeof callers;

/** Everything else is allowed to everybody, so that one operation alone decides. */
const open = { create: "Anyone", read: "Anyone", update: "Anyone", delete: "Anyone" } as const;
const resourceOf = (operation: Operation, permission: Permission) => `${operation}-${permission.toLowerCase()}`;

const shop = project(
  "shop",
  withUser("reader", { access: "Read" }),
  withUser("writer"),
  withUser("auditor", { access: "Read", role: "Administrators" }),
  withUser("admin", { role: "Administrators" }),
  withKey("key-reader", { access: "Read" }),
  withKey("key-writer"),
  withKey("key-auditor", { access: "Read", role: "Administrators" }),
  withKey("key-admin", { role: "Administrators" }),
  withResource("defaults", { scope: { read: "All", write: "All" } }),
  ...operations.flatMap((operation) =>
    permissions.map((permission) =>
      withResource(resourceOf(operation, permission), {
        access: { ...open, [operation]: permission },
        scope: { read: "All", write: "All" },
      }),
    ),
  ),
  withResource("half", {
    access: { create: "Anyone", read: "Administrators", update: "Authenticated", delete: "Authenticated" },
    scope: { read: "All", write: "All" },
  }),
);

describeServed("access", (serve) => {
  let served: Served;
  const tokens = new Map<string, string>();
  beforeAll(async () => {
    served = await serve(shop);
    for (const name of ["reader", "writer", "auditor", "admin"]) {
      tokens.set(bearer(name), bearer((await login(served, name)).access_token));
    }
  });

  const headerOf = (name: CallerName): { as?: string } => {
    const written = callers[name];
    return written === undefined ? {} : { as: tokens.get(written) ?? written };
  };

  /** Tries the operation on an object of its own; a list counts as a read, too. */
  async function attempt(name: CallerName, resource: string, operation: Operation): Promise<readonly Reply[]> {
    const as = headerOf(name);
    if (operation === "create") return [await served.send(`/api/${resource}`, { method: "POST", body: {}, ...as })];
    const id = await stored(resource);
    const path = `/api/${resource}/${id}`;
    if (operation === "read") {
      return [await served.send(path, as), await served.send(`/api/${resource}`, as)];
    }
    if (operation === "delete") return [await served.send(path, { method: "DELETE", ...as })];
    return [await served.send(path, { method: "PUT", body: { n: 1 }, ...as })];
  }

  async function stored(resource: string): Promise<string> {
    const as = tokens.get(bearer("admin"));
    return (await make(served, resource, {}, as)).id;
  }

  const readers: readonly CallerName[] = [
    "a reading user",
    "a reading key",
    "a reading administrator",
    "an administrators' reading key",
  ];
  const writers: readonly CallerName[] = [
    "a writing user",
    "a writing key",
    "a writing administrator",
    "an administrators' writing key",
  ];

  describe.each(readers)("Read, as %s has it,", (name) => {
    it("gets and lists", async () => {
      const replies = await attempt(name, "defaults", "read");
      expect(replies.map((reply) => reply.status)).toEqual([200, 200]);
    });

    it.each(["create", "update", "delete"] as const)("does not %s", async (operation) => {
      const [reply] = await attempt(name, "defaults", operation);
      expect(reply && outcome(reply)).toEqual([403, "insufficient_access"]);
    });
  });

  it.each(writers)("Write, as %s has it, creates, edits and deletes, gets and lists", async (name) => {
    for (const operation of operations) {
      for (const reply of await attempt(name, "defaults", operation)) expect(reply.status).toBeLessThan(300);
    }
  });

  it("without a credential ends with 401 and a challenge on every operation, by default", async () => {
    for (const operation of operations) {
      for (const reply of await attempt("nobody", "defaults", operation)) {
        expect(outcome(reply)).toEqual([401, "authentication_required"]);
        expect(reply.headers["www-authenticate"]).toMatch(/Bearer realm=.*ApiKey realm=/);
      }
    }
  });

  describe.each(operations)("an operation that is open to", (operation) => {
    const tryAll = async (permission: Permission) => {
      const results: Partial<Record<CallerName, number>> = {};
      for (const name of Object.keys(callers) as CallerName[]) {
        const replies = await attempt(name, resourceOf(operation, permission), operation);
        results[name] = Math.max(...replies.map((reply) => reply.status));
      }
      return results;
    };
    const success = { create: 201, read: 200, update: 200, delete: 204 }[operation];
    const forReaders = operation === "read" ? success : 403;

    it(`Anyone: ${operation} works for all, whatever their access`, async () => {
      const results = await tryAll("Anyone");
      expect(Object.values(results)).toEqual(Array(9).fill(success));
    });

    it(`Authenticated: ${operation} works for known callers with the access`, async () => {
      expect(await tryAll("Authenticated")).toEqual({
        nobody: 401,
        ...Object.fromEntries(readers.map((name) => [name, forReaders])),
        ...Object.fromEntries(writers.map((name) => [name, success])),
      });
    });

    it(`Administrators: ${operation} works for their role with the access`, async () => {
      expect(await tryAll("Administrators")).toEqual({
        nobody: 401,
        "a reading user": 403,
        "a writing user": 403,
        "a reading administrator": forReaders,
        "a writing administrator": success,
        "a reading key": 403,
        "a writing key": 403,
        "an administrators' reading key": forReaders,
        "an administrators' writing key": success,
      });
    });

    it(`Nobody: ${operation} is refused to all with 403, without a credential too`, async () => {
      expect(Object.values(await tryAll("Nobody"))).toEqual(Array(9).fill(403));
    });
  });

  it("for an update needs that for a read as well, because an update answers with the object", async () => {
    const { id } = await make(served, "half", { secret: 1 });
    const path = `/api/half/${id}`;
    const refused = await served.send(path, { method: "PUT", body: {}, ...headerOf("a writing user") });
    expect(outcome(refused)).toEqual([403, "insufficient_access"]);
    expect(refused.text).not.toContain("secret");
    const allowed = await served.send(path, { method: "PUT", body: {}, ...headerOf("a writing administrator") });
    expect(allowed.status).toBe(200);
  });

  it("is judged before the body is read: a refused caller may send anything", async () => {
    for (const body of ["{not json", Buffer.alloc(3_000_000, 0x5b), '{"id":1}']) {
      const anonymous = await served.send("/api/defaults", { method: "POST", body });
      expect(outcome(anonymous)).toEqual([401, "authentication_required"]);
      const reader = await served.send("/api/defaults", { method: "POST", body, ...headerOf("a reading key") });
      expect(outcome(reader)).toEqual([403, "insufficient_access"]);
    }
    expect((await served.send("/api/defaults", headerOf("a reading key"))).status).toBe(200);
  });

  it("is judged after the path: an unknown resource is 404 to everybody", async () => {
    for (const as of [undefined, "apikey wrong", apikey("key-reader")]) {
      const reply = await served.send("/api/nothing", { method: "POST", body: "{", ...(as !== undefined && { as }) });
      expect(outcome(reply)).toEqual([404, "unknown_resource"]);
    }
  });
});
