// The users of a Redis that comes with the installation: nobody chooses their passwords, and nobody
// has to order the starts.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readingOf, systemNamespace } from "../support/fleet/fleet.ts";
import { type OperatorProcess, startOperatorProcess } from "../support/fleet/operator-process.ts";
import { type Replica, startReplica } from "../support/fleet/replica.ts";
import { shop } from "../support/fleet/shop.ts";
import { type OwnApiServer, startApiServer } from "../support/kubernetes/api-server/api-server.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { ensureNamespace, folderOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { freePort } from "../support/process/free-port.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const secretName = "jsonplane-redis";

let api: OwnApiServer;
let reading: ReturnType<typeof readingOf>;
let redis: TestRedis | undefined;
let replica: Replica | undefined;
let dir: string;
let port: number;
const operators: OperatorProcess[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "jsonplane-users-"));
  port = await freePort();
  api = await startApiServer();
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

async function secret(name: string, entry: string): Promise<string> {
  const text = await reading.secret(systemNamespace, name, entry);
  if (text === "") throw new Error(`${name} has no ${entry}`);
  return text;
}

async function patch(body: unknown, contentType: string): Promise<void> {
  await apiObject(api, `${folderOf("Secret", systemNamespace)}/${secretName}`, { method: "PATCH", body, contentType });
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
    const namespace = await api.namespace();
    await api.apply(shop(), { namespace });
    const aclfile = await mounted(secretName, "users.acl");
    redis = await startRedis({ port, args: ["--aclfile", aclfile, "--appendonly", "yes"] });
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

  it("are not guessed when somebody has emptied their Secret, and the log says what to do", async () => {
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
