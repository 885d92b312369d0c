// Each alert is fired by the fault that it is for: a real Prometheus scrapes a fleet, to which the
// faults happen one after the other. What is asked is the alert's expression; how long it has to
// hold, `for`, is in test/observability/rules.test.yaml.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { keyringText, newKeyringText, newRingKey, parseKeyring } from "../../core/config/keyring.ts";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { type Replica, startReplica } from "../support/fleet/replica.ts";
import { closeStreams, follow } from "../support/http/event-stream.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { makeRedisCertificate } from "../support/redis/redis-certificate.ts";
import { eventually } from "../support/time/eventually.ts";
import { alertExpr, alertRules, rulesFile, teamAlertRules } from "./alert-rules.ts";
import { type NamespaceProxy, startNamespaceProxy } from "./namespace-proxy.ts";
import { startPrometheus, type TestPrometheus } from "./prometheus.ts";

const patience = { withinMs: 120_000, everyMs: 500 };
/**
 * What takes a minute or more of silence or slowness is shown with made-up series in
 * rules.test.yaml alone.
 */
const takesMinutes = [
  "JsonplaneConfigurationOld",
  "JsonplaneReconcileHangs",
  "JsonplaneRevocationsWait",
  "JsonplaneOperatorDeaf",
  "JsonplaneSlowPropagation",
  "JsonplaneStoreSlow",
];
const fired = new Set<string>();
const firedForTeam = new Set<string>();
/** Nobody has this name. */
const issuer = "https://issuer.invalid";

let folder: string;
const dayMs = 24 * 3_600_000;
let fleet: OwnFleet;
let prometheus: TestPrometheus;
/** As the namespace's team asks it. */
let team: NamespaceProxy;
let namespace: string;
/** Replicas with a key ring that is not, or not wholly, the fleet's. */
const strangers: Replica[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-alerts-"));
  const inDays = (days: number) => new Date(Date.now() + days * dayMs);
  const certificate = await makeRedisCertificate({ folder, ends: inDays(3), authorityEnds: inDays(300) });
  vi.stubEnv("NODE_EXTRA_CA_CERTS", certificate.authorityFile);
  fleet = await startFleet({ operators: 0, replicas: 0, redis: { args: certificate.args }, onDataLoss: "Refuse" });
  await fleet.addOperator({
    redis: certificate.url,
    args: ["--lease-duration", "4s", "--allowed-issuers", issuer, "--backup-max-age", "1h"],
  });
  await Promise.all([fleet.addReplica(), fleet.addReplica()]);
  namespace = await fleet.api.namespace();
  await fleet.api.apply(manifests(), { namespace });
  await fleet.ready(namespace);
  const ring = parseKeyring(await fleet.secret(systemNamespace, "jsonplane-keyring", "keyring.json"));
  await startStranger("another-ring", newKeyringText());
  await startStranger("no-key", keyringText({ ...ring, keys: [newRingKey(Buffer.alloc)] }));
  const processes = [...fleet.operators, ...fleet.replicas, ...strangers];
  const targets = processes.map(({ adminUrl }, index) => ({
    address: new URL(adminUrl).host,
    labels: { pod: `pod-${index}`, namespace: systemNamespace, pod_namespace: systemNamespace },
  }));
  prometheus = await startPrometheus(targets, [rulesFile]);
  team = await startNamespaceProxy(prometheus, namespace);
  await eventually(async () => expect(await prometheus.query("up == 1")).toHaveLength(processes.length), patience);
});
afterAll(async () => {
  await team?.stop();
  await prometheus?.stop();
  await Promise.all(strangers.map((replica) => replica.stop("SIGKILL")));
  await fleet?.stop();
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

async function startStranger(name: string, ring: string): Promise<void> {
  const keyring = join(folder, `${name}.json`);
  await writeFile(keyring, ring);
  strangers.push(await startReplica({ redis: fleet.redis.url, keyring, name, untilReady: false }));
}

function manifests(): string {
  const object = (kind: string, name: string, spec: object) =>
    JSON.stringify({ apiVersion: "jsonplane.io/v1alpha1", kind, metadata: { name }, spec });
  const projectRef = { name: "web" };
  return [
    object("Project", "web", { limits: { quota: { objects: 10 } } }),
    object("ApiResource", "items", {
      projectRef,
      schema: {},
      changes: {},
      access: { read: "Anyone", create: "Anyone" },
    }),
    object("ProjectUser", "ann", { projectRef }),
    object("ApiKey", "one", { projectRef }),
    object("ApiKey", "two", { projectRef }),
  ].join("\n---\n");
}

const send: Replica["send"] = async (path, sent) => {
  const [replica] = fleet.replicas;
  if (replica === undefined) throw new Error("The fleet has no replica");
  return await replica.send(`/${namespace}/web${path}`, sent);
};
const redis = (command: string) => askRedis(fleet.redis.port, command);
const edit = (hosts: number) => {
  const patch = JSON.stringify({ spec: { cors: { allowedOrigins: [`https://host-${hosts}.example.org`] } } });
  return fleet.api.kubectl(["patch", "jproj", "web", "--namespace", namespace, "--type=merge", "-p", patch]);
};

/**
 * Also of a fleet that has just come back from another fault: replicas say that they live every
 * five seconds.
 */
async function isQuiet(alert: string): Promise<void> {
  const expr = await alertExpr(alert);
  await eventually(async () => expect([alert, await prometheus.query(expr)]).toEqual([alert, []]), patience);
}

async function fires(alert: string): Promise<void> {
  const expr = await alertExpr(alert);
  await eventually(async () => expect([alert, (await prometheus.query(expr)).length]).toEqual([alert, 1]), patience);
  fired.add(alert);
  await firesForTeam(alert);
}

/** What a team's rules have as well: evaluated as theirs, with their namespace. */
async function firesForTeam(alert: string, provoke?: () => Promise<unknown>): Promise<void> {
  const rule = (await teamAlertRules()).find((each) => each.alert === alert);
  if (rule === undefined) return;
  await eventually(async () => {
    await provoke?.();
    const found = await team.query(rule.expr);
    expect([alert, found.map(({ labels }) => labels["namespace"])]).toEqual([alert, [namespace]]);
  }, patience);
  firedForTeam.add(alert);
}

it("a replica with another key ring: JsonplaneKeyRingLost", () => fires("JsonplaneKeyRingLost"));

it("no backup where some are expected: JsonplaneBackupLate", async () => {
  await fires("JsonplaneBackupLate");
  const report = { beganAt: Date.now(), endedAt: Date.now(), projects: 1, objects: 2, bytes: 3 };
  await redis(`HSET ${configKeys.backup} last '${JSON.stringify(report)}'`);
  await isQuiet("JsonplaneBackupLate");
});

it("a replica that lacks the key which configuration is sealed with: JsonplaneReplicaRefuses", async () => {
  expect((await strangers[1]?.send(`/${namespace}/web/api/items`))?.status).toBe(503);
  await fires("JsonplaneReplicaRefuses");
  // Objects are not Ready as long as it is there.
  await strangers[1]?.stop();
});

it("eight of ten objects: JsonplaneQuotaNearlyFull", async () => {
  await isQuiet("JsonplaneQuotaNearlyFull");
  for (let count = 0; count < 8; count += 1) {
    expect((await send("/api/items", { method: "POST", body: {} })).status).toBe(201);
  }
  await fires("JsonplaneQuotaNearlyFull");
});

it("all objects of a kind deleted: JsonplaneKindDeleted", async () => {
  await isQuiet("JsonplaneKindDeleted");
  await fleet.api.kubectl(["delete", "apikeys.jsonplane.io", "--all", "--namespace", namespace]);
  await fires("JsonplaneKindDeleted");
  await fleet.api.apply(manifests(), { namespace });
  await fleet.ready(namespace);
});

it("a schema that can't be used: JsonplaneObjectStalled, with the tenant's namespace", async () => {
  await isQuiet("JsonplaneObjectStalled");
  const schema = { type: "no-such-type" };
  const broken = { apiVersion: "jsonplane.io/v1alpha1", kind: "ApiResource", metadata: { name: "broken" } };
  await fleet.api.apply(JSON.stringify({ ...broken, spec: { projectRef: { name: "web" }, schema } }), { namespace });
  await fires("JsonplaneObjectStalled");
  const [found] = await prometheus.query(await alertExpr("JsonplaneObjectStalled"));
  expect(found?.labels).toMatchObject({ namespace, kind: "ApiResource", reason: "InvalidSchema" });
  await fleet.api.kubectl(["delete", "apiresources.jsonplane.io", "broken", "--namespace", namespace]);
});

it("stored objects that a new schema refuses: JsonplaneStoredObjectsInvalid, with the tenant's namespace", async () => {
  await isQuiet("JsonplaneStoredObjectsInvalid");
  const change = (spec: object) => {
    const patch = ["--type=merge", "-p", JSON.stringify({ spec })];
    return fleet.api.kubectl(["patch", "jres", "items", "--namespace", namespace, ...patch]);
  };
  await change({ schema: { required: ["title"] }, schemaChange: { storedObjects: "Report" } });
  await fires("JsonplaneStoredObjectsInvalid");
  const [found] = await prometheus.query(await alertExpr("JsonplaneStoredObjectsInvalid"));
  expect(found).toMatchObject({ labels: { namespace }, value: 8 });
  await change({ schema: { required: null }, schemaChange: null });
});

it("an issuer that is not there: JsonplaneIssuerUnreachable", async () => {
  await isQuiet("JsonplaneIssuerUnreachable");
  const issuers = [{ name: "corp", issuer: { url: issuer, audiences: ["web"] } }];
  const project = { apiVersion: "jsonplane.io/v1alpha1", kind: "Project", metadata: { name: "signed-in" } };
  await fleet.api.apply(JSON.stringify({ ...project, spec: { authentication: { issuers } } }), { namespace });
  await fires("JsonplaneIssuerUnreachable");
  await fleet.api.kubectl(["delete", "projects.jsonplane.io", "signed-in", "--namespace", namespace]);
});

it("more logins at once than a replica can check: JsonplaneLoginsBusy", async () => {
  await isQuiet("JsonplaneLoginsBusy");
  const login = async (user: number) =>
    (await send("/sessions", { method: "POST", as: `basic ${Buffer.from(`u${user}:wrong`).toString("base64")}` }))
      .status;
  // The counter begins with the first flood; only the second makes it rise.
  await eventually(async () => {
    const statuses = await Promise.all(Array.from({ length: 120 }, (_, user) => login(user)));
    expect(statuses).toContain(503);
    expect((await prometheus.query(await alertExpr("JsonplaneLoginsBusy"))).length).toBe(1);
  }, patience);
  fired.add("JsonplaneLoginsBusy");
});

it("more streams of one caller than a replica lets: JsonplaneStreamsRefused", async () => {
  await isQuiet("JsonplaneStreamsRefused");
  const followed = { origin: fleet.replicas[0]?.origin ?? "", base: `/${namespace}/web` };
  // The limit follows from the replica's memory.
  for (let statuses: readonly number[] = []; !statuses.includes(429); ) {
    const streams = await Promise.all(Array.from({ length: 250 }, () => follow(followed, "/api/items")));
    statuses = streams.map(({ status }) => status);
  }
  // The counter begins with the first refusal; only a later one makes it rise.
  await eventually(async () => {
    expect((await follow(followed, "/api/items")).status).toBe(429);
    expect((await prometheus.query(await alertExpr("JsonplaneStreamsRefused"))).length).toBe(1);
  }, patience);
  fired.add("JsonplaneStreamsRefused");
  closeStreams();
});

it("more requests than a project's rate allows: JsonplaneProjectRateLimited, for its team", async () => {
  const limit = (limits: object) => {
    const patch = ["--type=merge", "-p", JSON.stringify({ spec: { limits } })];
    return fleet.api.kubectl(["patch", "jproj", "web", "--namespace", namespace, ...patch]);
  };
  await limit({ rate: { project: { requestsPerSecond: 1, burst: 1 } } });
  // The counter begins with the first refusal; only a later one makes it rise.
  const ask = () => Promise.all(Array.from({ length: 20 }, () => send("/api/items")));
  await firesForTeam("JsonplaneProjectRateLimited", ask);
  await limit({ rate: null });
});

it("memory of Redis that is nearly used up: JsonplaneRedisNearlyFull", async () => {
  await isQuiet("JsonplaneRedisNearlyFull");
  const used = Number(/used_memory:(\d+)/.exec(await redis("INFO memory"))?.[1]);
  await redis(`CONFIG SET maxmemory ${Math.round(used * 1.1)}`);
  await fires("JsonplaneRedisNearlyFull");
  await redis("CONFIG SET maxmemory 0");
});

it("a certificate of Redis that ends in three days: JsonplaneRedisCertificateEnds", () =>
  fires("JsonplaneRedisCertificateEnds"));

it("a Redis that another installation has taken: JsonplaneRedisContested", async () => {
  await isQuiet("JsonplaneRedisContested");
  const owner = (await redis(`HGET ${configKeys.meta} owner`)).split("\r\n")[1] ?? "";
  const epoch = (await redis(`HGET ${configKeys.meta} epoch`)).split("\r\n")[1] ?? "";
  await redis(`HSET ${configKeys.meta} owner another epoch another`);
  await edit(1);
  await fires("JsonplaneRedisContested");
  await redis(`HSET ${configKeys.meta} owner ${owner} epoch ${epoch}`);
  await fleet.ready(namespace);
});

it("a Redis that is away: requests, publishing, reconciling and what replicas know fail with it", async () => {
  const alerts = [
    "JsonplaneStoreFailing",
    "JsonplaneRequestsFailing",
    "JsonplaneProjectErrors",
    "JsonplanePublishFailing",
    "JsonplaneReconcileFailing",
  ];
  // It comes back with what it had.
  await redis("SAVE");
  await fleet.redis.kill();
  await edit(2);
  const failing = async () => expect((await send("/api/items")).status).toBe(503);
  await eventually(async () => {
    for (let count = 0; count < 20; count += 1) await failing();
    for (const alert of alerts) {
      const expr = await alertExpr(alert);
      expect([alert, (await prometheus.query(expr)).length > 0]).toEqual([alert, true]);
      fired.add(alert);
    }
  }, patience);
  await firesForTeam("JsonplaneProjectErrors");
  await fleet.redis.restart();
  await fleet.ready(namespace);
});

it("a Redis that comes back empty: JsonplaneDataLost", async () => {
  await isQuiet("JsonplaneDataLost");
  await redis("FLUSHALL");
  await fires("JsonplaneDataLost");
  const loss = (await redis(`HGET ${configKeys.meta} data_loss`)).split("\r\n")[1] ?? "";
  const accept = `jsonplane.io/accept-data-loss=${loss}`;
  await fleet.api.kubectl(["annotate", "secret", "jsonplane-keyring", accept, "--namespace", systemNamespace]);
  await fleet.ready(namespace);
});

it("no data-plane replica: JsonplaneNoReplica, JsonplaneProjectsUnavailable", async () => {
  await isQuiet("JsonplaneNoReplica");
  await isQuiet("JsonplaneProjectsUnavailable");
  await Promise.all([...fleet.replicas, ...strangers].map((replica) => replica.stop("SIGKILL")));
  await fires("JsonplaneNoReplica");
  await fires("JsonplaneProjectsUnavailable");
});

it("no operator: JsonplaneNoLeader", async () => {
  await isQuiet("JsonplaneNoLeader");
  await Promise.all(fleet.operators.map((operator) => operator.stop("SIGKILL")));
  await fires("JsonplaneNoLeader");
});

it("none is left out but those that take minutes", async () => {
  const all = (await alertRules()).map(({ alert }) => alert);
  expect([...fired, ...takesMinutes].sort()).toEqual(all.sort());
  const ofTeam = (await teamAlertRules()).map(({ alert }) => alert);
  expect([...firedForTeam, "JsonplaneProjectSlow"].sort()).toEqual(ofTeam.sort());
});
