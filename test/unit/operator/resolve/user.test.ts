import { createSecretKey, randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { UserConfig } from "../../../../core/config/types.ts";
import { generatedPasswordCost, type PasswordCost, PasswordRefused } from "../../../../core/password/hash-password.ts";
import { compileUser } from "../../../../operator/compile/child-configs.ts";
import { servedConfigs } from "../../../../operator/compile/compile-children.ts";
import type { ProjectUser } from "../../../../operator/model/objects.ts";
import { passwordRevision, resolveUser } from "../../../../operator/resolve/user.ts";
import { fakeHash } from "../../../support/fleet/fake-hash.ts";
import { createMemorySecrets, type MemorySecrets } from "../../../support/fleet/memory-secrets.ts";

const hmacKey = createSecretKey(randomBytes(32));
const fromSecret = { passwordSecretRef: { name: "given", key: "pw" } };

let secrets: MemorySecrets;
let published: UserConfig | undefined;
let status: ProjectUser["status"];
let hashed: string[];
/** Of each of them; undefined = that of passwords that people made. */
let costs: (PasswordCost | undefined)[];

beforeEach(() => {
  secrets = createMemorySecrets();
  published = undefined;
  status = undefined;
  hashed = [];
  costs = [];
});

function user(spec: Partial<ProjectUser["spec"]> = {}, uid = "uid-1"): ProjectUser {
  return {
    apiVersion: "jsonplane.io/v1alpha1",
    kind: "ProjectUser",
    metadata: { namespace: "default", name: "alice", uid, creationTimestamp: "2026-06-01T12:00:00Z" },
    spec: { projectRef: { name: "shop" }, role: "Users", access: "Read", ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

/** One reconcile: resolve, write the Secrets, publish, remember the status. */
async function reconcile(object: ProjectUser = user()) {
  const tools = {
    findSecret: secrets.find,
    random: randomBytes,
    now: Date.parse("2026-06-01T12:00:00Z"),
    hashPassword: async (password: string, cost?: PasswordCost) => {
      if (password === "") throw new PasswordRefused("The password is empty");
      hashed.push(password);
      costs.push(cost);
      return fakeHash(password);
    },
    baseUrl: "http://localhost/default/shop",
    hmacKey,
    restore: "none" as const,
  };
  const resolution = await resolveUser(object, published, tools);
  secrets.apply(resolution.writes);
  if (resolution.status !== undefined) status = resolution.status;
  const former = published === undefined ? [] : [published];
  [published] = servedConfigs(object, compileUser(object, resolution.credential, former), former);
  return resolution;
}

function shownPassword(): string {
  return secrets.text("alice-password", "password") ?? "";
}

describe("a generated password", () => {
  it("is written once, with the user name, in a Secret of type basic-auth", async () => {
    const { writes } = await reconcile(user({ username: "alice@example.org" }));
    expect(writes.map(({ name, type }) => [name, type])).toEqual([
      ["alice-password", "kubernetes.io/basic-auth"],
      ["alice-user-hash", "Opaque"],
    ]);
    expect(shownPassword()).toMatch(/^[0-9A-Za-z]{27}$/);
    expect(secrets.text("alice-password", "username")).toBe("alice@example.org");
    expect(published?.passwordHash).toBe(fakeHash(shownPassword()));
    expect(JSON.stringify(writes[1])).not.toContain(`"${shownPassword()}"`);
  });

  it("is hashed cheaply: nobody guesses 160 random bits", async () => {
    await reconcile();
    await reconcile(user({ rotation: { id: "2" } }));
    expect(hashed.at(-1)).toBe(shownPassword());
    expect(costs).toEqual([generatedPasswordCost, generatedPasswordCost]);
  });

  it("of an interrupted rotation is used, and not made a second time", async () => {
    await reconcile();
    const before = secrets.save();
    await reconcile(user({ rotation: { id: "2" } }));
    const rotated = secrets.save().get("alice-password");
    const password = shownPassword();
    secrets.restore(new Map([...before, ...(rotated === undefined ? [] : [["alice-password", rotated] as const])]));
    await reconcile(user({ rotation: { id: "2" } }));
    expect(shownPassword()).toBe(password);
    expect(published?.passwordHash).toBe(fakeHash(password));
  });

  it("that somebody replaced by one of their own is hashed at full cost", async () => {
    await reconcile();
    secrets.edit("alice-password", "password", "chosen by hand");
    await reconcile();
    expect([hashed.at(-1), costs.at(-1)]).toEqual(["chosen by hand", undefined]);
  });

  it("is hashed once and not at every start", async () => {
    await reconcile();
    published = undefined;
    expect((await reconcile()).writes).toEqual([]);
    expect(hashed).toHaveLength(1);
  });

  it.each<[string, () => void]>([
    ["deleted", () => secrets.remove("alice-password")],
    ["stripped of its HMAC", () => secrets.annotate("alice-password", "jsonplane.io/seal", undefined)],
    ["made by somebody else for it", () => secrets.annotate("alice-password", "jsonplane.io/seal", "planted")],
  ])("whose Secret was %s is replaced, and sessions end", async (_, lose) => {
    await reconcile();
    const [password, before] = [shownPassword(), published?.credentialRevision];
    lose();
    const { events } = await reconcile();
    expect(events.map(({ note }) => note.reason)).toEqual(["CredentialRotated"]);
    expect(shownPassword()).not.toBe(password);
    expect(published?.passwordHash).toBe(fakeHash(shownPassword()));
    expect(published?.credentialRevision).not.toBe(before);
    expect((await reconcile()).writes).toEqual([]);
  });

  it("is adopted when it is edited, under another revision, so that sessions end", async () => {
    await reconcile();
    const before = published?.credentialRevision;
    secrets.edit("alice-password", "password", "mine");
    await reconcile();
    expect(published?.passwordHash).toBe(fakeHash("mine"));
    expect(published?.credentialRevision).not.toBe(before);
  });

  it("is made anew when rotation.id changes, and only then", async () => {
    await reconcile(user({ rotation: { id: "a" } }));
    const first = shownPassword();
    await reconcile(user({ rotation: { id: "b" } }));
    const second = shownPassword();
    expect(second).not.toBe(first);
    expect(published?.passwordHash).toBe(fakeHash(second));
    await reconcile(user());
    await reconcile(user({ rotation: { id: "b" } }));
    expect(shownPassword()).toBe(second);
  });

  it.each(["alice-password", "alice-user-hash"])("is refused when %s belongs to something else", async (name) => {
    secrets.put(name, { password: "mine" });
    const { credential, writes } = await reconcile();
    expect(credential).toMatchObject({ ok: false, refusal: { reason: "SecretConflict" } });
    expect(writes).toEqual([]);
  });

  it("survives the loss of its hash Secret through the password, and under the same revision", async () => {
    await reconcile();
    const before = published;
    secrets.remove("alice-user-hash");
    await reconcile();
    expect(published).toEqual(before);
  });

  it("is not taken from a hash Secret that was edited", async () => {
    await reconcile();
    const before = published;
    secrets.edit("alice-user-hash", "record", '{"hash":"stolen","revision":"r","changedAt":"x"}');
    await reconcile();
    expect(published).toEqual(before);
  });

  it("gives two users of one password two revisions", () => {
    const revisions = ["alice", "bob"].map((name) => {
      const owner = { ...user(), metadata: { ...user().metadata, name } };
      return passwordRevision("the same", owner, hmacKey);
    });
    expect(new Set(revisions).size).toBe(2);
  });
});

describe("a password from a Secret of the user's own", () => {
  it("waits for the Secret and for its entry", async () => {
    expect((await reconcile(user(fromSecret))).credential).toMatchObject({ refusal: { reason: "SecretNotFound" } });
    secrets.put("given", { other: "x", pw: "" });
    const { credential } = await reconcile(user(fromSecret));
    expect(credential).toMatchObject({
      refusal: { faults: [{ message: 'Secret "given" has no entry "pw", or an empty one' }] },
    });
    secrets.put("given", { pw: "secret" });
    await reconcile(user(fromSecret));
    expect(published?.passwordHash).toBe(fakeHash("secret"));
  });

  it("is followed when the Secret changes, and kept when it goes away", async () => {
    secrets.put("given", { pw: "one" });
    await reconcile(user(fromSecret));
    secrets.put("given", { pw: "two" });
    await reconcile(user(fromSecret));
    expect(published?.passwordHash).toBe(fakeHash("two"));
    secrets.remove("given");
    expect((await reconcile(user(fromSecret))).credential.ok).toBe(false);
    expect(published?.passwordHash).toBe(fakeHash("two"));
  });

  it("is hashed once for each change: its revision tells", async () => {
    secrets.put("given", { pw: "one" });
    await reconcile(user(fromSecret));
    secrets.put("given", { pw: "two" });
    await reconcile(user(fromSecret));
    await reconcile(user(fromSecret));
    expect(hashed).toEqual(["one", "two"]);
  });

  it("counts a final newline as nothing", async () => {
    secrets.put("given", { pw: "one" });
    await reconcile(user(fromSecret));
    secrets.put("given", { pw: "one\n" });
    await reconcile(user(fromSecret));
    expect(hashed).toEqual(["one"]);
  });

  it("is not taken from what is kept of a password, which changes with each one that is", async () => {
    await reconcile();
    const before = published;
    const own = user({ passwordSecretRef: { name: "alice-user-hash", key: "record" } });
    const { credential, writes } = await reconcile(own);
    expect(credential).toMatchObject({ refusal: { reason: "InvalidSecret" } });
    expect([writes, published]).toEqual([[], before]);
  });

  it("makes no Secret but the hash", async () => {
    secrets.put("given", { pw: "one" });
    await reconcile(user(fromSecret));
    expect(secrets.names()).toEqual(["alice-user-hash", "given"]);
  });

  it("that can't be hashed says why and does not name it", async () => {
    secrets.put("given", { pw: "\n" });
    const tools = {
      findSecret: secrets.find,
      random: randomBytes,
      now: 0,
      baseUrl: "",
      hmacKey,
      restore: "none" as const,
    };
    const refusal = new PasswordRefused("The password is empty");
    const { credential } = await resolveUser(user(fromSecret), undefined, {
      ...tools,
      hashPassword: () => Promise.reject(refusal),
    });
    expect(credential).toMatchObject({
      refusal: { reason: "InvalidSecret", faults: [{ message: 'Secret "given": The password is empty' }] },
    });
  });
});
