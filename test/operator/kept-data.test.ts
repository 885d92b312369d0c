// Stored data that are kept although nobody serves them can be found, and deleted by the command.
// Nothing else is deleted with them, and nothing that is kept later.

import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { declared, newTenant, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { bookCount, namespaceThatCameBack } from "../support/kubernetes/former-namespace.ts";
import { runProgram } from "../support/process/run-program.ts";
import { eventually } from "../support/time/eventually.ts";
import { firstOf } from "./edited-shop.ts";

const within = { withinMs: 60_000 };
let fleet: Fleet;
let redis: Redis;
let kubeconfig: string;

beforeAll(async () => {
  fleet = await sharedFleet();
  redis = new Redis(fleet.redis.url);
  kubeconfig = await fleet.api.kubeconfig();
});
afterAll(() => redis?.disconnect());

const orphans = (...words: readonly string[]) =>
  runProgram(["data", "orphans", "--redis", fleet.redis.url, "--kubeconfig", kubeconfig, ...words]);

interface Listed {
  readonly project: string;
  readonly kind: string;
  readonly name: string;
  readonly keptSince: string | null;
  readonly because: string;
  readonly state: string;
}

async function listed({ namespace }: Tenant): Promise<readonly Listed[]> {
  const { code, out, error } = await orphans("--namespace", namespace, "--output", "json");
  expect([code, error]).toEqual([0, expect.any(String)]);
  const lines = out.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** How many objects of the resource Redis holds, whoever serves them. */
const stored = ({ namespace }: Tenant, resource: string) => redis.zcard(`jp:{${namespace}/shop/${resource}}:ids`);

const films = declared("ApiResource", "films", { ...(openBooks().spec as object) });
const flags = declared("RootKey", "flags", { initialValue: { on: true }, access: { read: "Anyone" } });

async function add({ namespace }: Tenant, resource: string): Promise<void> {
  await eventually(async () => {
    const sent = { method: "POST", body: { title: "Emma" } };
    expect((await firstOf(fleet).send(`/${namespace}/shop/api/${resource}`, sent)).status).toBe(201);
  }, within);
}

/**
 * A Project whose ApiResources `books` and `films` have one object each, and both are gone: their
 * data are kept.
 */
async function shopThatKeeps(): Promise<Tenant> {
  const tenant = await newTenant(fleet);
  await tenant.create(declared("Project", "shop"), openBooks(), films, flags);
  await fleet.ready(tenant.namespace);
  await add(tenant, "books");
  await add(tenant, "films");
  await remove(tenant, "books", "films");
  return tenant;
}

async function remove(tenant: Tenant, ...names: readonly string[]): Promise<void> {
  for (const name of names) await tenant.remove("ApiResource", name);
  for (const name of names) await tenant.gone("ApiResource", name);
  await tenant.everywhere(`/api/${names[0]}`, {}, (reply) => expect(reply.status).toBe(404));
}

describe.concurrent("what is kept although nobody serves it", () => {
  it("is listed with since when, and goes by its name alone", async () => {
    const begun = Date.now();
    const tenant = await shopThatKeeps();
    const books = await eventually(async () => {
      const kept = await listed(tenant);
      expect(kept.map(({ kind, name, state }) => [kind, name, state])).toEqual([
        ["ApiResource", "books", "Kept"],
        ["ApiResource", "films", "Kept"],
      ]);
      return kept[0];
    }, within);
    expect(books?.because).toBe("ObjectDeleted");
    expect(Date.parse(books?.keptSince ?? "")).toBeGreaterThanOrEqual(begun);
    expect(Date.parse(books?.keptSince ?? "")).toBeLessThanOrEqual(Date.now());
    const table = await orphans("--namespace", tenant.namespace, "--project", "shop");
    expect(table.out).toMatch(
      new RegExp(`^${tenant.namespace}/shop/ApiResource/books +${books?.keptSince} +ObjectDeleted +Kept$`, "m"),
    );
    const metrics = await fleet.operators[0]?.metrics();
    expect(Number(/^jsonplane_retained_data (\d+)$/m.exec(metrics ?? "")?.[1])).toBeGreaterThanOrEqual(2);

    const deleted = await orphans("--delete", `${tenant.namespace}/shop/ApiResource/books`);
    expect(deleted).toEqual({ code: 0, out: `${tenant.namespace}/shop/ApiResource/books: deleted\n`, error: "" });
    expect([await stored(tenant, "books"), await stored(tenant, "films")]).toEqual([0, 1]);
    expect((await listed(tenant)).map(({ name }) => name)).toEqual(["films"]);
    await tenant.everywhere("/json/flags", {}, (reply) => expect(reply.json()).toEqual({ on: true }));
    await eventually(async () => {
      const audited = fleet.operators[0]
        ?.log()
        .split("\n")
        .filter((line) => line.includes(`"namespace":"${tenant.namespace}"`));
      const requested = audited?.find((line) => line.includes("Deletion of kept data requested")) ?? "{}";
      expect(JSON.parse(requested)).toMatchObject({
        audit: true,
        name: "books",
        why: "Annotation of the key ring's Secret",
      });
    });
  });

  it("is not deleted while somebody only asks what would be, or names what is served", async () => {
    const tenant = await shopThatKeeps();
    const asked = await orphans("--delete", "--all", "--namespace", tenant.namespace);
    expect(asked.code).toBe(2);
    expect(asked.out).toContain(`${tenant.namespace}/shop/ApiResource/books`);
    expect(asked.error).toContain("Nothing was deleted");
    const served = await orphans("--delete", `${tenant.namespace}/shop/RootKey/flags`, `${tenant.namespace}/shop`);
    expect(served).toMatchObject({ code: 1, out: "" });
    expect(served.error).toContain(`Nothing is kept under ${tenant.namespace}/shop/RootKey/flags; nothing was deleted`);
    expect([await stored(tenant, "books"), await stored(tenant, "films")]).toEqual([1, 1]);
    const all = await orphans("--delete", "--all", "--yes", "--namespace", tenant.namespace);
    expect(all.code).toBe(0);
    expect([await stored(tenant, "books"), await stored(tenant, "films")]).toEqual([0, 0]);
    await tenant.everywhere("/json/flags", {}, (reply) => expect(reply.json()).toEqual({ on: true }));
  });

  it("of a Project that is gone is listed and deleted; what an object still names waits until that is gone, too", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(declared("Project", "shop"), openBooks(), films);
    await fleet.ready(tenant.namespace);
    await add(tenant, "books");
    await add(tenant, "films");
    await remove(tenant, "films");
    await tenant.remove("Project", "shop");
    await tenant.gone("Project", "shop");
    await tenant.reports("ApiResource", "books", "ProjectNotFound", within);
    const states = (await listed(tenant)).map(({ name, because, state }) => [name, because, state]);
    expect(states).toEqual([
      ["books", "ProjectDeleted", "Guarded"],
      ["films", "ProjectDeleted", "Kept"],
    ]);
    const whole = await orphans("--delete", `${tenant.namespace}/shop`);
    expect(whole.code).toBe(1);
    expect(whole.error).toContain("the ApiResource still exists: delete it first");
    expect([await stored(tenant, "books"), await stored(tenant, "films")]).toEqual([1, 1]);
    await tenant.remove("ApiResource", "books");
    await eventually(
      async () => expect((await listed(tenant)).map(({ state }) => state)).toEqual(["Kept", "Kept"]),
      within,
    );
    expect((await orphans("--delete", `${tenant.namespace}/shop`)).code).toBe(0);
    expect([await stored(tenant, "books"), await stored(tenant, "films")]).toEqual([0, 0]);
    expect(await listed(tenant)).toEqual([]);
  });

  it("of an earlier namespace is deleted without being adopted, and the new one begins empty", async () => {
    const tenant = await namespaceThatCameBack(fleet);
    await tenant.create(declared("Project", "shop"), openBooks());
    await tenant.reports("Project", "shop", "RetainedDataFound", within);
    expect((await listed(tenant)).map(({ because, state }) => [because, state])).toEqual([
      ["EarlierNamespace", "Kept"],
    ]);
    const books = `${tenant.namespace}/shop/ApiResource/books`;
    expect(await orphans("--delete", books)).toEqual({ code: 0, out: `${books}: deleted\n`, error: "" });
    await tenant.reports("ApiResource", "books", "Ready", within);
    await bookCount(tenant, 0);
  });

  it("is not listed where Redis or the API server is away, or is another installation's: the command says so", async () => {
    const noRedis = await runProgram(["data", "orphans", "--redis", "redis://127.0.0.1:1", "--kubeconfig", kubeconfig]);
    expect(noRedis).toMatchObject({
      code: 1,
      out: "",
      error: expect.stringContaining("Redis at 127.0.0.1:1 can't be reached"),
    });
    const noApi = await runProgram(["data", "orphans", "--redis", fleet.redis.url, "--kubeconfig", "/nowhere/config"]);
    expect(noApi).toMatchObject({ code: 1, error: expect.stringContaining("There is no way to an API server") });
    const other = await orphans("--operator-namespace", "other");
    expect(other).toMatchObject({
      code: 1,
      error: expect.stringContaining("There is no Secret other/jsonplane-keyring"),
    });
  });
});
