// Each field of each kind, edited on a running fleet: once the object says Ready of the edit, every
// replica serves it, and a request that was answered one way before is answered the other way.

import { beforeAll, describe, expect, it } from "vitest";
import type { Fleet } from "../support/fleet/fleet.ts";
import { openRedisClient } from "../support/fleet/publishing.ts";
import type { RunningReplica } from "../support/fleet/replica.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import type { Reply } from "../support/http/http-client.ts";
import { conditionsOf, declared } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";
import { asked, edits, post } from "./edit-cases.ts";
import { ada, firstOf, openShop } from "./edited-shop.ts";

let fleet: Fleet;

beforeAll(async () => {
  fleet = await sharedFleet();
});

const atOnce = { withinMs: 0 };

describe.concurrent("an edit that its object calls Ready is served by every replica:", () => {
  for (const { kind, name, field, spec, given, ask, see = asked, before, after } of edits) {
    it(`${kind} ${field}`, async () => {
      const shop = await openShop(fleet);
      if (given !== undefined) {
        await shop.edit(kind, name, given);
        await shop.reports(kind, name, "Ready");
      }
      const [path, sent = {}] = ask(shop);
      await shop.everywhere(path, sent, (reply) => expect(see(reply)).toEqual(before), atOnce);
      await shop.edit(kind, name, spec);
      await shop.reports(kind, name, "Ready");
      await shop.everywhere(path, sent, (reply) => expect(see(reply)).toEqual(after), atOnce);
    });
  }
});

describe.concurrent("an edit with more to it", () => {
  it("Project limits.anonymousWritesPerMinute: the next write beyond it is refused", async () => {
    const shop = await openShop(fleet);
    await shop.edit("ApiResource", "items", { access: { create: "Anyone" } });
    await shop.reports("ApiResource", "items", "Ready");
    const [path, sent] = post("/api/items", undefined);
    for (let count = 0; count < 3; count += 1) {
      await shop.everywhere(path, sent, (reply) => expect(asked(reply)).toBe(201), atOnce);
    }
    await shop.edit("Project", "shop", { limits: { anonymousWritesPerMinute: 1 } });
    await shop.reports("Project", "shop", "Ready");
    await shop.everywhere(path, sent, (reply) => expect(asked(reply)).toBe("write_throttled"), atOnce);
  });

  it("Project hosts: a host serves the project at its root, and no longer once it is taken out", async () => {
    const shop = await openShop(fleet);
    const host = `shop.${shop.namespace}.apps.test`;
    const from = async (replica: RunningReplica) =>
      await replica.send(`${shop.item}?_fields=title`, { as: shop.admin, headers: { host } });
    for (const replica of fleet.replicas) expect((await from(replica)).status).not.toBe(200);
    await shop.edit("Project", "shop", { hosts: [host] });
    await shop.reports("Project", "shop", "Ready");
    for (const replica of fleet.replicas) expect((await from(replica)).status).toBe(200);
    await shop.edit("Project", "shop", { hosts: [] });
    await shop.reports("Project", "shop", "Ready");
    for (const replica of fleet.replicas) expect((await from(replica)).status).not.toBe(200);
  });

  it("Project suspend: what is served goes on, edits wait, what is deleted ends; and after it all is made up for", async () => {
    const shop = await openShop(fleet);
    await shop.edit("Project", "shop", { suspend: true });
    await shop.reports("Project", "shop", "Suspended");
    await shop.edit("ApiResource", "items", { access: { read: "Anyone" } });
    const waiting = await shop.reports("ApiResource", "items", "Suspended");
    expect(waiting["Programmed"]?.status).toBe("False");
    await shop.everywhere("/api/items", {}, (reply) => expect(reply.code).toBe("authentication_required"), atOnce);
    await shop.everywhere("/api/items", { as: shop.web }, (reply) => expect(reply.status).toBe(200), atOnce);
    await shop.remove("ApiKey", "web");
    await shop.everywhere("/api/items", { as: shop.web }, (reply) => expect(reply.code).toBe("invalid_credentials"));
    await shop.edit("Project", "shop", { suspend: false });
    await shop.reports("ApiResource", "items", "Ready");
    await shop.everywhere("/api/items", {}, (reply) => expect(reply.status).toBe(200), atOnce);
  });

  it("ApiResource indexes: the status names them, and lists are sorted by the new one, older objects included", async () => {
    const shop = await openShop(fleet);
    const [path, sent] = post("/api/items", shop.admin, { title: "Abel", size: 9 });
    await firstOf(fleet).send(`/${shop.namespace}/shop${path}`, sent);
    expect((await shop.get("ApiResource", "items")).status?.["indexes"]).toEqual(["size", "title"]);
    await shop.edit("ApiResource", "items", { indexes: ["size"] });
    await shop.reports("ApiResource", "items", "Ready");
    expect((await shop.get("ApiResource", "items")).status?.["indexes"]).toEqual(["size"]);
    await shop.everywhere("/api/items?_sort=-size", { as: shop.admin }, (reply) => {
      const { items } = reply.json<{ items: readonly { readonly size: number }[] }>();
      expect(items.map(({ size }) => size)).toEqual([9, 2]);
    });
  });

  it("ApiResource indexes: while replicas build one, its status and kubectl name it, and no longer", async () => {
    const shop = await openShop(fleet);
    const { namespace } = shop;
    const redisClient = await openRedisClient(fleet.redis.url);
    // Somebody else's lock: the replicas wait for whom they believe to build.
    const lock = `jp:{${namespace}/shop/items}:build-lock`;
    await redisClient.write(lock, "SET", lock, "another", "PX", 600_000);
    await shop.edit("ApiResource", "items", { indexes: ["size", "size,title"] });
    await shop.reports("ApiResource", "items", "Ready");
    expect((await shop.get("ApiResource", "items")).status).toMatchObject({ indexes: ["size", "size,title"] });
    await shop.everywhere("/api/items", { as: shop.admin }, (reply) => expect(reply.status).toBe(200), atOnce);
    const reported = async () => (await shop.get("ApiResource", "items")).status?.["indexesBuilding"];
    await eventually(async () => expect(await reported()).toEqual(["size,title"]), { withinMs: 60_000 });
    const table = await fleet.api.kubectl(["get", "jres", "items", "-n", namespace, "-o", "wide"]);
    expect(table).toMatch(/INDEXES +BUILDING.*\n.*\["size","size,title"\] +\["size,title"\]/);
    await redisClient.write(lock, "DEL", lock);
    await eventually(async () => expect(await reported()).toBeUndefined(), { withinMs: 60_000 });
    redisClient.disconnect();
  });

  it("ApiKey description: stands in the log beside each request", async () => {
    const shop = await openShop(fleet);
    const description = `import of ${shop.namespace}`;
    await shop.edit("ApiKey", "web", { description });
    await shop.reports("ApiKey", "web", "Ready");
    await shop.everywhere("/api/items", { as: shop.web }, (reply) => expect(reply.status).toBe(200), atOnce);
    await eventually(() => {
      for (const replica of fleet.replicas) expect(replica.log()).toContain(description);
    });
  });

  it("ApiKey expiresAt: in the past it is refused and said to be, without it it works again", async () => {
    const shop = await openShop(fleet);
    await shop.edit("ApiKey", "web", { expiresAt: "2024-01-01T00:00:00Z" });
    const { Ready } = await shop.reports("ApiKey", "web", "Expired");
    expect(Ready?.status).toBe("True");
    await shop.everywhere("/api/items", { as: shop.web }, (reply) => expect(reply.code).toBe("token_expired"), atOnce);
    await shop.edit("ApiKey", "web", { expiresAt: null });
    await shop.reports("ApiKey", "web", "Ready");
    await shop.everywhere("/api/items", { as: shop.web }, (reply) => expect(reply.status).toBe(200), atOnce);
  });

  it("ApiKey expiresAt: when the moment comes the key is refused, and its status says so by itself", async () => {
    const shop = await openShop(fleet);
    // On a slow machine the moment may have come before the operator looks: then a later one is
    // tried.
    let first: string | undefined;
    for (const seconds of [4, 30, 120]) {
      const soon = new Date(Date.now() + seconds * 1_000).toISOString().replace(/\.[0-9]{3}Z$/, "Z");
      await shop.edit("ApiKey", "web", { expiresAt: soon });
      const { metadata } = await shop.get("ApiKey", "web");
      const { generation } = metadata;
      first = await eventually(async () => {
        const { Ready } = conditionsOf(await shop.get("ApiKey", "web"));
        expect(Ready?.observedGeneration).toBe(generation);
        return Ready?.reason;
      });
      if (first === "Ready") break;
    }
    expect(first).toBe("Ready");
    await shop.reports("ApiKey", "web", "Expired", { withinMs: 180_000 });
    await shop.everywhere("/api/items", { as: shop.web }, (reply) => expect(reply.code).toBe("token_expired"));
  });

  it("a password's Secret: the former password and its sessions end, the new one works", async () => {
    const shop = await openShop(fleet);
    await shop.patch("Secret", "ada", { stringData: { password: "tr0ub4dor" } });
    await shop.everywhere("/api/items", { as: shop.token }, (reply) => expect(reply.code).toBe("invalid_credentials"));
    const again = { method: "POST" };
    await shop.everywhere("/sessions/", { ...again, as: ada }, (reply) => expect(reply.status).toBe(401));
    const as = `Basic ${Buffer.from("ada:tr0ub4dor").toString("base64")}`;
    await shop.everywhere("/sessions/", { ...again, as }, (reply) => expect(reply.status).toBe(201));
  });
});

describe("what is deleted ends on every replica:", () => {
  it("a user's password, access token and refresh token", async () => {
    const shop = await openShop(fleet);
    await shop.everywhere("/api/items", { as: shop.token }, (reply) => expect(reply.status).toBe(200), atOnce);
    await shop.remove("ProjectUser", "ada");
    const refused = (reply: Reply) => expect(asked(reply)).toBe("invalid_credentials");
    await shop.everywhere("/api/items", { as: shop.token }, refused);
    await shop.everywhere("/sessions/", { method: "POST", as: ada }, refused, atOnce);
    await shop.everywhere("/sessions/refresh/", { method: "POST", as: shop.refreshToken }, refused, atOnce);
  });

  it("a user's tokens, when one of the same name and another password takes the place", async () => {
    const shop = await openShop(fleet);
    await shop.remove("ProjectUser", "ada");
    const passwordSecretRef = { name: "ada", key: "other" };
    await shop.create(declared("ProjectUser", "ada", { access: "Write", passwordSecretRef }));
    await shop.reports("ProjectUser", "ada", "Ready");
    const refused = (reply: Reply) => expect(asked(reply)).toBe("invalid_credentials");
    await shop.everywhere("/sessions/", { method: "POST", as: ada }, refused, atOnce);
    await shop.everywhere("/api/items", { as: shop.token }, refused, atOnce);
    await shop.everywhere("/sessions/refresh/", { method: "POST", as: shop.refreshToken }, refused, atOnce);
  });

  it("a key", async () => {
    const shop = await openShop(fleet);
    await shop.everywhere("/api/items", { as: shop.web }, (reply) => expect(reply.status).toBe(200), atOnce);
    await shop.remove("ApiKey", "web");
    await shop.everywhere("/api/items", { as: shop.web }, (reply) => expect(reply.code).toBe("invalid_credentials"));
    await shop.everywhere("/api/items", { as: shop.admin }, (reply) => expect(reply.status).toBe(200), atOnce);
  });

  it("a resource and a root key", async () => {
    const shop = await openShop(fleet);
    await shop.remove("ApiResource", "items");
    await shop.remove("RootKey", "settings");
    await shop.everywhere("/api/items", { as: shop.admin }, (reply) => expect(reply.code).toBe("unknown_resource"));
    await shop.everywhere("/json/settings", {}, (reply) => expect(reply.code).toBe("unknown_root_key"));
  });
});
