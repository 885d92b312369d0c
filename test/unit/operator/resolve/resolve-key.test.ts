import { createSecretKey, randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { KeyConfig } from "../../../../core/config/types.ts";
import { compileKey } from "../../../../operator/compile/child-configs.ts";
import { servedConfigs } from "../../../../operator/compile/compile-children.ts";
import type { ApiKey } from "../../../../operator/model/objects.ts";
import { sha256Hex } from "../../../../operator/resolve/mint.ts";
import { resolveKey } from "../../../../operator/resolve/resolve-key.ts";
import { createMemorySecrets, type MemorySecrets } from "../../../support/fleet/memory-secrets.ts";

const projectKey = randomBytes(32);
const sealKey = createSecretKey(randomBytes(32));
const start = Date.parse("2026-06-01T12:00:00Z");
const day = 24 * 3600 * 1000;

let secrets: MemorySecrets;
let published: readonly KeyConfig[];
let status: ApiKey["status"];
let now: number;
let baseUrl: string;

beforeEach(() => {
  secrets = createMemorySecrets();
  published = [];
  status = undefined;
  now = start;
  baseUrl = "http://localhost/default/shop";
});

function apiKey(spec: Partial<ApiKey["spec"]> = {}, uid = "uid-1"): ApiKey {
  return {
    apiVersion: "jsonplane.io/v1alpha1",
    kind: "ApiKey",
    metadata: { namespace: "default", name: "ci", uid, creationTimestamp: "2026-06-01T12:00:00Z" },
    spec: { projectRef: { name: "shop" }, role: "Users", access: "Read", ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

/** One reconcile: resolve, write the Secrets, publish, remember the status. */
function reconcile(key: ApiKey = apiKey()) {
  const tools = {
    findSecret: secrets.find,
    random: randomBytes,
    now,
    hashPassword: async () => "",
    isPasswordOf: async () => false,
    baseUrl,
    projectKey,
    sealKey,
    restore: "denied" as const,
  };
  const resolution = resolveKey(key, published, tools);
  secrets.apply(resolution.writes);
  if (resolution.status !== undefined) status = resolution.status;
  published = servedConfigs(key, compileKey(key, resolution.credential, published), published);
  return resolution;
}

function live(): readonly string[] {
  return published
    .filter(({ expiresAt }) => expiresAt === undefined || expiresAt * 1000 > now)
    .map(({ sha256 }) => sha256);
}

function shownKey(): string {
  return secrets.text("ci-api-key", "apiKey") ?? "";
}

function rotation(id: string, gracePeriod = "24h") {
  return { rotation: { id, gracePeriod } };
}

describe("an ApiKey's Secrets", () => {
  it("get a key of 256 random bits once, with its id and the base URL beside it", () => {
    const first = reconcile();
    expect(first.writes.map(({ mode, name }) => [mode, name])).toEqual([
      ["create", "ci-api-key"],
      ["create", "ci-key-hash"],
    ]);
    expect(shownKey()).toMatch(/^jp_[0-9A-Za-z]{43}$/);
    expect(secrets.text("ci-api-key", "baseURL")).toBe("http://localhost/default/shop");
    expect(sha256Hex(shownKey()).startsWith(secrets.text("ci-api-key", "id") ?? "?")).toBe(true);
    expect(live()).toEqual([sha256Hex(shownKey())]);
    expect(reconcile().writes).toEqual([]);
  });

  it("never hold the key outside the Secret that shows it", () => {
    const { writes, credential, status: facts } = reconcile();
    const others = JSON.stringify([writes.filter(({ name }) => name !== "ci-api-key"), credential, facts]);
    expect(others).not.toContain(shownKey());
  });

  it("take the name that the spec says", () => {
    reconcile(apiKey({ secretName: "my.key" }));
    expect(secrets.names()).toEqual(["ci-key-hash", "my.key"]);
  });

  it.each(["ci-api-key", "ci-key-hash"])(
    "are refused when %s belongs to something else, and it is left alone",
    (name) => {
      secrets.put(name, { apiKey: "mine" });
      const { credential, writes } = reconcile();
      expect(credential).toMatchObject({ ok: false, refusal: { reason: "SecretConflict" } });
      expect(writes).toEqual([]);
    },
  );

  it("go on working when the shown Secret is deleted: never minted anew, never shown again", () => {
    reconcile();
    const before = live();
    secrets.remove("ci-api-key");
    const { credential, writes } = reconcile();
    expect(writes).toEqual([]);
    expect(credential).toMatchObject({ ok: true, notices: [{ reason: "KeyNotRetrievable" }] });
    expect(live()).toEqual(before);
  });

  it("go on working with the former key when apiKey is edited", () => {
    reconcile();
    const before = live();
    secrets.edit("ci-api-key", "apiKey", "jp_mine");
    expect(reconcile().credential).toMatchObject({ ok: true, notices: [{ reason: "KeyNotRetrievable" }] });
    expect(live()).toEqual(before);
  });

  it("are repaired where something beside the key was edited or has changed", () => {
    reconcile();
    const key = shownKey();
    secrets.edit("ci-api-key", "id", "mine");
    baseUrl = "https://api.example.org/default/shop";
    expect(reconcile().writes.map(({ name, mode }) => [mode, name])).toEqual([["replace", "ci-api-key"]]);
    expect(secrets.text("ci-api-key", "baseURL")).toBe(baseUrl);
    expect(secrets.text("ci-api-key", "id")).not.toBe("mine");
    expect(shownKey()).toBe(key);
  });

  it("make a new key when rotation.id changes, and the old one lives for the grace period", () => {
    reconcile();
    const first = shownKey();
    const key = apiKey(rotation("2026-06", "1h"));
    reconcile(key);
    expect(shownKey()).not.toBe(first);
    expect(live()).toEqual([sha256Hex(shownKey()), sha256Hex(first)]);
    expect(reconcile(key).writes).toEqual([]);
    now += 3_600_000;
    reconcile(key);
    expect(live()).toEqual([sha256Hex(shownKey())]);
  });

  it("let two keys live at most: a second rotation ends the first key at once", () => {
    reconcile(apiKey(rotation("a")));
    const first = shownKey();
    reconcile(apiKey(rotation("b")));
    const second = shownKey();
    reconcile(apiKey(rotation("c")));
    expect(live()).toEqual([sha256Hex(shownKey()), sha256Hex(second)]);
    expect(live()).not.toContain(sha256Hex(first));
  });

  it("do not rotate when rotation is taken out and put back", () => {
    reconcile(apiKey(rotation("a")));
    const key = shownKey();
    expect(reconcile(apiKey()).writes).toEqual([]);
    expect(reconcile(apiKey(rotation("a"))).writes).toEqual([]);
    expect(shownKey()).toBe(key);
  });

  it("show a key again after a rotation when the Secret had been deleted", () => {
    reconcile();
    secrets.remove("ci-api-key");
    reconcile(apiKey(rotation("again")));
    expect(live()[0]).toBe(sha256Hex(shownKey()));
  });

  it.each([
    ["deleted", () => secrets.remove("ci-key-hash")],
    ["edited", () => secrets.edit("ci-key-hash", "record", `{"current":"${sha256Hex("stolen")}","rotatedAt":"x"}`)],
    ["broken", () => secrets.edit("ci-key-hash", "record", "{")],
  ])("rebuild a hash Secret that was %s", (_, harm) => {
    reconcile();
    const before = live();
    harm();
    expect(reconcile().writes.map(({ name }) => name)).toEqual(["ci-key-hash"]);
    expect(live()).toEqual(before);
    expect(reconcile().writes).toEqual([]);
  });

  it("rebuild a hash Secret from what is published when the shown one is gone too, the retiring key included", () => {
    reconcile(apiKey(rotation("a")));
    reconcile(apiKey(rotation("b")));
    const before = live();
    secrets.remove("ci-key-hash");
    secrets.remove("ci-api-key");
    const { credential } = reconcile(apiKey(rotation("b")));
    expect(credential).toMatchObject({ ok: true, notices: [{ reason: "KeyNotRetrievable" }] });
    expect(live()).toEqual(before);
    now += day;
    reconcile(apiKey(rotation("b")));
    expect(live()).toEqual(before.slice(0, 1));
  });

  it("are lost when nothing is left of them, until rotation.id changes", () => {
    reconcile();
    for (const name of secrets.names()) secrets.remove(name);
    published = [];
    expect(reconcile().credential).toMatchObject({ ok: false, refusal: { reason: "KeyLost" } });
    expect(secrets.names()).toEqual([]);
    expect(reconcile(apiKey(rotation("new"))).credential.ok).toBe(true);
    expect(live()).toEqual([sha256Hex(shownKey())]);
  });

  it("are not taken from the hash Secret of another ApiKey", () => {
    reconcile();
    const former = live();
    secrets.remove("ci-api-key");
    status = undefined;
    published = [];
    secrets.relabel("ci-key-hash", "other-key-hash", "other");
    const other = { ...apiKey({}, "uid-2"), metadata: { ...apiKey({}, "uid-2").metadata, name: "other" } };
    expect(reconcile(other).credential).toMatchObject({ ok: false, refusal: { reason: "SecretConflict" } });
    expect(live()).not.toEqual(former);
  });
});
