import { createPrivateKey, createPublicKey, createSecretKey, randomBytes, sign, verify } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { SigningKey, SigningRing } from "../../../../core/config/types.ts";
import type { Project } from "../../../../operator/model/objects.ts";
import { mintSigningKey } from "../../../../operator/resolve/mint.ts";
import type { ResolveTools } from "../../../../operator/resolve/resolution.ts";
import { resolveSigning } from "../../../../operator/resolve/signing.ts";
import { createMemorySecrets, type MemorySecrets } from "../../../support/fleet/memory-secrets.ts";

const hmacKey = createSecretKey(randomBytes(32));
let secrets: MemorySecrets;
let now: number;
let acknowledged: boolean;
let project: Project;
let restore: ResolveTools["restore"];
beforeEach(() => {
  secrets = createMemorySecrets();
  now = Date.parse("2026-06-01T12:00:00Z");
  acknowledged = false;
  restore = "none";
  project = projectWith();
});

function projectWith(annotation?: string, refreshTokenTTL = "72h"): Project {
  const metadata = { namespace: "default", name: "shop", uid: "uid-1", creationTimestamp: "2026-06-01T12:00:00Z" };
  const annotations = annotation === undefined ? {} : { "jsonplane.io/rotate-signing-key": annotation };
  return {
    kind: "Project",
    metadata: { ...metadata, annotations },
    spec: { sessions: { accessTokenTTL: "5m", refreshTokenTTL } },
  } as unknown as Project;
}

function reconcile(published?: SigningRing) {
  const resolution = resolveSigning(project, published, {
    findSecret: secrets.find,
    random: randomBytes,
    now,
    ringAcknowledged: acknowledged,
    hmacKey,
    restore,
  });
  secrets.apply(resolution.writes);
  return resolution;
}

function keyOfOne(): SigningKey {
  return mintSigningKey(randomBytes);
}

function ringOf({ ring }: Pick<ReturnType<typeof reconcile>, "ring">): SigningRing {
  if (!ring.ok) throw new Error(ring.refusal.reason);
  return ring.value;
}

describe("a Project's signing ring", () => {
  it("is made once, and its key signs what its public part verifies", () => {
    const first = reconcile();
    expect(first.writes.map(({ name, mode }) => [mode, name])).toEqual([["create", "shop-signing"]]);
    const [key] = ringOf(first).keys;
    const jwk = { kty: "OKP", crv: "Ed25519", x: key?.x ?? "" };
    const message = Buffer.from("message");
    const signature = sign(null, message, createPrivateKey({ key: { ...jwk, d: key?.d ?? "" }, format: "jwk" }));
    expect(verify(null, message, createPublicKey({ key: jwk, format: "jwk" }), signature)).toBe(true);
    const second = reconcile();
    expect(second.writes).toEqual([]);
    expect(second.ring).toEqual(first.ring);
  });

  it("comes back from what is published when its Secret is lost", () => {
    const ring = ringOf(reconcile());
    secrets.remove("shop-signing");
    const again = reconcile(ring);
    expect(ringOf(again)).toEqual(ring);
    expect(again.replaced).toBe(false);
    expect(secrets.names()).toEqual(["shop-signing"]);
  });

  it.each(["{", "[]", "null", '{"keys":[]}', '{"keys":[{"kid":1}]}'])(
    "comes back from what is published when it was edited into %s, and is made again where nothing is",
    (text) => {
      const ring = ringOf(reconcile());
      secrets.edit("shop-signing", "ring", text);
      expect(ringOf(reconcile(ring))).toEqual(ring);
      secrets.edit("shop-signing", "ring", text);
      expect(ringOf(reconcile())).not.toEqual(ring);
    },
  );

  it.each<[string, (ring: SigningRing) => readonly unknown[]]>([
    ["a key without its 32 secret bytes", () => [{ kid: "a", x: "AAAA", d: "AAAA", signs: true }]],
    ["a public part of another key", ({ keys }) => keys.map((key) => ({ ...key, x: keyOfOne().x }))],
    ["a key id of another key", ({ keys }) => keys.map((key) => ({ ...key, kid: "other" }))],
    ["two keys that sign", ({ keys }) => [...keys, keyOfOne()]],
    ["one key twice", ({ keys }) => keys.flatMap((key) => [key, { ...key, signs: false }])],
    ["nine keys", ({ keys }) => [...keys, ...Array.from({ length: 8 }, () => ({ ...keyOfOne(), signs: false }))]],
  ])("counts as lost with %s, in a Secret that was restored as in what is published", (_, edit) => {
    const broken = { keys: edit(ringOf(reconcile())) } as SigningRing;
    secrets.edit("shop-signing", "ring", JSON.stringify(broken));
    restore = "asked";
    const { ring, replaced } = reconcile(broken);
    expect([ring.ok, replaced]).toEqual([true, true]);
    expect(reconcile(ringOf({ ring })).ring).toEqual(ring);
  });

  it("is published without what somebody added to a restored one", () => {
    const ring = ringOf(reconcile());
    const more = { extra: "x", keys: ring.keys.map((key) => ({ ...key, extra: "x" })) };
    secrets.edit("shop-signing", "ring", JSON.stringify(more));
    restore = "asked";
    expect(ringOf(reconcile())).toEqual(ring);
  });

  it("is refused when its Secret belongs to something else", () => {
    secrets.put("shop-signing", { ring: "{}" });
    const resolution = reconcile();
    expect(resolution.ring).toMatchObject({ ok: false, refusal: { reason: "SecretConflict" } });
    expect(resolution.writes).toEqual([]);
  });
});
