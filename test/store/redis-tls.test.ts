// A Redis that is spoken to over TLS: whose certificate is believed, and when it ends.

import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCertificateReader } from "../../operator/certificates/redis-certificate.ts";
import { lookAtRedis } from "../../operator/observe/figures.ts";
import { openRedisClient } from "../support/fleet/publishing.ts";
import { freePort } from "../support/process/free-port.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import {
  type CertificateOptions,
  makeRedisCertificate,
  type RedisCertificate,
} from "../support/redis/redis-certificate.ts";
import { eventually } from "../support/time/eventually.ts";
import { makeCertificate } from "../support/tls/certificates.ts";

const usual = getCACertificates("default");
const dayMs = 24 * 3_600_000;
/** Certificates know whole seconds. */
const inDays = (days: number) => new Date(Math.floor(Date.now() / 1_000) * 1_000 + days * dayMs);
const stops: (() => Promise<unknown>)[] = [];

afterAll(async () => {
  setDefaultCACertificates(usual);
  for (const stop of stops.reverse()) await stop();
});

async function redisWith(
  options: Omit<CertificateOptions, "folder">,
  ...args: readonly string[]
): Promise<{ readonly redis: TestRedis; readonly certificate: RedisCertificate }> {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-tls-"));
  stops.push(() => rm(folder, { recursive: true }));
  const certificate = await makeRedisCertificate({ ...options, folder });
  const redis = await startRedis({ args: [...certificate.args, ...args] });
  stops.push(() => redis.stop());
  return { redis, certificate };
}

async function looked(url: string) {
  const redisClient = await openRedisClient(url);
  try {
    return await lookAtRedis(redisClient);
  } finally {
    redisClient.disconnect();
  }
}

describe("a certificate of an authority that is trusted", () => {
  const ends = inDays(30);
  let url: string;
  let plainUrl: string;
  let log: string;

  beforeAll(async () => {
    const { redis, certificate } = await redisWith({ ends, authorityEnds: inDays(300) });
    setDefaultCACertificates([...usual, certificate.authority]);
    [url, plainUrl, log] = [certificate.url, redis.url, join(redis.dir, "redis.log")];
  });

  test("is believed, and its end is known, without a warning in the log of Redis", async () => {
    for (let n = 0; n < 5; n += 1)
      expect(await looked(url)).toMatchObject([{ server: "primary", certificateEnds: ends.getTime() }]);
    expect(await readFile(log, "utf8")).not.toContain("Error accepting");
  });

  test("without TLS there is no end", async () => {
    expect(await looked(plainUrl)).toMatchObject([{ server: "primary", certificateEnds: undefined }]);
  });
});

test("of a certificate and what signed it, the end that comes first is told", async () => {
  const authorityEnds = inDays(10);
  const { certificate } = await redisWith({ ends: inDays(30), authorityEnds });
  setDefaultCACertificates([...usual, certificate.authority]);
  expect(await looked(certificate.url)).toMatchObject([{ certificateEnds: authorityEnds.getTime() }]);
});

test("a certificate that the server read again is seen at once, by a client that connected before", async () => {
  const { redis, certificate } = await redisWith({ ends: inDays(30), authorityEnds: inDays(300) });
  setDefaultCACertificates([...usual, certificate.authority]);
  const redisClient = await openRedisClient(certificate.url);
  const ends = inDays(60);
  const renewed = makeCertificate({ ends, authorityEnds: inDays(300) });
  const files = certificate.args.filter((each) => each.startsWith("/"));
  await Promise.all([writeFile(files[0] ?? "", renewed.certificate), writeFile(files[1] ?? "", renewed.key)]);
  const reader = createCertificateReader(async () => redis.url);
  await reader.reread();
  reader.close();
  expect(await lookAtRedis(redisClient)).toMatchObject([{ certificateEnds: ends.getTime() }]);
  redisClient.disconnect();
});

test("a certificate is taken also where the one that the server shows isn't trusted any more", async () => {
  const { certificate } = await redisWith({ ends: inDays(30), authorityEnds: inDays(300) });
  setDefaultCACertificates([...usual, certificate.authority]);
  const reader = createCertificateReader(async () => certificate.url);
  await reader.reread();
  const ends = inDays(60);
  const renewed = makeCertificate({ ends, authorityEnds: inDays(300) });
  setDefaultCACertificates([...usual, renewed.authority]);
  await expect(looked(certificate.url)).rejects.toThrow("can't be reached");
  const files = certificate.args.filter((each) => each.startsWith("/"));
  await Promise.all([writeFile(files[0] ?? "", renewed.certificate), writeFile(files[1] ?? "", renewed.key)]);
  await reader.reread();
  reader.close();
  expect(await looked(certificate.url)).toMatchObject([{ certificateEnds: ends.getTime() }]);
});

test("an authority is trusted without the one that signed it, as cert-manager may write it", async () => {
  const { certificate } = await redisWith({ ends: inDays(30), authorityEnds: inDays(300) });
  const server = certificate.args.find((each) => each.endsWith("redis.pem")) ?? "";
  const signed = new X509Certificate(await readFile(server, "utf8")).toString();
  setDefaultCACertificates([...usual, signed]);
  expect(await looked(certificate.url)).toHaveLength(1);
});

test("a node that a Cluster names by address is known by a host of the URL, and by no other name", async () => {
  const { redis, certificate } = await redisWith(
    { ends: inDays(30), authorityEnds: inDays(300) },
    ...["--cluster-enabled", "yes", "--tls-cluster", "yes", "--cluster-port", String(await freePort())],
    ...["--cluster-announce-ip", "127.0.0.1"],
  );
  setDefaultCACertificates([...usual, certificate.authority]);
  await askRedis(redis.port, "CLUSTER ADDSLOTSRANGE 0 16383");
  const url = certificate.url.replace("rediss:", "rediss+cluster:");
  // Refused for two seconds: it has not said yet that it is whole.
  const nodes = await eventually(() => looked(url));
  expect(nodes).toMatchObject([{ server: expect.stringContaining("127.0.0.1") }]);
  await expect(looked(url.replace("localhost", "127.0.0.1"))).rejects.toThrow("can't be reached");
});

test("what a server says of a connection that was given up while its certificate was refused ends no process", async () => {
  const { certificate } = await redisWith({ ends: inDays(30), authorityEnds: inDays(300) });
  await expect(looked(certificate.url)).rejects.toThrow("can't be reached");
  const { hostname: host, port } = new URL(certificate.url);
  for (let n = 0; n < 10; n += 1) {
    const client = new Redis({ host, port: Number(port), tls: {}, lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => undefined);
    // An error that nobody hears fails the run.
    const attempt = client.connect().catch(() => undefined);
    await setImmediate();
    client.stream.once("connect", () => client.disconnect());
    await attempt;
  }
});

test.each([
  { what: "of an authority that nobody knows", options: {}, trusted: false, why: "SELF_SIGNED_CERT_IN_CHAIN" },
  { what: "of another host", options: { host: "elsewhere" }, trusted: true, why: "ERR_TLS_CERT_ALTNAME_INVALID" },
  { what: "that has ended", options: { ends: inDays(-1) }, trusted: true, why: "CERT_HAS_EXPIRED" },
])("a certificate $what is refused, in words that say why", async ({ options, trusted, why }) => {
  const { certificate } = await redisWith({ ends: inDays(30), authorityEnds: inDays(300), ...options });
  setDefaultCACertificates([...usual, ...(trusted ? [certificate.authority] : [])]);
  await expect(looked(certificate.url)).rejects.toThrow(`can't be reached: ${why}`);
});
