// What becomes of data, Secrets and URLs when objects are deleted, on a real fleet: nothing hangs,
// and nothing goes that was to stay.

import { beforeAll, describe, expect, it } from "vitest";
import { finalizer } from "../../operator/deletion/finalizers.ts";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { type Declared, declared, newTenant, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 60_000 };
let fleet: Fleet;

beforeAll(async () => {
  fleet = await sharedFleet();
});

async function shop(project: object, ...children: readonly Declared[]): Promise<Tenant> {
  const tenant = await newTenant(fleet);
  await tenant.create(declared("Project", "shop", project), ...children);
  for (const { kind, metadata } of children) await tenant.reports(kind as "ApiResource", metadata.name, "Ready");
  return tenant;
}

async function write(tenant: Tenant, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const reply = await fleet.replicas[0]?.send(`/${tenant.namespace}/shop/api/books`, {
      method: "POST",
      body: { index },
    });
    expect(reply?.status).toBe(201);
  }
}

/** How many objects every replica counts. */
async function counted(tenant: Tenant, count: number): Promise<void> {
  await tenant.everywhere(
    "/api/books",
    {},
    (reply) => expect(reply.json<{ count: number }>().count).toBe(count),
    within,
  );
}

const finalizersOf = async (tenant: Tenant, kind: string, name: string) =>
  (await tenant.get(kind, name)).metadata.finalizers ?? [];

describe.concurrent("deletionPolicy Retain", () => {
  it("holds no object back, and whoever declares the name again finds the data", async () => {
    const tenant = await shop({}, openBooks());
    await write(tenant, 3);
    expect(await finalizersOf(tenant, "ApiResource", "books")).toEqual([]);
    await tenant.remove("ApiResource", "books");
    await tenant.gone("ApiResource", "books");
    await tenant.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404));
    await tenant.create(openBooks());
    await tenant.reports("ApiResource", "books", "Ready");
    await counted(tenant, 3);
  });
});

describe.concurrent("deletionPolicy Delete", () => {
  it("purges the data, then lets the object go; its name begins empty", async () => {
    const tenant = await shop({}, openBooks({ deletionPolicy: "Delete" }));
    await write(tenant, 250);
    expect(await finalizersOf(tenant, "ApiResource", "books")).toEqual([finalizer]);
    await tenant.remove("ApiResource", "books");
    await tenant.gone("ApiResource", "books");
    await tenant.create(openBooks());
    await tenant.reports("ApiResource", "books", "Ready");
    await counted(tenant, 0);
    await eventually(async () => {
      const reasons = (await tenant.events("ApiResource", "books")).map(({ reason }) => reason);
      expect(reasons).toContain("DataPurged");
    }, within);
  });

  it("names a finalizer that the operator doesn't remove, also one that is called like its own", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(declared("Project", "shop"), openBooks({ deletionPolicy: "Delete" }));
    await tenant.reports("ApiResource", "books", "Ready");
    const planted = "team.jsonplane.io/purge";
    const { metadata } = await tenant.get("ApiResource", "books");
    await tenant.patch("ApiResource", "books", {
      metadata: { finalizers: [...(metadata.finalizers ?? []), planted] },
    });
    await tenant.remove("ApiResource", "books");
    await eventually(async () => {
      const { status } = await tenant.get("ApiResource", "books");
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      expect(ready?.message).toContain(`removes the finalizers ${planted}, which are not this operator's`);
    }, within);
    await tenant.patch("ApiResource", "books", { metadata: { finalizers: null } });
    await tenant.gone("ApiResource", "books");
  });

  it("of the Project purges its children's data, but for those that say Retain, and deletes no child", async () => {
    const kept = declared("RootKey", "kept", {
      initialValue: { a: 1 },
      deletionPolicy: "Retain",
      access: { update: "Anyone" },
    });
    const tenant = await shop({ deletionPolicy: "Delete", authentication: { policy: "Disabled" } }, openBooks(), kept);
    await write(tenant, 2);
    await fleet.replicas[0]?.send(`/${tenant.namespace}/shop/json/kept/a`, { method: "PUT", body: 2 });
    await tenant.remove("Project", "shop");
    await tenant.gone("Project", "shop");
    await tenant.reports("ApiResource", "books", "ProjectNotFound");
    await tenant.create(declared("Project", "shop", { authentication: { policy: "Disabled" } }));
    await tenant.reports("ApiResource", "books", "Ready");
    await counted(tenant, 0);
    await tenant.everywhere("/json/kept/a", {}, (reply) => expect(reply.json()).toBe(2));
  });

  it("follows the policy as it is edited: the finalizer comes and goes", async () => {
    const tenant = await shop({}, openBooks());
    await tenant.edit("Project", "shop", { deletionPolicy: "Delete" });
    await eventually(
      async () => expect(await finalizersOf(tenant, "ApiResource", "books")).toEqual([finalizer]),
      within,
    );
    await tenant.edit("ApiResource", "books", { deletionPolicy: "Retain" });
    await eventually(async () => expect(await finalizersOf(tenant, "ApiResource", "books")).toEqual([]), within);
    expect(await finalizersOf(tenant, "Project", "shop")).toEqual([finalizer]);
  });

  it("never hangs when a Project and its children are deleted together", async () => {
    const tenant = await shop(
      { deletionPolicy: "Delete" },
      openBooks(),
      declared("RootKey", "flags", { initialValue: {} }),
    );
    await write(tenant, 1);
    const names = ["rootkey/flags", "project/shop", "apiresource/books"];
    await fleet.api.kubectl(["delete", ...names, "--namespace", tenant.namespace, "--timeout=120s"]);
    await tenant.gone("Project", "shop");
  });

  it("goes with its namespace", async () => {
    const tenant = await shop({ deletionPolicy: "Delete" }, openBooks(), declared("ApiKey", "web"));
    await write(tenant, 1);
    await fleet.api.kubectl(["delete", "namespace", tenant.namespace, "--timeout=120s"]);
    await eventually(async () => {
      const reply = await fleet.replicas[0]?.send(`/${tenant.namespace}/shop/api/books`);
      expect(reply?.code).toBe("unknown_project");
    }, within);
  });
});

describe.concurrent("a deleted Project", () => {
  const login = async ({ namespace }: Tenant) => {
    const password = await fleet.secret(namespace, "ann-password", "password");
    const as = `Basic ${Buffer.from(`ann:${password}`).toString("base64")}`;
    // Its hash may come a moment after the Project.
    return await eventually(async () => {
      const reply = await fleet.replicas[0]?.send(`/${namespace}/shop/sessions/`, { method: "POST", as });
      expect(reply?.status).toBe(201);
      return reply?.json<{ session_id: string; access_token: string }>();
    }, within);
  };
  /** Ids of the sessions that Redis has of the project, the lists of them aside. */
  const sessionsLeft = async ({ namespace }: Tenant) => {
    const script = `return table.concat(redis.call('KEYS', ARGV[1]), ' ')`;
    const reply = await askRedis(fleet.redis.port, `EVAL "${script}" 0 jp:{${namespace}/shop}:session*`);
    return reply.split(/\s+/).flatMap((key) => key.split(":session:").slice(1));
  };

  it("takes its sessions along, whatever becomes of its data, and none of the next one's", async () => {
    const ann = declared("ProjectUser", "ann", { role: "Administrators", access: "Write" });
    const tenant = await shop({}, openBooks(), ann);
    const first = await login(tenant);
    await write(tenant, 1);
    await tenant.remove("Project", "shop");
    await eventually(async () => expect(await sessionsLeft(tenant)).toEqual([]), within);
    await tenant.create(declared("Project", "shop"));
    await tenant.reports("Project", "shop", "Ready");
    const second = await login(tenant);
    await fleet.api.kubectl(["delete", "project/shop", "--namespace", tenant.namespace, "--wait=true"]);
    await tenant.create(declared("Project", "shop"));
    await tenant.reports("Project", "shop", "Ready");
    const third = await login(tenant);
    await eventually(async () => expect(await sessionsLeft(tenant)).toEqual([third?.session_id]), within);
    for (const { access_token = "" } of [first ?? {}, second ?? {}]) {
      const reply = await fleet.replicas[0]?.send(`/${tenant.namespace}/shop/sessions`, {
        as: `Bearer ${access_token}`,
      });
      expect(reply?.status).toBe(401);
    }
    await counted(tenant, 1);
  });
});

describe.concurrent("a deleted ApiKey", () => {
  it("is refused by every replica, and its Secrets are swept, while a foreign Secret stays", async () => {
    const tenant = await shop({}, openBooks({ access: { read: "Authenticated" } }), declared("ApiKey", "web"));
    await tenant.create({ apiVersion: "v1", kind: "Secret", metadata: { name: "web-notes" } });
    const key = await fleet.secret(tenant.namespace, "web-api-key", "apiKey");
    const as = `apikey ${key}`;
    await tenant.everywhere("/api/books", { as }, (reply) => expect(reply.status).toBe(200));
    await tenant.remove("ApiKey", "web");
    await tenant.everywhere("/api/books", { as }, (reply) => expect(reply.status).toBe(401));
    await tenant.gone("Secret", "web-api-key");
    expect((await tenant.get("Secret", "web-notes")).metadata.name).toBe("web-notes");
  });
});
