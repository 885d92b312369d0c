// A Project that is renamed in dev mode, with its children or before them: what is served, said,
// stored and where credentials are.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { graceMs } from "../../../../cli/dev/stored-data/pending-deletions.ts";
import { type DevCluster, devCluster } from "./dev-cluster.ts";

let dev: DevCluster;
beforeEach(async () => {
  dev = await devCluster();
});
afterEach(() => dev.close());

const manifest = (kind: string, name: string, spec: object): string =>
  `${JSON.stringify({ apiVersion: "jsonplane.io/v1alpha1", kind, metadata: { name }, spec })}\n---\n`;
const project = (name: string, spec: object = {}): string => manifest("Project", name, spec);
const children = (name: string, more: object = {}): string => {
  const projectRef = { name };
  return [
    manifest("ApiResource", "books", { projectRef, schema: { type: "object" }, ...more }),
    manifest("RootKey", "flags", { projectRef, ...more }),
    manifest("ProjectUser", "ada", { projectRef }),
    manifest("ApiKey", "robot", { projectRef }),
  ].join("");
};
const names = "ApiResource/books, RootKey/flags, ProjectUser/ada, ApiKey/robot";
const collection = { project: { namespace: "default", name: "shop" }, resource: "books" };

async function served(manifests: string): Promise<void> {
  dev.edit("a.yaml", manifests);
  await dev.pass();
  await dev.store.declareIndexes(collection, [], 1);
  await dev.store.create(collection, { id: "1", owner: "user:a", text: '{"id":"1"}' }, 10);
}

async function newsOf(manifests: string): Promise<readonly string[]> {
  dev.edit("a.yaml", manifests);
  return await dev.pass();
}

const secrets = () => [dev.secretText("ada-password", "password"), dev.secretText("robot-api-key", "apiKey")];
const stored = () => dev.store.count(collection, {});
const countsOf = (name: string) => {
  const parts = dev.parts(`default/${name}`);
  return [parts?.resources.size, parts?.rootKeys.size, parts?.users.size, parts?.keys.size];
};

describe("a Project that is renamed together with its children", () => {
  it("is served under the new name with all of them, and one message says what became of them", async () => {
    await served(project("shop") + children("shop"));
    expect(await newsOf(project("store") + children("store"))).toEqual([
      "Project/default/store is live at http://localhost/default/store",
      "ApiResource/default/books is live",
      "RootKey/default/flags is live",
      "ProjectUser/default/ada is live",
      "ApiKey/default/robot is live",
      "Project/default/shop is no longer served",
      `Project/default/store: ${names} now belong to it instead of Project/default/shop, and were created again. Generated passwords and keys are new, in the same files as before; the former ones and all sessions have ended.`,
      "ApiResource/default/books: its data (1 object) is kept as default/shop/api/books (deletionPolicy: Retain): to serve it again, name the Project shop again, in projectRef too",
    ]);
    expect([countsOf("store"), dev.parts("default/shop")]).toEqual([[1, 1, 1, 1], undefined]);
    expect(await dev.pass()).toEqual([]);
  });

  it("has new passwords and keys in the same files, and they stay when the former objects are gone for good", async () => {
    await served(project("shop") + children("shop"));
    const before = secrets();
    await newsOf(project("store") + children("store"));
    const after = secrets();
    for (const [index, secret] of after.entries()) {
      expect(secret?.length).toBeGreaterThan(15);
      expect(secret).not.toBe(before[index]);
    }
    dev.clock.advance(graceMs);
    await dev.pass();
    await dev.restart();
    await dev.pass();
    expect(secrets()).toEqual(after);
    expect(countsOf("store")).toEqual([1, 1, 1, 1]);
  });

  it("serves the data again when the former name comes back, with users and keys that can log in", async () => {
    await served(project("shop") + children("shop"));
    await newsOf(project("store") + children("store"));
    dev.clock.advance(graceMs);
    await dev.pass();
    await newsOf(project("shop") + children("shop"));
    expect(await stored()).toBe(1);
    expect(countsOf("shop")).toEqual([1, 1, 1, 1]);
  });

  it("says that data will be deleted, deletes them after the grace period and not before", async () => {
    await served(project("shop", { deletionPolicy: "Delete" }) + children("shop"));
    const news = await newsOf(project("store", { deletionPolicy: "Delete" }) + children("store"));
    expect(news).toContain(
      "ApiResource/default/books: its data (1 object) will be deleted in 5 seconds (deletionPolicy: Delete), unless it and a Project are named shop again",
    );
    dev.clock.advance(graceMs - 1);
    await dev.pass();
    expect(await stored()).toBe(1);
    dev.clock.advance(1);
    expect(await dev.pass()).toContain("default/shop/api/books: its data are deleted");
    expect(await stored()).toBe(0);
  });

  it("keeps data that would be deleted when the former name comes back in time, over a restart too", async () => {
    await served(project("shop") + children("shop", { deletionPolicy: "Delete" }));
    await newsOf(project("store") + children("store", { deletionPolicy: "Delete" }));
    await dev.restart();
    await newsOf(project("shop") + children("shop", { deletionPolicy: "Delete" }));
    dev.clock.advance(graceMs);
    await dev.pass();
    expect(await stored()).toBe(1);
    expect(countsOf("shop")).toEqual([1, 1, 1, 1]);
  });
});

describe("an edit that is half done", () => {
  it("says once that the Project is missing, what names it, and which name may be meant", async () => {
    await served(project("shop") + children("shop"));
    expect(await newsOf(project("store") + children("shop"))).toEqual([
      `a.yaml:3:117: Project/default/shop: There is no such Project: did you mean "store"? 4 objects name it in projectRef and are not served until this is fixed: ${names}`,
      "Project/default/store is live at http://localhost/default/store",
      "Project/default/shop is no longer served",
      "ApiResource/default/books: its data (1 object) is kept as default/shop/api/books (deletionPolicy: Retain): to serve it again, name a Project shop again",
    ]);
    expect(await dev.pass()).toEqual([]);
    const news = await newsOf(project("store") + children("store"));
    expect(news).toContain("ApiResource/default/books is live");
    expect(countsOf("store")).toEqual([1, 1, 1, 1]);
    expect(await stored()).toBe(1);
  });

  it("tells and does the same with data whether or not the Project was renamed before its children", async () => {
    await served(project("shop", { deletionPolicy: "Delete" }) + children("shop"));
    await newsOf(project("store") + children("shop"));
    expect(await newsOf(project("store") + children("store"))).toContainEqual(
      expect.stringContaining("its data (1 object) will be deleted in 5 seconds"),
    );
    dev.clock.advance(graceMs);
    await dev.pass();
    expect(await stored()).toBe(0);
  });

  it("goes on serving objects that name a Project which is not there yet, and deletes nothing of them", async () => {
    await served(project("shop") + children("shop", { deletionPolicy: "Delete" }));
    const before = secrets();
    expect(await newsOf(project("shop") + children("store", { deletionPolicy: "Delete" }))).toEqual([
      `a.yaml:3:117: Project/default/store: There is no such Project: did you mean "shop"? 4 objects name it in projectRef and are still served in their last valid versions: ${names}`,
    ]);
    dev.clock.advance(graceMs);
    await dev.pass();
    expect([await stored(), countsOf("shop")]).toEqual([1, [1, 1, 1, 1]]);
    expect(secrets()).toEqual(before);
    await newsOf(project("store") + children("store", { deletionPolicy: "Delete" }));
    expect(countsOf("store")).toEqual([1, 1, 1, 1]);
  });

  it("names no Project as meant where several are unlike, and says when there is none", async () => {
    const lonely = manifest("RootKey", "flags", { projectRef: { name: "nothing" } });
    expect((await newsOf(project("shop") + project("bank") + lonely))[0]).toContain(
      "Project/default/nothing: There is no such Project; those in namespace default are shop, bank. RootKey/flags names it in projectRef and is not served until this is fixed",
    );
    expect((await newsOf(lonely))[0]).toContain("There is no such Project, and no other in namespace default.");
  });

  it("says once that a Project is not accepted, and what waits for it", async () => {
    const news = await newsOf(project("shop", { serving: "Paused" }) + children("shop"));
    expect(news.map((line) => line.split(": ").slice(1).join(": "))).toEqual([
      expect.stringMatching(/^Project\/default\/shop \/spec\/serving: /),
      `Project/default/shop: It is not accepted yet. 4 objects name it in projectRef and are not served until it is: ${names}`,
    ]);
  });
});
