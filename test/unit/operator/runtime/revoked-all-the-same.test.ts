// What objects lose is withdrawn although Secrets of their Project can't be had: credentials of
// objects that have gone, and rights that were lowered.

import { describe, expect, it } from "vitest";
import { ApiFailure } from "../../../../operator/kube/api.ts";
import { NotTheLeader } from "../../../../operator/lead/elector.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import { SecretChanged } from "../../../../operator/secrets/secret-object.ts";
import { NamespaceTerminating } from "../../../../operator/secrets/secret-store.ts";
import { testIssuer, withIssuer } from "../../../support/http/external-issuer.ts";
import { project, withConfig, withKey, withUser } from "../../../support/http/projects.ts";
import { stored, terminating } from "../../../support/kubernetes/stored-crs.ts";
import { leader, type World } from "./key-leader.ts";

const failure = new ApiFailure(500, { reason: "InternalError", message: "secrets: a webhook does not answer" });
const shop = stored("Project", "shop");
const credentials = [withKey("ci"), withKey("web"), withUser("ann"), withUser("ben")];
const config = project("shop", withConfig({ uid: shop.metadata.uid }), ...credentials);
/** The same objects as were published, by UID. */
const ci = stored("ApiKey", "ci", { metadata: { uid: "uid-of-key-ci" } });
const web = stored("ApiKey", "web", { metadata: { uid: "uid-of-key-web" } });
const ann = stored("ProjectUser", "ann", { metadata: { uid: "uid-of-user-ann" } });
const ben = stored("ProjectUser", "ben", { metadata: { uid: "uid-of-user-ben" } });

const watched: ReadonlySet<unknown> = new Set(["publish", "withdraw", "audit", "write"]);

async function attempt(objects: readonly CustomResource[], world: World = {}) {
  const published = { revision: 3, config };
  const tried = leader({ objects, published, namespaceUid: "ns", secretsFailure: failure, ...world });
  const error = await tried.handle().catch((failed: unknown) => failed);
  const served = tried.publishedConfigs.map(({ project: { serving }, users, keys, signing }) => ({
    serving,
    users: [...users.values()].map(({ username, access }) => [username, access]),
    keys: [...keys.values()].map(({ name, access }) => [name, access]),
    signing,
  }));
  return {
    error,
    served,
    calls: tried.calls.filter(([what]) => watched.has(what)),
    all: tried.calls.map(([what]) => what),
  };
}

const revoked = (kind: string, name: string) => [
  "audit",
  { action: "credential_revoked", facts: expect.objectContaining({ kind, name, why: "Deleted" }) },
];

describe("while Secrets of a Project can't be had", () => {
  it("keys and users are revoked that have gone, or are on their way out; the failure is reported, and it is tried again", async () => {
    const going = stored("ApiKey", "web", { metadata: { ...web.metadata, ...terminating } });
    const { error, calls } = await attempt([shop, going, ci, ann]);
    expect(error).toBe(failure);
    expect(calls[0]?.slice(0, 2)).toEqual(["publish", ["ann", "ci"]]);
    expect(calls.slice(1)).toEqual([revoked("ProjectUser", "ben"), revoked("ApiKey", "web")]);
  });

  it.each([
    ["the API server fails", failure],
    ["somebody edits one in a loop", new SecretChanged("changed")],
  ])("access is lowered, and the Project served no more, as specs say: %s", async (_, secretsFailure) => {
    const lowered = stored("ApiKey", "ci", { metadata: ci.metadata, spec: { access: "Read" } });
    const off = stored("Project", "shop", { spec: { serving: "Off" } });
    const { served, calls } = await attempt([off, lowered, web, ann, ben], { secretsFailure });
    expect(served).toEqual([
      {
        serving: "Off",
        users: ["ann", "ben"].map((name) => [name, ann.spec.access]),
        keys: [
          ["ci", "Read"],
          ["web", web.spec.access],
        ],
        signing: config.signing,
      },
    ]);
    expect(calls.map(([what]) => what)).not.toContain("write");
  });

  it("a new key is not served yet", async () => {
    const { served } = await attempt([shop, ci, web, stored("ApiKey", "new"), ann, ben]);
    expect(served[0]?.keys.map(([name]) => name)).toEqual(["ci", "web"]);
  });

  it("nothing of objects that have gone passes to those of their names, seen to be deleted or not", async () => {
    const anew = { uid: "anew" };
    const objects = [
      shop,
      stored("ApiKey", "ci", { metadata: anew }),
      stored("ProjectUser", "ann", { metadata: anew, spec: { role: "Administrators" } }),
    ];
    const { served, calls: first } = await attempt([...objects, web, ben]);
    expect(served.map(({ users, keys }) => [users, keys])).toEqual([
      [[["ben", ben.spec.access]], [["web", web.spec.access]]],
    ]);
    expect(first.slice(1)).toEqual([revoked("ProjectUser", "ann"), revoked("ApiKey", "ci")]);
    const unpublished = { ...project("shop", ...credentials), signing: config.signing };
    const { calls } = await attempt(objects, { published: { revision: 3, config: unpublished } });
    expect(calls[0]?.slice(0, 2)).toEqual(["publish", []]);
  });

  it("the password of a user that has gone does not pass to a user of another name that claims the username", async () => {
    const { served } = await attempt([shop, stored("ProjectUser", "anton", { spec: { username: "ben" } })]);
    expect(served[0]?.users).toEqual([]);
  });

  it("nor that of a user on its way out to one whose name is that username", async () => {
    const going = stored("ProjectUser", "benjamin", {
      metadata: { ...ben.metadata, ...terminating, name: "benjamin" },
      spec: { username: "ben" },
    });
    const admin = stored("ProjectUser", "ben", { metadata: { uid: "another" }, spec: { role: "Administrators" } });
    const { served } = await attempt([shop, ci, web, ann, going, admin]);
    expect(served[0]?.users.map(([name]) => name)).toEqual(["ann"]);
    const unpublished = { revision: 3, config: project("shop", ...credentials) };
    const { calls } = await attempt([shop, ci, web, ann, going, admin], { published: unpublished });
    expect(calls[0]?.slice(0, 2)).toEqual(["publish", ["ann", "ci", "web"]]);
  });

  it("a Project is withdrawn that has gone, or is on its way out", async () => {
    for (const projects of [[], [stored("Project", "shop", { metadata: terminating })]]) {
      const { calls } = await attempt([...projects, ci, ann]);
      expect(calls[0]?.[0]).toBe("withdraw");
    }
  });

  it("what nobody may make in a namespace any more is revoked there too", async () => {
    const { error, calls } = await attempt([shop, ci], { secretsFailure: new NamespaceTerminating("no") });
    expect([error, calls[0]?.slice(0, 2)]).toEqual([{ requeue: "backoff" }, ["publish", ["ci"]]]);
  });

  it("nothing is published by a process that leads no more", async () => {
    const { calls } = await attempt([shop], { secretsFailure: new NotTheLeader("no") });
    expect(calls).toEqual([]);
  });
});

it("an issuer is withdrawn that a former Project of the name had named, also if the one that replaces it is suspended", async () => {
  const { url } = testIssuer("corp").config;
  const issuers = [{ name: "corp", issuer: { url, audiences: ["shop"] } }];
  const suspended = stored("Project", "shop", { spec: { suspend: true, authentication: { issuers } } });
  const withCorp = (uid: string) =>
    project("shop", withConfig({ uid }), withIssuer(testIssuer("corp")), ...credentials);
  const issuersLeft = async (uid: string) => {
    const published = { revision: 3, config: withCorp(uid) };
    const given = { published, namespaceUid: "ns", secretsFailure: failure, issuer: { state: "pending" } } as const;
    const tried = leader({ ...given, objects: [suspended, ci, web, ann, ben] });
    await tried.handle().catch(() => undefined);
    return tried.publishedConfigs.map(({ issuers }) => [...issuers.keys()]);
  };
  expect(await issuersLeft("of the former one")).toEqual([[]]);
  expect(await issuersLeft(shop.metadata.uid)).toEqual([["corp"]]);
});

describe("of a Project that was recreated", () => {
  const world: World = { published: { revision: 3, config: project("shop", ...credentials) } };

  it("nothing but deleted keys and users is withdrawn, and what is published stays as it is", async () => {
    const lowered = stored("ApiKey", "ci", { metadata: ci.metadata, spec: { access: "Read" } });
    const { served } = await attempt([shop, lowered, ann, ben], world);
    expect(served[0]?.keys).toEqual([["ci", "Write"]]);
  });

  it("what was deleted counts as revoked, whether it was served or not; lowered access does not", async () => {
    const outcomes = async (deleted: readonly CustomResource[], ...objects: readonly CustomResource[]) => {
      const { all } = await attempt([shop, ann, ben, ...objects], { ...world, deleted });
      return all.filter((what) => what === "publish" || what === "onRevoked");
    };
    expect(await outcomes([web], ci)).toEqual(["publish", "onRevoked"]);
    expect(await outcomes([stored("ApiKey", "new")], ci, web)).toEqual(["onRevoked"]);
    expect(
      await outcomes([], stored("ApiKey", "ci", { metadata: ci.metadata, spec: { access: "Read" } }), web),
    ).toEqual([]);
  });

  it("nothing is published while all are there", async () => {
    expect((await attempt([shop, ci, web, ann, ben], world)).calls).toEqual([]);
  });
});

it("a deleted user is revoked although nothing is known of other objects that are missing", async () => {
  const { served, calls } = await attempt([shop], { confirmed: false, deleted: [ann] });
  expect(served.map(({ users }) => users.map(([name]) => name))).toEqual([["ben"]]);
  expect(calls.slice(1)).toEqual([revoked("ProjectUser", "ann")]);
});

it("a whole Project is withdrawn that outlives its namespace, because its deletion waits: no Secret can be made for it there", async () => {
  const { handle, calls } = leader({ objects: [shop, ci], published: { revision: 3, config } });
  await handle();
  expect(calls.map(([what]) => what)).toContain("withdraw");
});

describe("while passwords are hashed", () => {
  const world: World = { published: { revision: 3, config }, namespaceUid: "ns", deleted: [], isHashing: true };
  const lowered = stored("ApiKey", "ci", { metadata: ci.metadata, spec: { access: "Read" } });
  const added = stored("ProjectUser", "new");

  it("what objects lose is published, and new keys; a new user is not served yet, and says so", async () => {
    const objects = [shop, lowered, stored("ApiKey", "new"), ann, added];
    const { publishedConfigs, serve } = leader({ ...world, objects });
    expect(await serve()).toMatchObject({ requeue: "report" });
    const [published] = publishedConfigs;
    expect([...(published?.users.keys() ?? [])]).toEqual(["ann"]);
    // The key ci has no Secret, so it gets a new key, and the former one works for a while.
    const keys = Array.from(published?.keys.values() ?? [], ({ name, access }) => `${name} ${access}`);
    expect(keys.toSorted()).toEqual(["ci Read", "ci Read", "new Read"]);
  });

  it("a user whose password changes keeps the former one until the new one is hashed, with the access of now", async () => {
    const changed = stored("ProjectUser", "ann", {
      metadata: ann.metadata,
      spec: { access: "Read", rotation: { id: "2" } },
    });
    const { publishedConfigs, serve } = leader({ ...world, objects: [shop, changed] });
    await serve();
    expect(publishedConfigs[0]?.users.get("ann")).toEqual({ ...config.users.get("ann"), access: "Read" });
  });
});

it("thousands of new keys are made over several passes, each of which publishes what objects lose", async () => {
  const many = Array.from({ length: 40 }, (_, number) => stored("ApiKey", `k${number}`));
  const world: World = { published: { revision: 3, config }, namespaceUid: "ns", deleted: [] };
  const { publishedConfigs, serve } = leader({ ...world, objects: [shop, ...many, ci] });
  expect(await serve()).toEqual({ requeueAfterMs: 0, requeue: "report" });
  const names = Array.from(publishedConfigs[0]?.keys.values() ?? [], ({ name }) => name);
  expect(names).toHaveLength(33);
  expect(names).not.toContain("web");
});
