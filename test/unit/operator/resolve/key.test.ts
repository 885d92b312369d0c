import { createSecretKey, randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { KeyConfig } from "../../../../core/config/types.ts";
import { compileKey } from "../../../../operator/compile/child-configs.ts";
import { servedConfigs } from "../../../../operator/compile/compile-children.ts";
import type { ApiKey } from "../../../../operator/model/objects.ts";
import { resolveKey } from "../../../../operator/resolve/key.ts";
import { sha256Hex } from "../../../../operator/resolve/mint.ts";
import { createMemorySecrets, type MemorySecrets } from "../../../support/fleet/memory-secrets.ts";

const hmacKey = createSecretKey(randomBytes(32));
const start = Date.parse("2026-06-01T12:00:00Z");
const hour = 3_600_000;

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
    baseUrl,
    hmacKey,
    restore: "none" as const,
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

describe("an ApiKey's Secret", () => {
  it("gets a key of 256 random bits once, with its id and the base URL", () => {
    const first = reconcile();
    expect(first.writes.map(({ mode, name }) => [mode, name])).toEqual([["create", "ci-api-key"]]);
    expect(shownKey()).toMatch(/^jp_[0-9A-Za-z]{43}$/);
    expect(secrets.text("ci-api-key", "baseURL")).toBe("http://localhost/default/shop");
    expect(sha256Hex(shownKey()).startsWith(secrets.text("ci-api-key", "id") ?? "?")).toBe(true);
    expect(live()).toEqual([sha256Hex(shownKey())]);
    expect(reconcile().writes).toEqual([]);
  });

  it("is the only place of the key", () => {
    const { writes, ...rest } = reconcile();
    const annotations = writes.map((write) => write.annotations);
    expect(JSON.stringify([annotations, rest])).not.toContain(shownKey());
  });

  it("has the name that the spec says", () => {
    reconcile(apiKey({ secretName: "my.key" }));
    expect(secrets.names()).toEqual(["my.key"]);
  });

  it("is left alone where it belongs to somebody else", () => {
    secrets.put("ci-api-key", { apiKey: "mine" });
    const { credential, writes } = reconcile();
    expect(credential).toMatchObject({ ok: false, refusal: { reason: "SecretConflict" } });
    expect(writes).toEqual([]);
  });

  const losses: readonly [string, () => void][] = [
    ["deleted", () => secrets.remove("ci-api-key")],
    ["edited in its key", () => secrets.edit("ci-api-key", "apiKey", "jp_mine")],
    ["edited in its annotation", () => secrets.annotate("ci-api-key", "jsonplane.io/rotation", '{"id":"mine"}')],
    ["stripped of its HMAC", () => secrets.annotate("ci-api-key", "jsonplane.io/seal", undefined)],
  ];

  it.each(losses)("%s gets a new key, and the former one works for the grace period", (_, lose) => {
    reconcile();
    const first = shownKey();
    lose();
    const { events, status: facts } = reconcile();
    expect(events.map(({ note }) => note.reason)).toEqual(["CredentialRotated"]);
    expect(shownKey()).toMatch(/^jp_[0-9A-Za-z]{43}$/);
    expect(live()).toEqual([sha256Hex(shownKey()), sha256Hex(first)]);
    expect(facts?.previousKeyExpiresAt).toBe("2026-06-02T12:00:00Z");
    expect(reconcile().writes).toEqual([]);
    now += 24 * hour;
    reconcile();
    expect(live()).toEqual([sha256Hex(shownKey())]);
  });

  it.each(losses)("%s without a grace period ends the former key at once", (_, lose) => {
    const key = apiKey(rotation("a", "0s"));
    reconcile(key);
    lose();
    reconcile(key);
    expect(live()).toEqual([sha256Hex(shownKey())]);
  });

  it("deleted while nothing is published gets a new key, and no other works", () => {
    reconcile();
    published = [];
    secrets.remove("ci-api-key");
    reconcile();
    expect(live()).toEqual([sha256Hex(shownKey())]);
  });

  it("is used as it is while nothing is published, the former key included", () => {
    reconcile(apiKey(rotation("a")));
    reconcile(apiKey(rotation("b")));
    const before = live();
    published = [];
    expect(reconcile(apiKey(rotation("b"))).writes).toEqual([]);
    expect(before).toHaveLength(2);
    expect(live()).toEqual(before);
  });

  it("that keeps being changed makes repairs of one cause, although each makes another key", () => {
    reconcile();
    const causes = [0, 1].map(() => {
      secrets.annotate("ci-api-key", "jsonplane.io/seal", "mine");
      return reconcile().writes.map(({ causeId }) => causeId);
    });
    expect(causes[0]).toEqual([expect.any(String)]);
    expect(causes[1]).toEqual(causes[0]);
  });

  it("is repaired where another entry was edited or has to change", () => {
    reconcile();
    const key = shownKey();
    secrets.edit("ci-api-key", "id", "mine");
    baseUrl = "https://api.example.org/default/shop";
    expect(reconcile().writes.map(({ name, mode }) => [mode, name])).toEqual([["replace", "ci-api-key"]]);
    expect(secrets.text("ci-api-key", "baseURL")).toBe(baseUrl);
    expect(secrets.text("ci-api-key", "id")).not.toBe("mine");
    expect(shownKey()).toBe(key);
  });

  it("gets a new key when rotation.id changes, and the former one works for the grace period", () => {
    reconcile();
    const first = shownKey();
    const key = apiKey(rotation("2026-06", "1h"));
    reconcile(key);
    expect(shownKey()).not.toBe(first);
    expect(live()).toEqual([sha256Hex(shownKey()), sha256Hex(first)]);
    expect(reconcile(key).writes).toEqual([]);
    now += hour;
    reconcile(key);
    expect(live()).toEqual([sha256Hex(shownKey())]);
  });

  it("lets two keys work at most: a second rotation ends the first key at once", () => {
    reconcile(apiKey(rotation("a")));
    const first = shownKey();
    reconcile(apiKey(rotation("b")));
    const second = shownKey();
    reconcile(apiKey(rotation("c")));
    expect(live()).toEqual([sha256Hex(shownKey()), sha256Hex(second)]);
    expect(live()).not.toContain(sha256Hex(first));
  });

  it("that is lost when two keys end at once with the ApiKey keeps the one that the status shows, in whatever order they are published", () => {
    const ending = (id: string) => apiKey({ ...rotation(id), expiresAt: "2026-06-01T13:00:00Z" });
    reconcile(ending("a"));
    reconcile(ending("b"));
    const second = shownKey();
    published = published.toReversed();
    secrets.remove("ci-api-key");
    reconcile(ending("b"));
    expect(live()).toEqual([sha256Hex(shownKey()), sha256Hex(second)]);
  });

  it("stays when rotation is removed and set again", () => {
    reconcile(apiKey(rotation("a")));
    const key = shownKey();
    expect(reconcile(apiKey()).writes).toEqual([]);
    expect(reconcile(apiKey(rotation("a"))).writes).toEqual([]);
    expect(shownKey()).toBe(key);
  });

  it("of an earlier rotation that is put back lets nobody in: another key is made", () => {
    reconcile(apiKey(rotation("a")));
    const [earlier, first] = [secrets.save(), shownKey()];
    reconcile(apiKey(rotation("b", "0s")));
    const second = shownKey();
    secrets.restore(earlier);
    reconcile(apiKey(rotation("b", "0s")));
    expect(live()).toEqual([sha256Hex(shownKey())]);
    expect([first, second]).not.toContain(shownKey());
  });

  it("is not used for another ApiKey", () => {
    reconcile();
    const former = shownKey();
    status = undefined;
    published = [];
    secrets.relabel("ci-api-key", "other-api-key", "other");
    const other = apiKey({}, "uid-2");
    const resolution = reconcile({ ...other, metadata: { ...other.metadata, name: "other" } });
    expect(resolution.credential).toMatchObject({ ok: false, refusal: { reason: "SecretConflict" } });
    expect(resolution.writes).toEqual([]);
    expect(live()).not.toContain(sha256Hex(former));
  });
});
