// A Project begins with a copy of another one's data, from the manifests to the status, on a fleet.

import { beforeAll, expect, test } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { fieldsOf } from "../../core/redis/reply.ts";
import type { Fleet } from "../support/fleet/fleet.ts";
import { openRedisClient } from "../support/fleet/publishing.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import type { Reply } from "../support/http/http-client.ts";
import {
  conditionsOf,
  type Declared,
  declared,
  secretOf,
  type Tenant,
  tenantAt,
} from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";
import { firstOf } from "./edited-shop.ts";

let fleet: Fleet;

beforeAll(async () => {
  fleet = await sharedFleet();
});

const patience = { withinMs: 60_000, everyMs: 100 };
const properties = { title: { type: "string" }, email: { type: "string" }, price: { type: "number" } };

/** The children of one Project, whose objects need names of their own. */
function children(project: string, schema: object = { type: "object", properties }): readonly Declared[] {
  const of = { projectRef: { name: project } };
  const user = (username: string) =>
    declared("ProjectUser", `${project}-${username}`, {
      ...of,
      username,
      access: "Write",
      passwordSecretRef: { name: "password" },
    });
  return [
    declared("ApiResource", `${project}-notes`, { ...of, resourceName: "notes", schema }),
    declared("RootKey", `${project}-settings`, { ...of, key: "settings" }),
    ...["ada", "bob"].map(user),
  ];
}

const dataSource = { resources: ["notes"], rootKeys: ["settings"], omit: ["notes.email"] };
const preview = (more: object = {}) =>
  declared("Project", "preview", { dataSourceRef: { kind: "Project", name: "shop" }, dataSource, ...more });

interface Api {
  /** As a user of the Project, or as nobody. */
  send(project: string, path: string, sent?: { method?: string; user?: string; body?: unknown }): Promise<Reply>;
}

function apiOf({ namespace }: Tenant): Api {
  const tokens = new Map<string, string>();
  const loggedIn = async (project: string, user: string): Promise<string> => {
    const basic = `Basic ${Buffer.from(`${user}:correct horse`).toString("base64")}`;
    const session = await firstOf(fleet).send(`/${namespace}/${project}/sessions/`, { method: "POST", as: basic });
    return `Bearer ${session.json<{ access_token: string }>().access_token}`;
  };
  return {
    async send(project, path, { user = "ada", ...sent } = {}) {
      const key = `${project}/${user}`;
      const token = tokens.get(key) ?? (await loggedIn(project, user));
      tokens.set(key, token);
      return await firstOf(fleet).send(`/${namespace}/${project}${path}`, { ...sent, as: token });
    },
  };
}

async function openShop(spec: object = {}): Promise<Tenant> {
  const tenant = tenantAt(fleet, await fleet.api.namespace());
  await tenant.create(
    secretOf("password", { password: "correct horse" }),
    declared("Project", "shop", spec),
    ...children("shop"),
  );
  await fleet.ready(tenant.namespace);
  return tenant;
}

const titles = async (api: Api, project: string, user: string) => {
  const list = await api.send(project, "/api/notes?_sort=title", { user });
  return list.json<{ items: { title: string }[] }>().items.map(({ title }) => title);
};

test("once the other Project agrees, its data are there, masked and with their owners, while requests are served; and never a second time", async () => {
  const tenant = await openShop();
  const api = apiOf(tenant);
  const add = (user: string, body: object) => api.send("shop", "/api/notes", { method: "POST", user, body });
  const first = (await add("ada", { title: "a", email: "ada@example.org" })).json<{ id: string }>();
  await add("ada", { title: "b", price: 7 });
  await add("bob", { title: "c" });
  await api.send("shop", "/json/settings/open", { method: "PUT", body: true });

  await tenant.create(preview(), ...children("preview"));
  const refused = await tenant.reports("Project", "preview", "CopyNotAllowed", patience);
  expect(refused).toMatchObject({
    Accepted: { status: "True" },
    Available: { status: "True" },
    Populated: { status: "False", message: expect.stringContaining("spec.copies.allow to Namespace") },
    Stalled: { status: "True" },
  });
  await tenant.reports("ProjectUser", "preview-ada", "Ready", patience);
  expect((await api.send("preview", "/api/notes")).status).toBe(200);

  await tenant.edit("Project", "shop", { copies: { allow: "Namespace" } });
  await tenant.reports("Project", "preview", "Ready", patience);
  const { status } = await tenant.get("Project", "preview");
  expect(status).toMatchObject({ dataSource: { copied: 4, refused: 0, completedAt: expect.any(String) } });
  expect(conditionsOf(await tenant.get("Project", "preview"))["Populated"]).toMatchObject({
    status: "True",
    reason: "Copied",
  });
  expect([await titles(api, "preview", "ada"), await titles(api, "preview", "bob")]).toEqual([["a", "b"], ["c"]]);
  const copied = await api.send("preview", `/api/notes/${first.id}`);
  expect(Object.keys(copied.json<object>())).toEqual(["id", "title", "_metadata"]);
  expect((await api.send("preview", "/json/settings")).json()).toEqual({ open: true });
  await eventually(async () => {
    const events = (await tenant.events("Project", "preview")).filter(({ reason }) => reason === "DataCopied");
    expect(events.map(({ note }) => note)).toEqual(['Objects and values copied from Project "shop": 4']);
  }, patience);

  // A status that a restored backup lacks.
  await api.send("preview", `/api/notes/${first.id}`, { method: "DELETE" });
  await tenant.patch("Project", "preview/status", { status: { conditions: [], dataSource: null } });
  await tenant.edit("Project", "preview", { openapi: "Nobody" });
  await eventually(async () => {
    const object = await tenant.get("Project", "preview");
    expect(conditionsOf(object)["Populated"]).toMatchObject({ status: "True" });
    expect(object.status).toMatchObject({ dataSource: { copied: 4 } });
  }, patience);
  expect(await titles(api, "preview", "ada")).toEqual(["b"]);
  await expect(tenant.edit("Project", "preview", { dataSource: { resources: ["others"] } })).rejects.toThrow(
    "can't change",
  );
});

test("what does not fit its schema is told; where there is no room it waits; consent that is withdrawn ends it, and so does deletion", async () => {
  const tenant = await openShop({ copies: { allow: "Namespace" } });
  const api = apiOf(tenant);
  const add = (body: object) => api.send("shop", "/api/notes", { method: "POST", body });
  const ids: string[] = [];
  for (const price of [-1, 2, 3]) ids.push((await add({ price })).json<{ id: string }>().id);

  const stricter = { type: "object", properties: { ...properties, price: { type: "number", minimum: 0 } } };
  await tenant.create(preview({ limits: { quota: { objects: 1 } } }), ...children("preview", stricter));
  const full = await tenant.reports("Project", "preview", "QuotaExceeded", patience);
  expect(full["Populated"]?.message).toContain("raise spec.limits.quota");
  await tenant.edit("Project", "shop", { copies: { allow: "Nobody" } });
  await tenant.reports("Project", "preview", "CopyNotAllowed", patience);
  // It stays deleted when the copy goes on.
  await tenant.reports("ProjectUser", "preview-ada", "Ready", patience);
  await api.send("preview", `/api/notes/${ids[1]}`, { method: "DELETE" });
  await tenant.edit("Project", "preview", { limits: { quota: { objects: 9 } } });
  await tenant.edit("Project", "shop", { copies: { allow: "Namespace" } });
  await tenant.reports("Project", "preview", "Ready", patience);
  const object = await tenant.get("Project", "preview");
  expect(conditionsOf(object)["Populated"]).toMatchObject({ status: "True", reason: "CopiedInPart" });
  expect(object.status).toMatchObject({
    dataSource: {
      copied: 2,
      refused: 1,
      examples: [{ resource: "notes", id: ids[0], pointer: "/price", reason: "minimum" }],
    },
  });

  const left = await api.send("preview", "/api/notes");
  expect(left.json<{ items: { id: string }[] }>().items.map(({ id }) => id)).toEqual([ids[2]]);

  // Another one that can't end.
  const second = { ...preview({ limits: { quota: { objects: 1 } } }), metadata: { name: "second" } };
  await tenant.create(second, ...children("second"));
  await tenant.reports("Project", "second", "QuotaExceeded", patience);
  const redisClient = await openRedisClient(fleet.redis.url);
  const ordered = async () => {
    const orders = fieldsOf(await redisClient.read(configKeys.orders, "HGETALL", configKeys.orders));
    return [...orders.values()].filter((text) => text.includes(`"namespace":"${tenant.namespace}"`)).length;
  };
  await eventually(async () => expect(await ordered()).toBe(1), patience);
  await tenant.remove("Project", "second");
  await eventually(async () => expect(await ordered()).toBe(0), patience);
  redisClient.disconnect();
});
