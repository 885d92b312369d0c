import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../../operator/resolve/mint.ts";
import { fakeHash } from "../../../support/fleet/fake-hash.ts";
import { type DevCluster, devCluster } from "./dev-cluster.ts";

const project = { namespace: "default", name: "shop" };
let dev: DevCluster;

beforeEach(async () => {
  dev = await devCluster();
});
afterEach(() => dev.close());

function manifest(kind: string, name: string, spec: object = {}): string {
  const reference = kind === "Project" ? {} : { projectRef: { name: "shop" } };
  const object = { apiVersion: "jsonplane.io/v1alpha1", kind, metadata: { name }, spec: { ...reference, ...spec } };
  return `${JSON.stringify(object)}\n---\n`;
}

function secret(name: string, password: string): string {
  return `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}}\nstringData: {password: "${password}"}\n---\n`;
}

const shop = manifest("Project", "shop");
const books = (schema: object = { type: "object" }, more: object = {}) =>
  manifest("ApiResource", "books", { schema, ...more });
const broken = { type: "strnig" };
const graceMs = 5_000;

describe("a folder of manifests", () => {
  it("is served as it stands", async () => {
    dev.edit("a.yaml", shop + books() + manifest("RootKey", "flags", { initialValue: [1] }));
    expect(await dev.pass()).toEqual([]);
    expect([...(dev.parts()?.resources.keys() ?? [])]).toEqual(["books"]);
    expect(dev.parts()?.rootKeys.get("flags")?.initialValue).toBe("[1]");
    expect(dev.live.directory.projects()).toEqual([project]);
  });

  it("takes over what changes and says so once", async () => {
    dev.edit("a.yaml", shop);
    await dev.pass();
    dev.edit("b.yaml", books());
    expect(await dev.pass()).toEqual(["ApiResource/default/books is live"]);
    expect(await dev.pass()).toEqual([]);
    dev.edit("b.yaml", books({ type: "object", title: "newer" }));
    expect(await dev.pass()).toEqual(["ApiResource/default/books is live"]);
  });

  it("says a note once", async () => {
    dev.edit("a.yaml", `${shop}---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\n`);
    expect(await dev.pass()).toEqual([expect.stringContaining("ConfigMap is not served here")]);
    expect(await dev.pass()).toEqual([]);
  });

  it("keeps the last good version of an edit that breaks, says where, and says when it is mended", async () => {
    dev.edit("a.yaml", shop + books({ type: "object", title: "good" }));
    await dev.pass();
    dev.edit("a.yaml", `${shop}${books(broken)}`);
    const [fault, standing] = await dev.pass();
    expect(fault).toMatch(/^a\.yaml:3:[0-9]+: ApiResource\/default\/books \/spec\/schema\/type: .*\(InvalidSchema\)$/);
    expect(standing).toBe("ApiResource/default/books is still served in its last valid version");
    expect(dev.parts()?.resources.get("books")?.schema).toEqual({ type: "object", title: "good" });
    dev.edit("a.yaml", shop + books({ type: "object", title: "good" }));
    expect(await dev.pass()).toEqual(["ApiResource/default/books is live"]);
  });

  it("keeps everything of a file that can't be read, and the Secrets in it", async () => {
    const good =
      shop + books() + manifest("ProjectUser", "alice", { passwordSecretRef: { name: "s" } }) + secret("s", "p");
    dev.edit("a.yaml", good);
    await dev.pass();
    dev.edit("a.yaml", `${good}a: b: c\n`);
    const news = await dev.pass();
    expect(news[0]).toMatch(/^a\.yaml:[0-9]+:[0-9]+: /);
    expect(news.slice(1)).toEqual([expect.stringContaining("what was live stays live")]);
    expect(dev.parts()?.users.has("alice")).toBe(true);
    expect(dev.parts()?.resources.has("books")).toBe(true);
  });

  it("keeps an object whose name was broken", async () => {
    dev.edit("a.yaml", shop + books());
    await dev.pass();
    dev.edit("a.yaml", shop + books().replace('"name":"books"', '"nme":"books"'));
    expect((await dev.pass()).length).toBeGreaterThan(0);
    expect(dev.parts()?.resources.has("books")).toBe(true);
  });

  it("withdraws what is removed, at once", async () => {
    dev.edit("a.yaml", shop);
    dev.edit("b.yaml", books() + manifest("ApiKey", "ci"));
    await dev.pass();
    dev.edit("b.yaml", undefined);
    expect(await dev.pass()).toEqual([
      "ApiResource/default/books is no longer served",
      "ApiKey/default/ci is no longer served",
    ]);
    expect(dev.parts()?.resources.size).toBe(0);
    expect(dev.parts()?.keys.size).toBe(0);
  });

  it("refuses another value in an immutable field, over a restart too, until the manifest is removed and added", async () => {
    dev.edit("a.yaml", shop + manifest("RootKey", "flags", { key: "one" }));
    await dev.pass();
    await dev.restart();
    dev.edit("a.yaml", shop + manifest("RootKey", "flags", { key: "two" }));
    const news = await dev.pass();
    expect(news[0]).toMatch(/RootKey\/default\/flags \/spec\/key: .*immutable/);
    expect([...(dev.parts()?.rootKeys.keys() ?? [])]).toEqual(["one"]);
    dev.edit("a.yaml", shop);
    await dev.pass();
    dev.edit("a.yaml", shop + manifest("RootKey", "flags", { key: "two" }));
    await dev.pass();
    expect([...(dev.parts()?.rootKeys.keys() ?? [])]).toEqual(["two"]);
  });

  it("serves the last good version after a restart while an edit is broken", async () => {
    dev.edit("a.yaml", shop + books({ type: "object", title: "good" }));
    await dev.pass();
    dev.edit("a.yaml", shop + books(broken));
    await dev.pass();
    await dev.restart();
    expect(await dev.pass()).toContain("ApiResource/default/books is still served in its last valid version");
    expect(dev.parts()?.resources.get("books")?.schema).toEqual({ type: "object", title: "good" });
  });

  it("serves a file that can't be read after a restart as it was", async () => {
    dev.edit("a.yaml", shop + books());
    await dev.pass();
    dev.edit("a.yaml", "a: b: c\n");
    await dev.restart();
    await dev.pass();
    expect(dev.parts()?.resources.has("books")).toBe(true);
  });

  it("leaves a suspended project as it was", async () => {
    dev.edit("a.yaml", shop);
    await dev.pass();
    dev.edit("a.yaml", manifest("Project", "shop", { suspend: true, serving: "ReadOnly" }) + books());
    expect(await dev.pass()).toEqual([
      "Project/default/shop is not served: its Project is suspended",
      "ApiResource/default/books is not served: its Project is suspended",
    ]);
    expect(await dev.pass()).toEqual([]);
    expect(dev.parts()?.project.serving).toBe("ReadWrite");
    expect(dev.parts()?.resources.size).toBe(0);
    dev.edit("a.yaml", manifest("Project", "shop", { serving: "ReadOnly" }) + books());
    expect(await dev.pass()).toContain("Project/default/shop is live at http://localhost/default/shop");
    expect(dev.parts()?.project.serving).toBe("ReadOnly");
    expect(dev.parts()?.resources.size).toBe(1);
  });

  it("keeps identities over a restart, and while an editor removes and writes a file", async () => {
    dev.edit("a.yaml", shop + books());
    await dev.pass();
    const before = dev.parts();
    await dev.restart();
    await dev.pass();
    expect(dev.parts()).toEqual(before);
    dev.edit("a.yaml", undefined);
    await dev.pass();
    dev.clock.advance(graceMs - 1);
    dev.edit("a.yaml", shop + books());
    await dev.pass();
    expect(dev.parts()).toEqual(before);
  });

  it("keeps what waits for its deletion", async () => {
    dev.edit("a.yaml", shop);
    await dev.pass();
    dev.edit("a.yaml", undefined);
    await dev.pass();
    const state = JSON.parse(readFileSync(join(dirname(dev.folder), "objects.json"), "utf8"));
    expect(state.pendingDeletions).toMatchObject([{ subject: "Project/default/shop", removedAt: dev.clock.now() }]);
  });

  it("writes nothing when nothing changes", async () => {
    dev.edit("a.yaml", shop + books() + manifest("ApiKey", "ci") + manifest("ProjectUser", "alice"));
    await dev.pass();
    const root = dirname(dev.folder);
    const stamps = () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => {
          const { ino, mtimeMs } = statSync(join(entry.parentPath, entry.name));
          return [entry.name, ino, mtimeMs];
        });
    const before = stamps();
    await dev.pass();
    await dev.restart();
    await dev.pass();
    expect(stamps()).toEqual(before);
  });
});

describe("generated Secrets", () => {
  beforeEach(async () => {
    dev.edit("a.yaml", shop + manifest("ApiKey", "ci") + manifest("ProjectUser", "alice"));
    await dev.pass();
  });

  it("are manifests that only the owner can read", () => {
    const file = dev.secrets.fileOf("default", "ci-api-key");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    const key = dev.secretText("ci-api-key", "apiKey") ?? "";
    expect([...(dev.parts()?.keys.keys() ?? [])]).toEqual([sha256Hex(key)]);
    expect(dev.secretText("ci-api-key", "baseURL")).toBe("http://localhost/default/shop");
    expect(dev.secretText("alice-password", "username")).toBe("alice");
  });

  it("stay the same over a restart, and no password is hashed again", async () => {
    const before = dev.parts();
    await dev.restart();
    await dev.pass();
    expect(dev.parts()).toEqual(before);
    expect(dev.hashed).toHaveLength(1);
  });

  it("are written into nothing else that is kept", () => {
    const state = readFileSync(join(dirname(dev.folder), "objects.json"), "utf8");
    for (const text of [dev.secretText("ci-api-key", "apiKey"), dev.secretText("alice-password", "password")]) {
      expect(text).toBeTruthy();
      expect(state).not.toContain(text);
    }
  });

  it("follow an edit of the password", async () => {
    const file = dev.secrets.fileOf("default", "alice-password");
    writeFileSync(file, readFileSync(file, "utf8").replace(/password: .*/, "password: mine"));
    await dev.pass();
    expect(dev.parts()?.users.get("alice")?.passwordHash).toBe(fakeHash("mine"));
  });

  it("are made again when they are deleted, and the former key works until its grace period ends", async () => {
    const [former] = dev.parts()?.keys.keys() ?? [];
    await dev.secrets.remove("default", "ci-api-key");
    await dev.secrets.remove("default", "alice-password");
    await dev.pass();
    expect(dev.parts()?.keys.size).toBe(2);
    expect(dev.parts()?.keys.get(former ?? "")?.expiresAt).toBe(Math.floor(dev.clock.now() / 1000) + 24 * 3_600);
    const before = dev.parts();
    await dev.restart();
    await dev.pass();
    expect(dev.parts()).toEqual(before);
  });

  it("are made again where they were deleted while dev mode did not run", async () => {
    await dev.secrets.remove("default", "ci-api-key");
    await dev.restart();
    await dev.pass();
    expect(dev.parts()?.keys.size).toBe(1);
    expect(existsSync(dev.secrets.fileOf("default", "ci-api-key"))).toBe(true);
  });

  it("let the old key live for its grace period after a rotation", async () => {
    const [old] = dev.parts()?.keys.keys() ?? [];
    const rotated = manifest("ApiKey", "ci", { rotation: { id: "2", gracePeriod: "1h" } });
    dev.edit("a.yaml", shop + rotated + manifest("ProjectUser", "alice"));
    await dev.pass();
    const retiring = dev.parts()?.keys.get(old ?? "");
    expect(retiring?.expiresAt).toBe(Math.floor(dev.clock.now() / 1000) + 3600);
    expect(dev.parts()?.keys.size).toBe(2);
  });

  it("go a moment after their object, and not before", async () => {
    dev.edit("a.yaml", shop);
    await dev.pass();
    dev.clock.advance(graceMs - 1);
    await dev.pass();
    expect(dev.secretText("ci-api-key", "apiKey")).toBeDefined();
    dev.clock.advance(1);
    await dev.pass();
    expect(await dev.secrets.read()).toMatchObject({ unreadable: [] });
    expect([...(await dev.secrets.read()).secrets.keys()]).toEqual(["default/shop-signing"]);
  });

  it("are never taken from a Secret of the folder that has their name", async () => {
    dev.edit("b.yaml", secret("bob-password", "mine") + manifest("ProjectUser", "bob"));
    const news = await dev.pass();
    expect(news[0]).toContain("(SecretConflict)");
    expect(news[1]).toBe("ProjectUser/default/bob is not served until this is fixed");
  });
});

describe("a password in a Secret of the folder", () => {
  it("is followed, and waited for", async () => {
    dev.edit("a.yaml", shop + manifest("ProjectUser", "alice", { passwordSecretRef: { name: "s" } }));
    expect((await dev.pass())[0]).toContain('has no Secret "s": create it');
    dev.edit("s.yaml", secret("s", "one"));
    expect(await dev.pass()).toEqual(["ProjectUser/default/alice is live"]);
    dev.edit("s.yaml", secret("s", "two"));
    await dev.pass();
    expect(dev.parts()?.users.get("alice")?.passwordHash).toBe(fakeHash("two"));
    expect(dev.hashed).toEqual(["one", "two"]);
  });
});

describe("data of what is removed", () => {
  const collection = { project, resource: "books" };
  const document = { project, rootKey: "flags" };
  const children = (policy?: string) => {
    const more = policy === undefined ? {} : { deletionPolicy: policy };
    return books({ type: "object" }, more) + manifest("RootKey", "flags", more);
  };

  async function storeSomething(): Promise<void> {
    await dev.store.declareIndexes(collection, [], 1);
    await dev.store.create(collection, { id: "1", owner: "user:a", text: '{"id":"1"}' }, 10);
    await dev.store.initialise(document, "1");
  }

  async function stored(): Promise<readonly [number, boolean]> {
    const read = await dev.store.readAt(document, []);
    return [await dev.store.count(collection, {}), read.outcome === "found"];
  }

  it.each([
    ["stay by default", manifest("Project", "shop"), undefined, [1, true]],
    ["go when they say Delete", manifest("Project", "shop"), "Delete", [0, false]],
    [
      "go when their Project says Delete",
      manifest("Project", "shop", { deletionPolicy: "Delete" }),
      undefined,
      [0, false],
    ],
    [
      "stay when they say Retain against it",
      manifest("Project", "shop", { deletionPolicy: "Delete" }),
      "Retain",
      [1, true],
    ],
  ] as const)("%s", async (_, parent, policy, left) => {
    dev.edit("a.yaml", parent);
    dev.edit("b.yaml", children(policy));
    await dev.pass();
    await storeSomething();
    dev.edit("b.yaml", undefined);
    await dev.pass();
    expect(await stored()).toEqual([1, true]);
    dev.clock.advance(graceMs);
    await dev.pass();
    expect(await stored()).toEqual(left);
  });

  it("go with a Project that says Delete, its children standing by", async () => {
    dev.edit("a.yaml", manifest("Project", "shop", { deletionPolicy: "Delete" }));
    dev.edit("b.yaml", children());
    await dev.pass();
    await storeSomething();
    dev.edit("a.yaml", undefined);
    await dev.pass();
    dev.clock.advance(graceMs);
    expect(await dev.pass()).toEqual([
      "default/shop/api/books: its data are deleted",
      "default/shop/json/flags: its data are deleted",
    ]);
    expect(await stored()).toEqual([0, false]);
  });

  it("stay when the manifest comes back in time", async () => {
    dev.edit("a.yaml", shop);
    dev.edit("b.yaml", children("Delete"));
    await dev.pass();
    await storeSomething();
    dev.edit("b.yaml", undefined);
    await dev.pass();
    dev.edit("b.yaml", children("Delete"));
    await dev.pass();
    dev.clock.advance(graceMs);
    await dev.pass();
    expect(await stored()).toEqual([1, true]);
  });

  it("stay when another object serves them by then", async () => {
    dev.edit("a.yaml", shop);
    dev.edit("b.yaml", books({ type: "object" }, { deletionPolicy: "Delete" }));
    await dev.pass();
    await storeSomething();
    dev.edit("b.yaml", manifest("ApiResource", "heir", { resourceName: "books", schema: { type: "object" } }));
    await dev.pass();
    dev.clock.advance(graceMs);
    await dev.pass();
    expect((await stored())[0]).toBe(1);
  });

  it("go after a restart in between, too", async () => {
    dev.edit("a.yaml", shop);
    dev.edit("b.yaml", children("Delete"));
    await dev.pass();
    await storeSomething();
    dev.edit("b.yaml", undefined);
    await dev.pass();
    await dev.restart();
    dev.clock.advance(graceMs);
    await dev.pass();
    expect(await stored()).toEqual([0, false]);
  });
});
