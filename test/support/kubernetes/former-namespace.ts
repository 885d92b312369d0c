// A namespace that came back: a Project `shop` of an earlier one of its name left an object of the
// resource `books` behind, in Redis.

import { expect } from "vitest";
import { firstOf } from "../../operator/edited-shop.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { eventually } from "../time/eventually.ts";
import { endNamespace, ensureNamespace } from "./api-server/api-server-objects.ts";
import { declared, newTenant, openBooks, type Tenant } from "./declared.ts";

/** Needs the namespace controller. */
export async function namespaceThatCameBack(fleet: Fleet): Promise<Tenant> {
  const tenant = await newTenant(fleet);
  await tenant.create(declared("Project", "shop"), openBooks());
  await tenant.reports("ApiResource", "books", "Ready");
  await eventually(async () => {
    const reply = await firstOf(fleet).send(`/${tenant.namespace}/shop/api/books`, { method: "POST", body: {} });
    expect(reply.status).toBe(201);
  });
  await endNamespace(fleet.api, tenant.namespace);
  await tenant.everywhere("/api/books", {}, (reply) => expect(reply.code).toBe("unknown_project"));
  await ensureNamespace(fleet.api, tenant.namespace);
  return tenant;
}

/** Every replica comes to count as many. */
export async function bookCount(tenant: Tenant, count: number): Promise<void> {
  await tenant.everywhere("/api/books", {}, (reply) => expect(reply.json<{ count: number }>().count).toBe(count));
}
