// A certificate authority and a certificate of it for a Redis that speaks TLS, as files in a
// folder.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../process/free-port.ts";
import { makeCertificate } from "../tls/certificates.ts";

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

export async function makeRedisCertificate(options: CertificateOptions): Promise<RedisCertificate> {
  const { folder, ends, authorityEnds, host = "localhost" } = options;
  const { authority, certificate, key } = makeCertificate({ ends, authorityEnds, hosts: [host] });
  const at = (file: string) => join(folder, file);
  await writeFile(at("authority.pem"), authority);
  // With its authority, as public ones are sent with what signed them.
  await writeFile(at("redis.pem"), `${certificate}${authority}`);
  await writeFile(at("redis.key"), key);
  const port = await freePort();
  const files = ["--tls-cert-file", at("redis.pem"), "--tls-key-file", at("redis.key")];
  return {
    authorityFile: at("authority.pem"),
    authority,
    args: ["--tls-port", String(port), ...files, "--tls-ca-cert-file", at("authority.pem"), "--tls-auth-clients", "no"],
    url: `rediss://localhost:${port}`,
  };
}
