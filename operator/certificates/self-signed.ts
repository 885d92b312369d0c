// Writes a server's X.509 certificate that its own key signed (RFC 5280, in DER), which Node reads
// and can't write. It is no authority: who trusts it trusts this one server, and nothing else that
// the key would sign.

import { generateKeyPairSync, randomBytes, sign, X509Certificate } from "node:crypto";

export interface SelfSigned {
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

export interface SelfSignedOptions {
  /** The one name that it is for, in ASCII. */
  readonly host: string;
  /** Unix milliseconds, which certificates round to seconds. */
  readonly from: number;
  readonly until: number;
}

export function makeSelfSigned({ host, from, until }: SelfSignedOptions): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  // Positive, and never shorter than its first byte says.
  const serial = Buffer.concat([Buffer.of(0x40), randomBytes(15)]);
  // OpenSSL finds what it trusts by this name: two that are trusted at a time must not share it.
  const name = sequence(set(sequence(oid.commonName, utf8(`jsonplane ${serial.toString("hex")}`))));
  const extensions = sequence(
    extension(oid.basicConstraints, critical, sequence()),
    extension(oid.keyUsage, critical, bitString(Buffer.of(0x80), 7)),
    extension(oid.extendedKeyUsage, sequence(oid.serverAuth)),
    extension(oid.subjectAltName, sequence(der(0x82, Buffer.from(host, "ascii")))),
  );
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, serial),
    signatureAlgorithm,
    name,
    sequence(time(from), time(until)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, extensions),
  );
  const signature = sign("sha256", body, privateKey);
  const certificate = new X509Certificate(sequence(body, signatureAlgorithm, bitString(signature, 0)));
  return { certificate: certificate.toString(), key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
}

const oid = {
  commonName: objectId(0x55, 0x04, 0x03),
  keyUsage: objectId(0x55, 0x1d, 0x0f),
  subjectAltName: objectId(0x55, 0x1d, 0x11),
  basicConstraints: objectId(0x55, 0x1d, 0x13),
  extendedKeyUsage: objectId(0x55, 0x1d, 0x25),
  serverAuth: objectId(0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01),
  ecdsaWithSha256: objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02),
};
const signatureAlgorithm = sequence(oid.ecdsaWithSha256);
const critical = der(0x01, Buffer.of(0xff));

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, 0x80 + bytes.length, ...bytes), content]);
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return der(0x30, ...contents);
}

function set(...contents: readonly Buffer[]): Buffer {
  return der(0x31, ...contents);
}

function objectId(...bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function utf8(text: string): Buffer {
  return der(0x0c, Buffer.from(text));
}

function bitString(bits: Buffer, unused: number): Buffer {
  return der(0x03, Buffer.of(unused), bits);
}

/** The last of `parts` is the value. */
function extension(...parts: readonly Buffer[]): Buffer {
  return sequence(...parts.slice(0, -1), der(0x04, parts.at(-1) ?? Buffer.alloc(0)));
}

/** UTCTime until 2049, as RFC 5280 wants it, GeneralizedTime from then on. */
function time(milliseconds: number): Buffer {
  const text = `${new Date(milliseconds).toISOString().slice(0, 19).replace(/[-T:]/g, "")}Z`;
  return text < "2050" ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}
