// What an operator finds when it starts: objects that changed hands while none ran, an emptied
// Redis, flags that the one before it did not have. Each test stops the operators that run and
// starts another.

import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { openGuardedShop } from "../support/fleet/guarded-shop.ts";
import type { OperatorProcessOptions } from "../support/fleet/operator-process.ts";
import { declared, newTenant, openBooks } from "../support/kubernetes/declared.ts";
import { bookCount, namespaceThatCameBack } from "../support/kubernetes/former-namespace.ts";
import { eventually } from "../support/time/eventually.ts";

const web = declared("ApiKey", "web", { access: "Write" });
const ann = declared("ProjectUser", "ann");

let fleet: OwnFleet;

beforeAll(async () => {
  fleet = await startFleet({ replicas: 2, api: { controllers: ["namespace"] } });
});
afterAll(() => fleet?.stop());

async function stopOperators(): Promise<void> {
  for (const operator of fleet.operators.splice(0)) await operator.stop();
}

async function restart(options: Partial<OperatorProcessOptions> = {}): Promise<void> {
  await stopOperators();
  await fleet.addOperator(options);
}

describe("without --allowed-hosts", () => {
  it("no namespace may claim a host", async () => {
    await restart();
    const tenant = await newTenant(fleet);
    await tenant.create(declared("Project", "shop", { hosts: ["shop.example.org"] }));
    const { Stalled } = await tenant.reports("Project", "shop", "NotAllowed");
    expect(Stalled?.message).toContain("it allows this namespace no host at all");
    for (const replica of fleet.replicas) {
      expect((await replica.send("/", { headers: { host: "shop.example.org" } })).status).toBe(404);
    }
  });
});

describe("another public URL", () => {
  it("stands in the Secrets of keys soon after the operator has it, and the keys stay", async () => {
    await restart();
    const shop = await openGuardedShop(fleet, web);
    const key = await shop.key();
    const [path] = (await fleet.secret(shop.namespace, "web-api-key", "baseURL")).split(fleet.publicUrl).slice(1);
    await restart({ publicUrl: "https://elsewhere.test" });
    await eventually(async () => {
      const baseUrl = await fleet.secret(shop.namespace, "web-api-key", "baseURL");
      expect(baseUrl).toBe(`https://elsewhere.test${path}`);
    });
    expect(await shop.key()).toBe(key);
    await shop.admitted(key);
  });
});

describe("data of an earlier namespace", () => {
  it("are adopted by an operator that is told to, without an annotation: all of a cluster was lost", async () => {
    await restart();
    const [tenant, waiting] = await Promise.all([namespaceThatCameBack(fleet), namespaceThatCameBack(fleet)]);
    await waiting.create(declared("Project", "shop"), openBooks());
    await waiting.reports("Project", "shop", "RetainedDataFound");
    await restart({ args: ["--adopt-data"] });
    await tenant.create(declared("Project", "shop"), openBooks());
    for (const each of [tenant, waiting]) {
      await each.reports("ApiResource", "books", "Ready");
      await bookCount(each, 1);
    }
  });
});

describe("when Redis is emptied while no operator runs", () => {
  it("credentials that their Secrets say go on working, and lost ones are made again", async () => {
    await restart();
    const [kept, lost] = [declared("ApiKey", "kept"), declared("ApiKey", "lost")];
    const shop = await openGuardedShop(fleet, kept, lost, ann, declared("ProjectUser", "eve"));
    const ringless = await openGuardedShop(fleet, web, ann);
    const keys = { kept: await shop.key("kept-api-key"), lost: await shop.key("lost-api-key") };
    const passwords = { ann: await shop.password(), eve: await shop.password("eve-password") };
    const before = await ringless.session("ann", await ringless.password());
    await stopOperators();
    for (const name of ["lost-api-key", "ann-user-hash", "eve-password", "eve-user-hash"])
      await shop.remove("Secret", name);
    await ringless.remove("Secret", "shop-signing");
    await emptied();
    await fleet.addOperator();

    await fleet.ready(shop.namespace);
    await shop.admitted(keys.kept);
    expect(await shop.key("kept-api-key")).toBe(keys.kept);
    await shop.session("ann", passwords.ann);
    await shop.refused(keys.lost);
    await shop.admitted(await shop.key("lost-api-key"));
    expect((await shop.login("eve", passwords.eve)).code).toBe("invalid_credentials");
    await shop.session("eve", await shop.password("eve-password"));

    // Of a ring that was lost no token is good any more.
    expect(await ringless.reportedOf("Project", "shop", "SigningRingReplaced")).toContain("all sessions have ended");
    await ringless.ended(before);
    await ringless.admitted(await ringless.key());
    await ringless.session("ann", await ringless.password());
  });

  async function emptied(): Promise<void> {
    const redis = new Redis(fleet.redis.url);
    await redis.flushall();
    redis.disconnect();
  }
});
