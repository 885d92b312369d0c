// Who holds a name, a host, a Project's name in a namespace: the incumbent, over restarts of the
// operator and over namespaces, and when it passes on.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { declared, newTenant, secretOf, type Tenant } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

let fleet: OwnFleet;

beforeAll(async () => {
  fleet = await startFleet({
    replicas: 2,
    operatorArgs: ["--allowed-hosts", "*={namespace}.apps.test,*=shared.test", "--lease-duration", "4s"],
  });
});
afterAll(() => fleet?.stop());

const now = { withinMs: 0 };

async function restartOperator(...args: readonly string[]): Promise<void> {
  await Promise.all(fleet.operators.splice(0).map((operator) => operator.stop()));
  const operator = await fleet.addOperator({ args });
  await eventually(async () => expect(await operator.leads()).toBe(true), { withinMs: 60_000 });
}

const open = { create: "Anyone", read: "Anyone", scope: { read: "All" } };
const named = (name: string, resourceName: string, maxLength: number) =>
  declared("ApiResource", name, { resourceName, access: open, schema: { properties: { title: { maxLength } } } });

describe("a name within a Project", () => {
  it("stays with its incumbent over a restart of the operator, whatever the alphabet says, and passes on once that is deleted", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(declared("Project", "shop"), named("zebra", "books", 4));
    await tenant.reports("ApiResource", "zebra", "Ready");
    await tenant.create(named("aardvark", "books", 8));
    const reported = await tenant.reports("ApiResource", "aardvark", "NameConflict");
    expect(reported["Stalled"]?.message).toContain('ApiResource "zebra" holds the resourceName "books" already');
    const post = { method: "POST", body: { title: "eight ch" } };
    await tenant.everywhere("/api/books", post, (reply) => expect(reply.code).toBe("validation_failed"), {
      withinMs: 0,
    });

    await restartOperator();
    await tenant.edit("ApiResource", "zebra", { limits: { maxObjects: 1000 } });
    await tenant.reports("ApiResource", "zebra", "Ready");
    await tenant.edit("ApiResource", "aardvark", { limits: { maxObjects: 1000 } });
    await tenant.reports("ApiResource", "aardvark", "NameConflict");
    await tenant.everywhere("/api/books", post, (reply) => expect(reply.code).toBe("validation_failed"), {
      withinMs: 0,
    });

    await tenant.remove("ApiResource", "zebra");
    await tenant.reports("ApiResource", "aardvark", "Ready");
    await tenant.everywhere("/api/books", post, (reply) => expect(reply.status).toBe(201), now);
  });

  it("of a user and of a root key stays with its incumbent too", async () => {
    const tenant = await newTenant(fleet);
    const user = (name: string) => declared("ProjectUser", name, { username: "ada", passwordSecretRef: { name } });
    const rootKey = (name: string) => declared("RootKey", name, { key: "settings", initialValue: name });
    await tenant.create(
      secretOf("zebra", { password: "of the zebra" }),
      secretOf("aardvark", { password: "of the aardvark" }),
      declared("Project", "shop"),
      user("zebra"),
      rootKey("zebra"),
    );
    await fleet.ready(tenant.namespace);
    await tenant.create(user("aardvark"), rootKey("aardvark"));
    await tenant.reports("ProjectUser", "aardvark", "NameConflict");
    await tenant.reports("RootKey", "aardvark", "NameConflict");
    const login = (name: string) => {
      const as = `Basic ${Buffer.from(`ada:of the ${name}`).toString("base64")}`;
      return { method: "POST", as };
    };
    await tenant.everywhere("/json/settings", {}, (reply) => expect(reply.text).toBe('"zebra"'), now);
    await tenant.everywhere("/sessions/", login("zebra"), (reply) => expect(reply.status).toBe(201), now);
    await tenant.everywhere("/sessions/", login("aardvark"), (reply) => expect(reply.status).toBe(401), now);
    await tenant.remove("ProjectUser", "zebra");
    await tenant.remove("RootKey", "zebra");
    await tenant.reports("ProjectUser", "aardvark", "Ready");
    await tenant.reports("RootKey", "aardvark", "Ready");
    await tenant.everywhere("/sessions/", login("aardvark"), (reply) => expect(reply.status).toBe(201), now);
    await tenant.everywhere("/sessions/", login("zebra"), (reply) => expect(reply.status).toBe(401), now);
  });

  it("is left by an object that is renamed: deleted, and made anew under another name with the same path and data", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(declared("Project", "shop"), named("books", "books", 8));
    await tenant.reports("ApiResource", "books", "Ready");
    const post = { method: "POST", body: { title: "Momo" } };
    await tenant.everywhere("/api/books", post, (reply) => expect(reply.status).toBe(201));
    await tenant.create(named("novels", "books", 8));
    await tenant.reports("ApiResource", "novels", "NameConflict");
    await tenant.remove("ApiResource", "books");
    await tenant.reports("ApiResource", "novels", "Ready");
    const count = { count: fleet.replicas.length };
    await tenant.everywhere("/api/books", {}, (reply) => expect(reply.json()).toMatchObject(count), now);
  });
});

interface Shop {
  readonly tenant: Tenant;
  /** Stands in its data, and in ada's password. */
  readonly which: string;
  readonly login: string;
  readonly key: string;
  readonly token: string;
}

async function openShop(which: string): Promise<Shop> {
  const tenant = await newTenant(fleet);
  await tenant.create(
    secretOf("ada", { password: `password ${which}` }),
    declared("Project", "shop"),
    declared("ApiResource", "books", { schema: {} }),
    declared("RootKey", "settings", { initialValue: which }),
    declared("ProjectUser", "ada", { access: "Write", passwordSecretRef: { name: "ada" } }),
    declared("ApiKey", "web", { access: "Write", role: "Administrators" }),
  );
  await fleet.ready(tenant.namespace);
  const [replica] = fleet.replicas;
  if (replica === undefined) throw new Error("There is no replica");
  const base = `/${tenant.namespace}/shop`;
  const key = `apikey ${await fleet.secret(tenant.namespace, "web-api-key", "apiKey")}`;
  const login = `Basic ${Buffer.from(`ada:password ${which}`).toString("base64")}`;
  const session = await replica.send(`${base}/sessions/`, { method: "POST", as: login });
  await replica.send(`${base}/api/books`, { method: "POST", body: { title: which }, as: key });
  return { tenant, which, login, key, token: `Bearer ${session.json()["access_token"]}` };
}

async function expectApart({ tenant, which, key, token }: Shop, other: Shop): Promise<void> {
  const own = { count: 1, items: [{ title: which }] };
  await tenant.everywhere("/json/settings", {}, (reply) => expect(reply.json()).toBe(which), now);
  await tenant.everywhere("/api/books", { as: key }, (reply) => expect(reply.json()).toMatchObject(own), now);
  await tenant.everywhere("/api/books", { as: token }, (reply) => expect(reply.status).toBe(200), now);
  for (const as of [other.key, other.token]) {
    await tenant.everywhere("/api/books", { as }, (reply) => expect(reply.status).toBe(401), now);
  }
  const login = { method: "POST", as: other.login };
  await tenant.everywhere("/sessions/", login, (reply) => expect(reply.status).toBe(401), now);
}

describe("two Projects of one name in two namespaces", () => {
  it("are apart: users of one name, keys, sessions and data", async () => {
    const [one, two] = [await openShop("one"), await openShop("two")];
    await expectApart(one, two);
    await expectApart(two, one);
    await one.tenant.remove("Project", "shop");
    await one.tenant.everywhere("/json/settings", {}, (reply) => expect(reply.code).toBe("unknown_project"));
    await two.tenant.everywhere("/json/settings", {}, (reply) => expect(reply.json()).toBe("two"), now);
  });
});

/** Which Project answers at the root of the host, on every replica. */
async function expectHolder(host: string, which: string | undefined, withinMs = 30_000): Promise<void> {
  for (const replica of fleet.replicas) {
    await eventually(
      async () => {
        const reply = await replica.send("/json/whose", { headers: { host } });
        expect(reply.status === 200 ? reply.json() : undefined).toBe(which);
      },
      { withinMs },
    );
  }
}

/** A Project that answers with its own name at /json/whose. */
async function claim(tenant: Tenant, name: string, hosts: readonly string[]): Promise<void> {
  await tenant.create(
    declared("Project", name, { hosts }),
    declared("RootKey", `${name}-whose`, { projectRef: { name }, key: "whose", initialValue: name }),
  );
}

describe("a host", () => {
  it("stays with its incumbent over namespaces and restarts, serves only its project, and passes on when let go of or deleted", async () => {
    const [one, two] = [await newTenant(fleet), await newTenant(fleet)];
    const host = `${one.namespace}.shared.test`;
    await claim(two, "zebra", [host]);
    await two.reports("Project", "zebra", "Ready");
    await claim(one, "aardvark", [host]);
    const reported = await one.reports("Project", "aardvark", "HostConflict");
    expect(reported["Stalled"]?.message).toContain(`/spec/hosts/0: Another Project holds the host "${host}"`);
    expect(reported["Stalled"]?.message).not.toContain(two.namespace);
    await one.reports("RootKey", "aardvark-whose", "Ready");
    await expectHolder(host, "zebra", 0);

    await restartOperator();
    await one.edit("Project", "aardvark", { cors: { maxAge: "1m" } });
    await one.reports("Project", "aardvark", "HostConflict");
    await expectHolder(host, "zebra", 0);

    await two.edit("Project", "zebra", { hosts: [] });
    await one.reports("Project", "aardvark", "Ready");
    await expectHolder(host, "aardvark", 0);
    await two.edit("Project", "zebra", { hosts: [host] });
    await two.reports("Project", "zebra", "HostConflict");
    await expectHolder(host, "aardvark", 0);

    await one.remove("Project", "aardvark");
    await two.reports("Project", "zebra", "Ready");
    await expectHolder(host, "zebra", 0);
  });

  it("is taken while its holder's namespace is not watched any more: what is published there is served on", async () => {
    const [one, two] = [await newTenant(fleet), await newTenant(fleet)];
    const host = `unseen-${one.namespace}.shared.test`;
    await claim(two, "zebra", [host]);
    await two.reports("Project", "zebra", "Ready");
    await restartOperator("--watch-namespaces", one.namespace);
    await claim(one, "aardvark", [host]);
    await one.reports("Project", "aardvark", "HostConflict");
    await expectHolder(host, "zebra", 0);
    await restartOperator();
    await two.edit("Project", "zebra", { cors: { maxAge: "1m" } });
    await two.reports("Project", "zebra", "Ready");
    await expectHolder(host, "zebra", 0);
    await two.remove("Project", "zebra");
    await one.reports("Project", "aardvark", "Ready");
    await expectHolder(host, "aardvark", 0);
  });

  it("that the platform does not allow the namespace is refused with what it does allow, and all else is served", async () => {
    const [one, two] = [await newTenant(fleet), await newTenant(fleet)];
    const [own, foreign] = [`a.${one.namespace}.apps.test`, `a.${two.namespace}.apps.test`];
    await claim(one, "shop", [own, foreign]);
    const { Stalled, Ready } = await one.reports("Project", "shop", "NotAllowed");
    expect(Ready?.status).toBe("False");
    expect(Stalled?.message).toContain(`/spec/hosts/1: The platform does not let namespace "${one.namespace}"`);
    expect(Stalled?.message).toContain(`it allows ${one.namespace}.apps.test, shared.test, and names below`);
    expect(Stalled?.message).toContain("The rest of it is served");
    await expectHolder(own, "shop");
    await expectHolder(foreign, undefined, 0);
    await claim(two, "shop", [foreign]);
    await fleet.ready(two.namespace);
    await expectHolder(foreign, "shop", 0);
  });
});
