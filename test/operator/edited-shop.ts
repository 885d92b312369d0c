// A shop with one of everything, for tests that edit it: an item that its user may not see, and a
// token from before the edit.

import type { Fleet } from "../support/fleet/fleet.ts";
import type { RunningReplica } from "../support/fleet/replica.ts";
import { declared, newTenant, secretOf, type Tenant } from "../support/kubernetes/declared.ts";

export const ada = `Basic ${Buffer.from("ada:correct horse").toString("base64")}`;

/** A shop with an item that ada may not see, and everything that the edits are about. */
export interface Shop extends Tenant {
  readonly admin: string;
  readonly web: string;
  /** ada's access token, issued before the edit. */
  readonly token: string;
  readonly refreshToken: string;
  /** An item that `admin` made. */
  readonly item: string;
}

export async function openShop(fleet: Fleet): Promise<Shop> {
  const tenant = await newTenant(fleet);
  const { namespace } = tenant;
  await tenant.create(
    secretOf("ada", { password: "correct horse", other: "battery staple" }),
    declared("Project", "shop"),
    declared("ApiResource", "items", {
      schema: { properties: { title: { type: "string" }, size: { type: "number" } } },
    }),
    declared("RootKey", "settings", { initialValue: { a: 1 } }),
    declared("ProjectUser", "ada", { access: "Write", passwordSecretRef: { name: "ada" } }),
    declared("ApiKey", "admin", { role: "Administrators", access: "Write" }),
    declared("ApiKey", "web", { access: "Write" }),
  );
  await fleet.ready(namespace);
  const [admin, web] = await Promise.all(
    ["admin", "web"].map(async (name) => `apikey ${await fleet.secret(namespace, `${name}-api-key`, "apiKey")}`),
  );
  const made = await firstOf(fleet).send(`/${namespace}/shop/api/items`, {
    method: "POST",
    body: { title: "Momo", size: 2 },
    as: admin as string,
  });
  const session = await login(fleet, namespace);
  return {
    ...tenant,
    admin: admin as string,
    web: web as string,
    token: `Bearer ${session.access_token}`,
    refreshToken: `Bearer ${session.refresh_token}`,
    item: `/api/items/${made.json<{ id: string }>().id}`,
  };
}

export function firstOf(fleet: Fleet): RunningReplica {
  const [replica] = fleet.replicas;
  if (replica === undefined) throw new Error("There is no replica");
  return replica;
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

async function login(fleet: Fleet, namespace: string): Promise<Tokens> {
  return (await firstOf(fleet).send(`/${namespace}/shop/sessions/`, { method: "POST", as: ada })).json<Tokens>();
}
