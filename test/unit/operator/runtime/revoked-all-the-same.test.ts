// Credentials whose objects have gone are revoked although nothing of their Project can be published: Secrets of others can't be had.

import { expect, it } from "vitest";
import { ApiFailure } from "../../../../operator/kube/api.ts";
import { NotTheLeader } from "../../../../operator/lead/leadership.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import { NamespaceTerminating } from "../../../../operator/secrets/secret-store.ts";
import { project, withKey, withUser } from "../../../support/http/projects.ts";
import { stored, terminating } from "../../../support/kubernetes/stored-crs.ts";
import { leader, type World } from "./key-leader.ts";

const failure = new ApiFailure(500, { reason: "InternalError", message: "secrets: a webhook does not answer" });
const parts = project("shop", withKey("ci"), withKey("web"), withUser("ann"), withUser("ben"));
const shop = stored("Project", "shop");

async function attempt(objects: readonly CustomResource[], world: World = {}) {
  const tried = leader({ objects, published: { revision: 3, parts }, secretsFailure: failure, ...world });
  const error = await tried.handle().catch((failed: unknown) => failed);
  return { error, calls: tried.calls.filter(([what]) => what === "publish" || what === "audit") };
}

it("a key and a user that have gone, or are on their way out; the failure is reported, and it is tried again", async () => {
  const going = stored("ApiKey", "web", { metadata: terminating });
  const { error, calls } = await attempt([shop, going, stored("ApiKey", "ci"), stored("ProjectUser", "ann")]);
  expect(error).toBe(failure);
  expect(calls[0]).toEqual(["publish", ["ann", "ci"], undefined]);
  const revoked = (kind: string, name: string) => [
    "audit",
    { action: "credential_revoked", facts: expect.objectContaining({ kind, name, why: "Deleted" }) },
  ];
  expect(calls.slice(1)).toEqual([revoked("ProjectUser", "ben"), revoked("ApiKey", "web")]);
});

it("all of a Project that has gone, or is on its way out", async () => {
  const children = [stored("ApiKey", "ci"), stored("ProjectUser", "ann")];
  for (const projects of [[], [stored("Project", "shop", { metadata: terminating })]]) {
    const { calls } = await attempt([...projects, ...children]);
    expect(calls[0]).toEqual(["publish", [], undefined]);
  }
});

it("also where nothing can be made in the namespace any more", async () => {
  const { error, calls } = await attempt([shop, stored("ApiKey", "ci")], {
    secretsFailure: new NamespaceTerminating("no"),
  });
  expect([error, calls[0]]).toEqual([{ requeue: "backoff" }, ["publish", ["ci"], undefined]]);
});

it("not those of objects that were recreated under their names, which take them over", async () => {
  const anew = { uid: "anew" };
  const { calls } = await attempt([
    shop,
    stored("ApiKey", "ci", { metadata: anew }),
    stored("ApiKey", "web", { metadata: anew }),
    stored("ProjectUser", "ann", { metadata: anew }),
    stored("ProjectUser", "anton", { spec: { username: "ben" } }),
  ]);
  expect(calls).toEqual([]);
});

it("and a whole Project is withdrawn that outlived its namespace, because it is held: no Secret can be made for it there", async () => {
  const { handle, calls } = leader({ objects: [shop, stored("ApiKey", "ci")], published: { revision: 3, parts } });
  await handle();
  expect(calls.map(([what]) => what)).toContain("withdraw");
});

it("not by a process that leads no more", async () => {
  const { calls } = await attempt([shop], { secretsFailure: new NotTheLeader("no") });
  expect(calls).toEqual([]);
});
