// What becomes of data, Secrets and URLs when objects are deleted, on a real fleet: nothing hangs, and nothing goes that was to
// stay.

import { beforeAll, describe, expect, it } from "vitest";
import { finalizer } from "../../operator/model/finalizer.ts";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { type Declared, declared, newPlace, openBooks, type Place } from "../support/kubernetes/declared.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 60_000 };
let fleet: Fleet;

beforeAll(async () => {
  fleet = await sharedFleet();
});

async function shop(project: object, ...children: readonly Declared[]): Promise<Place> {
  const place = await newPlace(fleet);
  await place.create(declared("Project", "shop", project), ...children);
  for (const { kind, metadata } of children) await place.said(kind as "ApiResource", metadata.name, "Ready");
  return place;
}

async function write(place: Place, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const reply = await fleet.replicas[0]?.send(`/${place.namespace}/shop/api/books`, {
      method: "POST",
      body: { index },
    });
    expect(reply?.status).toBe(201);
  }
}

/** How many objects every replica counts. */
async function counted(place: Place, count: number): Promise<void> {
  await place.everywhere(
    "/api/books",
    {},
    (reply) => expect(reply.json<{ count: number }>().count).toBe(count),
    within,
  );
}

const finalizersOf = async (place: Place, kind: string, name: string) =>
  (await place.get(kind, name)).metadata.finalizers ?? [];

describe.concurrent("deletionPolicy Retain", () => {
  it("holds no object back, and whoever declares the name again finds the data", async () => {
    const place = await shop({}, openBooks());
    await write(place, 3);
    expect(await finalizersOf(place, "ApiResource", "books")).toEqual([]);
    await place.remove("ApiResource", "books");
    await place.gone("ApiResource", "books");
    await place.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404));
    await place.create(openBooks());
    await place.said("ApiResource", "books", "Ready");
    await counted(place, 3);
  });
});

describe.concurrent("deletionPolicy Delete", () => {
  it("purges the data, then lets the object go; its name begins empty", async () => {
    const place = await shop({}, openBooks({ deletionPolicy: "Delete" }));
    await write(place, 250);
    expect(await finalizersOf(place, "ApiResource", "books")).toEqual([finalizer]);
    await place.remove("ApiResource", "books");
    await place.gone("ApiResource", "books");
    await place.create(openBooks());
    await place.said("ApiResource", "books", "Ready");
    await counted(place, 0);
    await eventually(async () => {
      const reasons = (await place.events("ApiResource", "books")).map(({ reason }) => reason);
      expect(reasons).toContain("DataPurged");
    }, within);
  });

  it("of the Project purges its children's data, but for those that say Retain, and deletes no child", async () => {
    const kept = declared("RootKey", "kept", {
      initialValue: { a: 1 },
      deletionPolicy: "Retain",
      access: { update: "Anyone" },
    });
    const place = await shop({ deletionPolicy: "Delete", authentication: { policy: "Disabled" } }, openBooks(), kept);
    await write(place, 2);
    await fleet.replicas[0]?.send(`/${place.namespace}/shop/json/kept/a`, { method: "PUT", body: 2 });
    await place.remove("Project", "shop");
    await place.gone("Project", "shop");
    await place.said("ApiResource", "books", "ProjectNotFound");
    await place.create(declared("Project", "shop", { authentication: { policy: "Disabled" } }));
    await place.said("ApiResource", "books", "Ready");
    await counted(place, 0);
    await place.everywhere("/json/kept/a", {}, (reply) => expect(reply.json()).toBe(2));
  });

  it("follows the policy as it is edited: the finalizer comes and goes", async () => {
    const place = await shop({}, openBooks());
    await place.edit("Project", "shop", { deletionPolicy: "Delete" });
    await eventually(
      async () => expect(await finalizersOf(place, "ApiResource", "books")).toEqual([finalizer]),
      within,
    );
    await place.edit("ApiResource", "books", { deletionPolicy: "Retain" });
    await eventually(async () => expect(await finalizersOf(place, "ApiResource", "books")).toEqual([]), within);
    expect(await finalizersOf(place, "Project", "shop")).toEqual([finalizer]);
  });

  it("never hangs when a Project and its children are deleted together", async () => {
    const place = await shop(
      { deletionPolicy: "Delete" },
      openBooks(),
      declared("RootKey", "flags", { initialValue: {} }),
    );
    await write(place, 1);
    const names = ["rootkey/flags", "project/shop", "apiresource/books"];
    await fleet.api.kubectl(["delete", ...names, "--namespace", place.namespace, "--timeout=120s"]);
    await place.gone("Project", "shop");
  });

  it("goes with its namespace", async () => {
    const place = await shop({ deletionPolicy: "Delete" }, openBooks(), declared("ApiKey", "web"));
    await write(place, 1);
    await fleet.api.kubectl(["delete", "namespace", place.namespace, "--timeout=120s"]);
    await eventually(async () => {
      const reply = await fleet.replicas[0]?.send(`/${place.namespace}/shop/api/books`);
      expect(reply?.code).toBe("unknown_project");
    }, within);
  });
});

describe.concurrent("a deleted Project", () => {
  const login = async ({ namespace }: Place) => {
    const password = await fleet.secret(namespace, "ann-password", "password");
    const as = `Basic ${Buffer.from(`ann:${password}`).toString("base64")}`;
    const reply = await fleet.replicas[0]?.send(`/${namespace}/shop/sessions/`, { method: "POST", as });
    expect(reply?.status).toBe(201);
    return reply?.json<{ session_id: string; access_token: string }>();
  };
  /** Ids of the sessions that Redis has of the project, the lists of them aside. */
  const sessionsLeft = async ({ namespace }: Place) => {
    const script = `return table.concat(redis.call('KEYS', ARGV[1]), ' ')`;
    const reply = await askRedis(fleet.redis.port, `EVAL "${script}" 0 jp:{${namespace}/shop}:session*`);
    return reply.split(/\s+/).flatMap((key) => key.split(":session:").slice(1));
  };

  it("takes its sessions along, whatever becomes of its data, and none of the next one's", async () => {
    const ann = declared("ProjectUser", "ann", { role: "Administrators", access: "Write" });
    const place = await shop({}, openBooks(), ann);
    const first = await login(place);
    await write(place, 1);
    await place.remove("Project", "shop");
    await eventually(async () => expect(await sessionsLeft(place)).toEqual([]), within);
    await place.create(declared("Project", "shop"));
    await place.said("Project", "shop", "Ready");
    const second = await login(place);
    await fleet.api.kubectl(["delete", "project/shop", "--namespace", place.namespace, "--wait=true"]);
    await place.create(declared("Project", "shop"));
    await place.said("Project", "shop", "Ready");
    const third = await login(place);
    await eventually(async () => expect(await sessionsLeft(place)).toEqual([third?.session_id]), within);
    for (const { access_token = "" } of [first ?? {}, second ?? {}]) {
      const reply = await fleet.replicas[0]?.send(`/${place.namespace}/shop/sessions`, {
        as: `Bearer ${access_token}`,
      });
      expect(reply?.status).toBe(401);
    }
    await counted(place, 1);
  });
});

describe.concurrent("a deleted ApiKey", () => {
  it("is refused by every replica, and its Secrets are swept, while a foreign Secret stays", async () => {
    const place = await shop({}, openBooks({ access: { read: "Authenticated" } }), declared("ApiKey", "web"));
    await place.create({ apiVersion: "v1", kind: "Secret", metadata: { name: "web-notes" } });
    const key = await fleet.secret(place.namespace, "web-api-key", "apiKey");
    const as = `apikey ${key}`;
    await place.everywhere("/api/books", { as }, (reply) => expect(reply.status).toBe(200));
    await place.remove("ApiKey", "web");
    await place.everywhere("/api/books", { as }, (reply) => expect(reply.status).toBe(401));
    await place.gone("Secret", "web-api-key");
    await place.gone("Secret", "web-key-hash");
    expect((await place.get("Secret", "web-notes")).metadata.name).toBe("web-notes");
  });
});
