// Objects that are deleted and made again under their names, on a fleet: what let in before
// lets nobody in any more, whether an operator saw the end of the former ones or not.

import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { type GuardedShop, openGuardedShop } from "../support/fleet/guarded-shop.ts";
import { declared } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 60_000 };
const web = declared("ApiKey", "web", { access: "Write" });
const ann = declared("ProjectUser", "ann");

let fleet: OwnFleet;
beforeAll(async () => {
  fleet = await startFleet({ replicas: 2 });
});
afterAll(() => fleet?.stop());

const uidOf = async (shop: GuardedShop, kind: string, name: string) => (await shop.get(kind, name)).metadata.uid;

/** Waits until the Secret is the present object's; answers with what it shows. */
async function own(shop: GuardedShop, kind: "ApiKey" | "ProjectUser"): Promise<string> {
  const [name, secret] = kind === "ApiKey" ? ["web", "web-api-key"] : ["ann", "ann-password"];
  await eventually(async () => {
    const { annotations } = (await shop.get("Secret", secret)).metadata;
    expect(annotations?.["jsonplane.io/owner-uid"]).toBe(await uidOf(shop, kind, name));
  }, within);
  return kind === "ApiKey" ? await shop.key() : await shop.password();
}

it("fifteen times in a row, with nothing between the end and the beginning: each has a new key and password, and no former one lets in", async () => {
  const shop = await openGuardedShop(fleet, web, ann);
  const former: { key: string; password: string }[] = [];
  for (let time = 0; time < 15; time += 1) {
    former.push({ key: await own(shop, "ApiKey"), password: await own(shop, "ProjectUser") });
    const role = time % 2 === 0 ? "Administrators" : "Users";
    await shop.remove("ApiKey", "web");
    await shop.create(declared("ApiKey", "web", { access: "Write", role }));
    await shop.remove("ProjectUser", "ann");
    await shop.create(declared("ProjectUser", "ann", { role }));
    await own(shop, "ApiKey");
    await own(shop, "ProjectUser");
  }
  const key = await own(shop, "ApiKey");
  const password = await own(shop, "ProjectUser");
  await shop.admitted(key);
  await shop.session("ann", password);
  expect(new Set(former.map((each) => each.key)).size).toBe(15);
  for (const each of former) await shop.refused(each.key);
  // One is enough: more failures than a person makes are throttled.
  expect((await shop.login("ann", former.at(-1)?.password ?? "")).status).toBe(401);
});

it("while no operator runs, with more rights than before: the former key and password let nobody in, nor does a session", async () => {
  const shop = await openGuardedShop(fleet, web, ann);
  const key = await shop.key();
  const password = await shop.password();
  const session = await shop.session("ann", password);
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  for (const [kind, name] of [
    ["ApiKey", "web"],
    ["ProjectUser", "ann"],
  ] as const) {
    await shop.remove(kind, name);
    await shop.create(declared(kind, name, { access: "Write", role: "Administrators" }));
  }
  await fleet.addOperator();
  await shop.refused(key);
  await shop.ended(session);
  expect((await shop.login("ann", password)).status).toBe(401);
  await shop.admitted(await own(shop, "ApiKey"));
  await shop.session("ann", await own(shop, "ProjectUser"));
});

it("of a whole Project, while no operator runs: its sessions end, and keys and users that stayed let in as before", async () => {
  const shop = await openGuardedShop(fleet, web, ann);
  const key = await shop.key();
  const password = await shop.password();
  const session = await shop.session("ann", password);
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await shop.remove("Project", "shop");
  await shop.create(declared("Project", "shop"));
  await fleet.addOperator();
  await shop.ended(session);
  await fleet.ready(shop.namespace);
  await shop.admitted(key);
  await shop.session("ann", password);
});

it("a former key that the audit log calls revoked lets in no more", async () => {
  const shop = await openGuardedShop(fleet, web);
  const key = await shop.key();
  const uid = await uidOf(shop, "ApiKey", "web");
  await shop.remove("ApiKey", "web");
  await shop.create(web);
  const isAudited = () =>
    fleet.operators.some((operator) =>
      operator
        .log()
        .split("\n")
        .some((line) => line.includes("Credential revoked") && line.includes(uid)),
    );
  await eventually(() => expect(isAudited()).toBe(true), within);
  await shop.refused(key);
});
