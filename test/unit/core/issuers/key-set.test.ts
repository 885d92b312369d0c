// Which keys of a key set count: those for signatures, of types that are known, large enough, and
// public.

import { generateKeyPairSync, type JsonWebKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { maxKeys, readKeySet } from "../../../../core/issuers/key-set.ts";
import { publicJwk } from "../../../support/oidc/issuer-server.ts";

const read = (...keys: readonly unknown[]) => readKeySet(JSON.stringify({ keys }));
const usable = (...keys: readonly unknown[]) => {
  const set = read(...keys);
  return set.ok ? set.keys : set.fault;
};
const nothing =
  "has no public key for signatures that can be used: RSA of 2048 to 8192 bits, EC on P-256, P-384 or P-521, or Ed25519";
const ec = publicJwk("ec");
const rsa = publicJwk("rsa", "rsa");
const ed25519 = publicJwk("ed", "ed25519");
const ecOn = (namedCurve: string): JsonWebKey =>
  generateKeyPairSync("ec", { namedCurve }).publicKey.export({ format: "jwk" });

describe("a key verifies", () => {
  it.each([
    ["P-256", ecOn("P-256"), ["ES256"]],
    ["P-384", ecOn("P-384"), ["ES384"]],
    ["P-521", ecOn("P-521"), ["ES512"]],
    ["RSA", rsa, ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]],
    ["Ed25519", ed25519, ["EdDSA", "Ed25519"]],
  ])("by what its type can do: %s", (_name, key, algorithms) => {
    expect(usable(key)).toMatchObject([{ algorithms }]);
  });

  it("by the one algorithm that it names", () => {
    expect(usable({ ...rsa, alg: "PS384" })).toMatchObject([{ algorithms: ["PS384"] }]);
  });

  it.each(["EdDSA", "Ed25519"])("by both names of the algorithm of Ed25519 where it names one, here %s", (alg) => {
    expect(usable({ ...ed25519, alg })).toMatchObject([{ algorithms: ["EdDSA", "Ed25519"] }]);
  });

  it("where it may: use and key_ops, if they are there, say so", () => {
    expect(usable({ ...ec, key_ops: ["verify"] })).toHaveLength(1);
    expect(usable({ ...ec, use: undefined })).toHaveLength(1);
  });

  it("as if members that are null were not there, those of private keys too", () => {
    const nulls = { use: null, key_ops: null, alg: null, d: null, p: null, k: null };
    expect(usable({ ...ec, ...nulls, kid: null })).toEqual(usable({ ...ec, kid: undefined }));
    expect(usable({ ...ec, x: null }, { ...ec, kty: null })).toBe(nothing);
  });
});

describe("a key is left out", () => {
  const x25519 = generateKeyPairSync("x25519").publicKey.export({ format: "jwk" });
  const short = generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey.export({ format: "jwk" });
  it.each([
    ["for encryption", { ...ec, use: "enc" }],
    ["whose key_ops lack verify", { ...ec, key_ops: ["encrypt"] }],
    ["with an algorithm of another type", { ...ec, alg: "RS256" }],
    ["with an algorithm of another curve", { ...ec, alg: "ES384" }],
    ["with an algorithm of shared keys", { ...rsa, alg: "HS256" }],
    ["with the algorithm none", { ...rsa, alg: "none" }],
    ["of another curve", ecOn("secp256k1")],
    ["for key agreement", x25519],
    ["of RSA with 1024 bits", short],
    ["of RSA with the exponent 1", { ...rsa, e: "AQ" }],
    ["of RSA with an even exponent", { ...rsa, e: "AQAC" }],
    ["with a point that is not on its curve", { ...ec, x: ec.y, y: ec.x }],
    ["with a point of the wrong length", { ...ec, crv: "P-384" }],
    ["with a curve that is a name of JavaScript's", { ...ec, crv: "__proto__" }],
    ["whose kid is no text", { ...ec, kid: 1 }],
    ["with a kid of more than 256 bytes", { ...ec, kid: "k".repeat(257) }],
    ["of an unknown type", { kty: "AKP", alg: "ML-DSA-44", pub: "AA" }],
  ])("%s", (_name, key) => {
    expect(usable(key)).toBe(nothing);
    expect(usable(key, ed25519)).toHaveLength(1);
  });
});

describe("a whole set is refused", () => {
  const secret = "has a private or a shared key, which whoever reads it could sign with; it may have public keys only";
  const privateKey = (type: "rsa" | "ed25519") =>
    type === "rsa"
      ? generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey.export({ format: "jwk" })
      : generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  it.each([
    ["a private RSA key beside a public key", [ec, privateKey("rsa")]],
    ["a private key of Ed25519", [privateKey("ed25519")]],
    ["a shared key", [ec, { kty: "oct", k: "c2VjcmV0" }]],
    ["a private member alone", [{ ...ec, d: "" }]],
    ["a private key that is for encryption", [ec, { ...privateKey("rsa"), use: "enc" }]],
  ])("with %s", (_name, keys) => {
    expect(usable(...keys)).toBe(secret);
  });

  it("with a private key says which keys can be used all the same: not its public part, whatever that is called", () => {
    const { privateKey: shown, publicKey } = generateKeyPairSync("ed25519");
    const exposed = { ...publicKey.export({ format: "jwk" }), kid: "exposed" };
    const set = { keys: [ec, { ...shown.export({ format: "jwk" }), kid: "other" }, exposed] };
    const read = readKeySet(JSON.stringify(set));
    expect(read).toMatchObject({ ok: false, fault: secret, unexposed: [{ jwk: { crv: "P-256" } }] });
    expect(JSON.stringify(read)).not.toContain(exposed.x);
  });

  it("with more than 256 entries, whatever they are", () => {
    expect(usable(...Array.from({ length: 257 }, () => ({ kty: "unknown" })))).toBe("has more than 256 entries");
  });

  it(`with more than ${maxKeys} keys`, () => {
    const many = Array.from({ length: maxKeys + 1 }, (_, index) => ({ ...ec, kid: String(index) }));
    expect(usable(...many)).toBe(`has more than ${maxKeys} keys`);
    expect(usable(...many.slice(1))).toHaveLength(maxKeys);
  });

  it("with two members of one name", () => {
    expect(readKeySet(`{"keys":[],"keys":[${JSON.stringify(ec)}]}`)).toEqual({
      ok: false,
      fault: "is not usable JSON: an object has two members with the same name",
    });
  });

  it.each(["", "null", "[]", "{}", '{"keys":{}}', '{"keys":["text"]}', "<html>"])("that is none: %s", (text) => {
    const set = readKeySet(text);
    expect(set.ok ? set : set.fault).toMatch(/^is not (usable JSON|a JSON Web Key Set)/);
  });
});

it("of a key only public members stay, in one way of writing, whatever else it has", () => {
  const written = { ...ec, x5c: ["MIIB"], key_ops: ["verify"], note: "ours", n: "AQAB" };
  expect(usable(written)).toEqual(usable(ec));
  const [key] = usable(written) as readonly { readonly jwk: object }[];
  expect(Object.keys(key?.jwk ?? {})).toEqual(["kty", "crv", "x", "y"]);
});

it("the same keys in another order, or twice, are the same result", () => {
  expect(usable(ed25519, rsa, ec, rsa)).toEqual(usable(ec, ed25519, rsa));
});
