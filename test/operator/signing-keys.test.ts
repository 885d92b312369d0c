// The signing keys of a Project are rotated under logins: no token is refused that was given, by
// whatever replica.

import { beforeAll, describe, expect, it } from "vitest";
import type { Fleet } from "../support/fleet/fleet.ts";
import type { RunningReplica } from "../support/fleet/replica.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { declared, newTenant, type Tenant } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 60_000 };
let fleet: Fleet;
let tenant: Tenant;
let basic = "";

beforeAll(async () => {
  fleet = await sharedFleet();
  tenant = await newTenant(fleet);
  await tenant.create(
    declared("Project", "shop"),
    declared("ApiResource", "notes", { schema: { type: "object" } }),
    declared("ProjectUser", "ann"),
  );
  await tenant.reports("ProjectUser", "ann", "Ready");
  await tenant.reports("ApiResource", "notes", "Ready");
  const password = await fleet.secret(tenant.namespace, "ann-password", "password");
  basic = `Basic ${Buffer.from(`ann:${password}`).toString("base64")}`;
});

async function login(replica: RunningReplica | undefined): Promise<string> {
  const reply = await replica?.send(`/${tenant.namespace}/shop/sessions`, { method: "POST", as: basic });
  expect(reply?.status).toBe(201);
  return reply?.json<{ access_token: string }>().access_token ?? "";
}

async function isAccepted(replica: RunningReplica | undefined, token: string): Promise<void> {
  const reply = await replica?.send(`/${tenant.namespace}/shop/api/notes`, { as: `bearer ${token}` });
  expect(reply?.status).toBe(200);
}

function kidOf(token: string): string {
  return (JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()) as { kid: string }).kid;
}

async function knownKids(replica: RunningReplica): Promise<readonly string[]> {
  const reply = await replica.send(`/${tenant.namespace}/shop/.well-known/jwks.json`);
  return reply.json<{ keys: readonly { kid: string }[] }>().keys.map(({ kid }) => kid);
}

describe("rotating a Project's signing key", () => {
  it("a new key signs once every replica knows it, a former one goes on verifying, and no token is refused meanwhile", async () => {
    const [first, second] = fleet.replicas;
    const former = await login(first);
    let going = true;
    const kids = new Set<string>();
    const traffic = (async () => {
      for (let turn = 0; going; turn += 1) {
        const [here, there] = turn % 2 === 0 ? [first, second] : [second, first];
        const token = await login(here);
        kids.add(kidOf(token));
        await isAccepted(there, token);
        await isAccepted(there, former);
      }
    })();
    traffic.catch(() => undefined);
    await tenant.patch("Project", "shop", { metadata: { annotations: { "jsonplane.io/rotate-signing-key": "1" } } });
    await eventually(() => expect(kids.size).toBe(2), within);
    await eventually(async () => expect(kidOf(await login(first))).not.toBe(kidOf(former)), within);
    going = false;
    await traffic;
    const now = kidOf(await login(second));
    for (const replica of fleet.replicas)
      expect((await knownKids(replica)).toSorted()).toEqual([kidOf(former), now].toSorted());
    await isAccepted(second, former);
    await eventually(async () => {
      const reasons = (await tenant.events("Project", "shop")).map(({ reason }) => reason);
      expect(reasons).toEqual(expect.arrayContaining(["SigningKeyAdded", "SigningKeyRotated"]));
    }, within);
  });
});
