// Makes the keys and certificates of one cluster with openssl: its authority, the API server's
// (also what it shows to the kubelet), what it shows to aggregated servers, and the keys that sign
// tokens of service accounts. Refuses when openssl fails.

import { generateKeyPairSync } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lastWords, runCommand } from "../parts/run-command.ts";
import { apiService, type ClusterLayout } from "./layout.ts";

interface Certificate {
  readonly name: string;
  readonly subject: string;
  readonly authority?: string;
  readonly extensions: readonly string[];
}

export async function writeCertificates(layout: ClusterLayout): Promise<void> {
  const folder = join(layout.folder, "certificates");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost"].map(
    (name) => `DNS:${name}`,
  );
  const addresses = ["127.0.0.1", layout.nodeAddress, apiService].map((address) => `IP:${address}`);
  await certificate(folder, {
    name: "ca",
    subject: "/CN=jsonplane-cluster",
    extensions: ["basicConstraints=critical,CA:TRUE"],
  });
  await certificate(folder, {
    name: "server",
    subject: "/O=system:masters/CN=kube-apiserver",
    authority: "ca",
    extensions: [`subjectAltName=${[...names, ...addresses].join(",")}`, "extendedKeyUsage=serverAuth,clientAuth"],
  });
  await certificate(folder, {
    name: "front-ca",
    subject: "/CN=front-ca",
    extensions: ["basicConstraints=critical,CA:TRUE"],
  });
  await certificate(folder, {
    name: "front",
    subject: "/CN=front-proxy",
    authority: "front-ca",
    extensions: ["extendedKeyUsage=clientAuth"],
  });
  const accounts = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = accounts.privateKey.export({ type: "pkcs8", format: "pem" });
  await writeFile(join(folder, "accounts.key"), key, { mode: 0o600 });
  await writeFile(join(folder, "accounts.pub"), accounts.publicKey.export({ type: "spki", format: "pem" }));
}

async function certificate(folder: string, wanted: Certificate): Promise<void> {
  const { name, subject, authority, extensions } = wanted;
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", `${name}.key`];
  const signed = authority === undefined ? [] : ["-CA", `${authority}.crt`, "-CAkey", `${authority}.key`];
  const further = extensions.flatMap((extension) => ["-addext", extension]);
  const args = ["req", "-x509", ...key, ...signed, "-subj", subject, "-days", "365", ...further, "-out", `${name}.crt`];
  const done = await runCommand("openssl", args, { cwd: folder });
  if (done.code !== 0)
    throw new Error(`openssl couldn't make ${name}.crt (it has to be OpenSSL 3): ${lastWords(done)}`);
}
