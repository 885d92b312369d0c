// The users and the certificate of a Redis that comes with the installation: nobody chooses their
// passwords or makes it, and nobody has to order the starts.

import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeSelfSigned } from "../../operator/certificates/self-signed.ts";
import { readingOf, systemNamespace } from "../support/fleet/fleet.ts";
import { type OperatorProcess, startOperatorProcess } from "../support/fleet/operator-process.ts";
import { type Replica, startReplica } from "../support/fleet/replica.ts";
import { shop } from "../support/fleet/shop.ts";
import { startTraffic } from "../support/fleet/traffic.ts";
import type { OwnApiServer } from "../support/kubernetes/api-server/api-server.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { ensureNamespace, folderOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { takeApiServer } from "../support/kubernetes/api-server/lent-api-server.ts";
import { freePort } from "../support/process/free-port.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const secretName = "jsonplane-redis";
const tlsSecretName = "jsonplane-redis-tls";

let api: OwnApiServer;
let reading: ReturnType<typeof readingOf>;
let redis: TestRedis | undefined;
let replica: Replica | undefined;
let dir: string;
let data: string;
let namespace: string;
let port: number;
let tlsPort: number;
const operators: OperatorProcess[] = [];
const patience = { withinMs: 90_000 };

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "jsonplane-users-"));
  data = await mkdtemp(join(dir, "redis-"));
  [port, tlsPort] = [await freePort(), await freePort()];
  api = await takeApiServer();
  reading = readingOf(api);
  await ensureNamespace(api, systemNamespace);
});
afterAll(async () => {
  await replica?.stop();
  await Promise.all(operators.map((operator) => operator.stop()));
  await redis?.stop();
  await api?.stop();
  await rm(dir, { recursive: true, force: true });
});

async function startOperator(): Promise<OperatorProcess> {
  const operator = await startOperatorProcess({
    kubeconfig: await api.kubeconfig(),
    redis: `redis://127.0.0.1:${port}`,
    args: ["--redis-secret", secretName],
  });
  operators.push(operator);
  return operator;
}

async function startTlsOperator(): Promise<void> {
  const operator = await startOperatorProcess({
    kubeconfig: await api.kubeconfig(),
    redis: `rediss://localhost:${tlsPort}`,
    args: ["--redis-secret", secretName, "--redis-tls-secret", tlsSecretName],
  });
  operators.push(operator);
}

/** What it mounts is what the Secrets hold. The plain port is for this machine's own questions. */
async function startTlsRedis(): Promise<TestRedis> {
  const aclfile = await mounted(secretName, "users.acl");
  await mounted(tlsSecretName, "ca.crt");
  const certificate = ["--tls-cert-file", await mounted(tlsSecretName, "tls.crt")];
  const key = ["--tls-key-file", await mounted(tlsSecretName, "tls.key"), "--tls-auth-clients", "no"];
  return await startRedis({
    port,
    dir: data,
    args: ["--aclfile", aclfile, "--appendonly", "yes", "--tls-port", String(tlsPort), ...certificate, ...key],
  });
}

async function startTlsReplica(caFile: string, untilReady = true): Promise<Replica> {
  return await startReplica({
    redis: await secret(secretName, "dataplane-tls-url"),
    keyring: await mounted("jsonplane-keyring", "keyring.json"),
    name: "one",
    args: ["--redis-ca-file", caFile],
    untilReady,
  });
}

async function secret(name: string, entry: string): Promise<string> {
  const text = await reading.secret(systemNamespace, name, entry);
  if (text === "") throw new Error(`${name} has no ${entry}`);
  return text;
}

async function patch(body: unknown, contentType: string, name = secretName): Promise<void> {
  await apiObject(api, `${folderOf("Secret", systemNamespace)}/${name}`, { method: "PATCH", body, contentType });
}

async function patchEntry(entry: string, text: string): Promise<void> {
  const body = { data: { [entry]: Buffer.from(text).toString("base64") } };
  await patch(body, "application/merge-patch+json");
}

const mounted = async (name: string, entry: string): Promise<string> => {
  const file = join(dir, entry);
  await writeFile(file, await eventually(() => secret(name, entry)));
  return file;
};

describe("the users of a bundled Redis", () => {
  it("are made before it is there, and let operator and data plane work once it has loaded them", async () => {
    await startOperator();
    namespace = await api.namespace();
    await api.apply(shop(), { namespace });
    const aclfile = await mounted(secretName, "users.acl");
    redis = await startRedis({ port, dir: data, args: ["--aclfile", aclfile, "--appendonly", "yes"] });
    replica = await startReplica({
      redis: await secret(secretName, "dataplane-url"),
      keyring: await mounted("jsonplane-keyring", "keyring.json"),
      name: "one",
    });
    await reading.ready(namespace);
    expect((await replica.send(`/${namespace}/shop/api/items`)).status).toBe(200);
  });

  it("are all that Redis lets in: the default user is off, and the one for probes says that it is up, and nothing else", async () => {
    for (const command of ["PING", "DBSIZE", "HGETALL {jsonplane}:meta"]) {
      expect(await askRedis(port, command)).toMatch(/^-NOAUTH/);
    }
    const probe = new Redis({ port, username: "jsonplane-probe", password: "any" });
    expect(await probe.ping()).toBe("PONG");
    for (const [command = "", ...words] of [["dbsize"], ["acl", "list"], ["get", "one"]]) {
      await expect(probe.call(command, ...words)).rejects.toThrow(/NOPERM/);
    }
    probe.disconnect();
  });

  it("leave Redis able to read its append-only file: nothing that was written in one step with something else is missing", async () => {
    const admin = () =>
      new Redis({ port, username: "jsonplane-admin", password: adminPassword, maxRetriesPerRequest: 0 });
    const adminPassword = await secret(secretName, "admin-password");
    const before = admin();
    const stored = async (redis: Redis) => (await redis.keys("*")).filter((name) => !name.includes("ack")).sort();
    await before.multi().set("one", "1").set("two", "2").exec();
    const names = await stored(before);
    before.disconnect();
    await redis?.restart();
    const after = admin();
    expect(await after.mget("one", "two")).toEqual(["1", "2"]);
    expect(await stored(after)).toEqual(expect.arrayContaining(names));
    await after.del("one", "two");
    after.disconnect();
  });

  it("have no password in the ACL file that Redis mounts", async () => {
    const passwords = [
      await secret(secretName, "admin-password"),
      new URL(await secret(secretName, "operator-url")).password,
      new URL(await secret(secretName, "dataplane-url")).password,
      new URL(await secret(secretName, "backup-url")).password,
    ];
    expect(new Set(passwords).size).toBe(4);
    const acl = await secret(secretName, "users.acl");
    for (const password of passwords) {
      expect(password).toMatch(/^[0-9A-Za-z]{27}$/);
      expect(acl).not.toContain(password);
    }
  });

  it("stay as they are when another operator starts", async () => {
    const before = await secret(secretName, "operator-url");
    await Promise.all(operators.splice(0).map((operator) => operator.stop()));
    const next = await startOperator();
    await eventually(() => expect(next.log()).toContain("Writer session begun"));
    expect(await secret(secretName, "operator-url")).toBe(before);
  });

  it("get the rights that this version of the programs needs, in the Secret and in a Redis that runs, and keep their passwords", async () => {
    const acl = await secret(secretName, "users.acl");
    const old = acl.replace(/^user jsonplane-probe.*\n/m, "").replace(" +hscan", "");
    await patchEntry("users.acl", old);
    await writeFile(join(dir, "users.acl"), old);
    await redis?.restart();
    await Promise.all(operators.splice(0).map((operator) => operator.stop()));
    const before = await secret(secretName, "dataplane-url");
    const next = await startOperator();
    await eventually(() => expect(next.log()).toContain("Writer session begun"), { withinMs: 60_000 });
    expect(await secret(secretName, "users.acl")).toBe(acl);
    expect(await secret(secretName, "dataplane-url")).toBe(before);
    const probe = new Redis({ port, username: "jsonplane-probe", password: "any" });
    expect(await probe.ping()).toBe("PONG");
    probe.disconnect();
  });

  it("get one for backups, which an earlier version didn't make, and which reads", async () => {
    await patch([{ op: "remove", path: "/data/backup-url" }], "application/json-patch+json");
    await Promise.all(operators.splice(0).map((operator) => operator.stop()));
    const next = await startOperator();
    await eventually(() => expect(next.log()).toContain("Writer session begun"), { withinMs: 60_000 });
    const url = new URL(await secret(secretName, "backup-url"));
    const reader = new Redis({ port, username: url.username, password: url.password });
    expect(Object.keys(await reader.hgetall("{jsonplane}:data"))).toEqual([expect.stringMatching(/\/shop$/)]);
    await expect(reader.del("{jsonplane}:data")).rejects.toThrow(/NOPERM/);
    reader.disconnect();
  });

  it("keep their passwords, and have URLs of their own, once Redis speaks TLS", async () => {
    const plain = await secret(secretName, "dataplane-url");
    await Promise.all(operators.splice(0).map((operator) => operator.stop()));
    await replica?.stop();
    await redis?.stop();
    await startTlsOperator();
    redis = await startTlsRedis();
    expect(await secret(secretName, "dataplane-url")).toBe(plain);
    const url = new URL(await eventually(() => secret(secretName, "dataplane-tls-url"), patience));
    expect(url.toString()).toBe(`rediss://jsonplane-dataplane:${new URL(plain).password}@localhost:${tlsPort}`);
  });
});

describe("the certificate of a bundled Redis", () => {
  const shown = async (): Promise<string> => {
    const socket = connect({ host: "localhost", port: tlsPort, rejectUnauthorized: false });
    await once(socket, "secureConnect");
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  };
  const fingerprint = (certificate: string) => new X509Certificate(certificate).fingerprint256;

  it("is made with its Secret, and is what operator and data plane trust", async () => {
    replica = await startTlsReplica(join(dir, "ca.crt"));
    expect(await replica.ready()).toBe(200);
    expect(await shown()).toBe(fingerprint(await secret(tlsSecretName, "tls.crt")));
    await eventually(() => expect(operators[0]?.log()).toContain("Writer session begun"));
  });

  it("is not believed by whoever trusts another one, and the log says why", async () => {
    const { certificate } = makeSelfSigned({ host: "localhost", from: Date.now(), until: Date.now() + 60_000 });
    await writeFile(join(dir, "other.crt"), certificate);
    const distrustful = await startTlsReplica(join(dir, "other.crt"), false);
    await eventually(() => expect(distrustful.log()).toContain("its certificate is of no authority that"));
    await distrustful.stop();
  });

  it("is renewed while requests go on: connections that come later see the new one, and those that are there stay", async () => {
    const day = 24 * 3_600_000;
    const next = makeSelfSigned({ host: "localhost", from: Date.now() - day, until: Date.now() + 300 * day });
    const last = makeSelfSigned({ host: "localhost", from: Date.now() - 300 * day, until: Date.now() + 65 * day });
    const entries = {
      "tls.crt": last.certificate,
      "tls.key": last.key,
      "ca.crt": last.certificate + next.certificate,
      "next.crt": next.certificate,
      "next.key": next.key,
    };
    await Promise.all(operators.splice(0).map((operator) => operator.stop()));
    const encoded = Object.entries(entries).map(([entry, text]) => [entry, Buffer.from(text).toString("base64")]);
    await patch({ data: Object.fromEntries(encoded) }, "application/merge-patch+json", tlsSecretName);
    for (const entry of ["ca.crt", "tls.crt", "tls.key"]) await mounted(tlsSecretName, entry);
    await redis?.restart();
    const path = `/${namespace}/shop/api/items`;
    const ask = () => (replica as Replica).send(path);
    const answered = async () => expect((await ask()).status).toBe(200);
    await startTlsOperator();
    await eventually(answered, patience);
    const traffic = startTraffic(ask);
    // The operator takes the next one, and Redis reads it where the kubelet has mounted it by now.
    await eventually(async () => expect(await secret(tlsSecretName, "tls.crt")).toBe(next.certificate), patience);
    for (const entry of ["ca.crt", "tls.crt", "tls.key"]) await mounted(tlsSecretName, entry);
    await eventually(async () => expect(await shown()).toBe(fingerprint(next.certificate)), patience);
    expect((await traffic.stop()).failures).toEqual([]);
    await eventually(async () => expect(replica?.log()).toContain("Authorities of Redis changed"));
    const admin = new Redis({
      port,
      username: "jsonplane-admin",
      password: await secret(secretName, "admin-password"),
    });
    await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    admin.disconnect();
    await eventually(answered);
    const ends = new X509Certificate(next.certificate).validToDate.getTime() / 1_000;
    const metric = `jsonplane_redis_certificate_expiry_timestamp_seconds{server="primary"} ${ends}`;
    await eventually(async () => expect(await operators[0]?.metrics()).toContain(metric), patience);
  });
});

describe("the users of a bundled Redis whose Secret somebody has emptied", () => {
  it("are not guessed, and the log says what to do", async () => {
    await patch([{ op: "remove", path: "/data" }], "application/json-patch+json");
    await Promise.all(operators.splice(0).map((operator) => operator.stop()));
    const next = await startOperator();
    await eventually(
      () => expect(next.log()).toContain(`Secret ${systemNamespace}/${secretName} has no entry \\"operator-url\\"`),
      {
        withinMs: 60_000,
      },
    );
  });
});
