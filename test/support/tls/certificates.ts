// A certificate authority of a test, and a server's certificate of it.

import { generateKeyPairSync } from "node:crypto";
import forge from "node-forge";

export interface ServerCertificate {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateOptions {
  /** When they end. */
  readonly ends: Date;
  readonly authorityEnds?: Date;
  /** Host names; `localhost` by default. */
  readonly hosts?: readonly string[];
  /** IP addresses. */
  readonly addresses?: readonly string[];
}

const yearMs = 365 * 24 * 3_600_000;

export function makeCertificate(options: CertificateOptions): ServerCertificate {
  const { ends, authorityEnds = ends, hosts = ["localhost"], addresses = [] } = options;
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
  const altNames = [...hosts.map((value) => ({ type: 2, value })), ...addresses.map((ip) => ({ type: 7, ip }))];
  const certificate = pemOf({
    subject: [{ name: "commonName", value: hosts[0] ?? "localhost" }],
    issuer: name,
    ends,
    publicKey: keys.publicKey,
    signedWith: authorityKeys.privateKey,
    extensions: [{ name: "subjectAltName", altNames }],
  });
  return { authority, certificate, key: forge.pki.privateKeyToPem(keys.privateKey) };
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
