// A certificate authority and a certificate of it for a Redis that speaks TLS, as files in a folder.

import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import forge from "node-forge";
import { freePort } from "../process/free-port.ts";

export interface RedisCertificate {
  /** Of the authority, for NODE_EXTRA_CA_CERTS. */
  readonly authorityFile: string;
  readonly authority: string;
  /** Of a redis-server that listens for TLS as well. */
  readonly args: readonly string[];
  /** `rediss://`, by the name that the certificate is for. */
  readonly url: string;
}

export interface CertificateOptions {
  readonly folder: string;
  /** When they end. */
  readonly ends: Date;
  readonly authorityEnds: Date;
  /** Host name; default `localhost`. */
  readonly host?: string;
}

const yearMs = 365 * 24 * 3_600_000;

export async function makeRedisCertificate(options: CertificateOptions): Promise<RedisCertificate> {
  const { folder, ends, authorityEnds, host = "localhost" } = options;
  const [authorityKeys, keys] = [keyPair(), keyPair()];
  const name = [{ name: "commonName", value: "jsonplane tests" }];
  const authority = pemOf({
    subject: name,
    issuer: name,
    ends: authorityEnds,
    publicKey: authorityKeys.publicKey,
    signedWith: authorityKeys.privateKey,
    extensions: [{ name: "basicConstraints", cA: true }],
  });
  const certificate = pemOf({
    subject: [{ name: "commonName", value: host }],
    issuer: name,
    ends,
    publicKey: keys.publicKey,
    signedWith: authorityKeys.privateKey,
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: host }] }],
  });
  const at = (file: string) => join(folder, file);
  await writeFile(at("authority.pem"), authority);
  // With its authority, as public ones are sent with what signed them.
  await writeFile(at("redis.pem"), `${certificate}${authority}`);
  await writeFile(at("redis.key"), forge.pki.privateKeyToPem(keys.privateKey));
  const port = await freePort();
  const files = ["--tls-cert-file", at("redis.pem"), "--tls-key-file", at("redis.key")];
  return {
    authorityFile: at("authority.pem"),
    authority,
    args: ["--tls-port", String(port), ...files, "--tls-ca-cert-file", at("authority.pem"), "--tls-auth-clients", "no"],
    url: `rediss://localhost:${port}`,
  };
}

interface Certificate {
  readonly subject: forge.pki.CertificateField[];
  readonly issuer: forge.pki.CertificateField[];
  readonly ends: Date;
  readonly publicKey: forge.pki.rsa.PublicKey;
  readonly signedWith: forge.pki.rsa.PrivateKey;
  readonly extensions: readonly object[];
}

function pemOf({ subject, issuer, ends, publicKey, signedWith, extensions }: Certificate): string {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = publicKey;
  certificate.serialNumber = `01${forge.util.bytesToHex(forge.random.getBytesSync(8))}`;
  certificate.validity.notBefore = new Date(ends.getTime() - yearMs);
  certificate.validity.notAfter = ends;
  certificate.setSubject(subject);
  certificate.setIssuer(issuer);
  certificate.setExtensions([...extensions]);
  certificate.sign(signedWith, forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate);
}

/** Node draws it faster than JavaScript does. */
function keyPair(): forge.pki.rsa.KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  return { publicKey: forge.pki.publicKeyFromPem(publicKey), privateKey: forge.pki.privateKeyFromPem(privateKey) };
}
