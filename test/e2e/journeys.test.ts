// The life of an installation on a real cluster, from `helm install` to the purge of its last
// datum, under continuous traffic. Each journey begins where the one before it ended, and the first
// that fails ends the run with what the cluster says. Those of an upgrade can be run without the
// others.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { crdFolder } from "../../tools/read-crds.ts";
import { fencedBlocks } from "../support/documents/fenced-blocks.ts";
import { eventually } from "../support/time/eventually.ts";
import { asked, createdWith, metricsStatuses, orphans } from "./asked-in-pods.ts";
import { failureReport } from "./failure-report.ts";
import { askerIn, startAsker } from "./network.ts";
import { installBehindSentinels, losePrimary, removeSentinels } from "./primary-loss.ts";
import { openTarget, release, systemNamespace, type Target } from "./target.ts";
import { answersToPodOf } from "./token-pod.ts";
import { type PodTraffic, startPodTraffic } from "./traffic.ts";

const bookshop = fileURLToPath(new URL("../../examples/bookshop.yaml", import.meta.url));
const backupGuide = fileURLToPath(new URL("../../docs/how-to/back-up-and-restore.md", import.meta.url));
const operations = fileURLToPath(new URL("../../docs/operations.md", import.meta.url));
const loadProject = fileURLToPath(new URL("./load.yaml", import.meta.url));
const load = "e2e-load";
const shop = "e2e-bookshop";
const system = ["-n", systemNamespace] as const;
const minutes = 60_000;
const otherValues = ["--set", "dataplane.logLevel=warn,operator.workers=4"] as const;
/** As earlier versions were. To switch TLS restarts Redis. */
const withoutToken = ["--set", "metrics.tokenSecret.enabled=false"] as const;
const withoutTls = ["--set", "redis.bundled.tls.enabled=false"] as const;

let target: Target;
let traffic: PodTraffic;
let failed = false;

beforeAll(async () => {
  target = await openTarget(process.env);
  const kinds = await target.kubectl("get", "crd", "projects.jsonplane.io", "--ignore-not-found", "-o", "name");
  if (kinds !== "") throw new Error("This cluster has jsonplane already; the journeys would purge what is there");
}, 30 * minutes);
afterEach(async ({ task }) => {
  if (task.result?.state !== "fail") return;
  failed = true;
  process.stderr.write(`${await failureReport(target)}\n`);
});
afterAll(async () => {
  await target?.stop();
}, 5 * minutes);

function journey(name: string, run: () => Promise<void>, tags: readonly string[] = []): void {
  it(name, { timeout: 8 * minutes, tags: [...tags] }, async ({ skip }) => {
    if (failed) skip("a journey before it failed");
    await run();
  });
}

/** One that `--tags-filter upgrade` runs too: the way there from an earlier version and back. */
function upgradeJourney(name: string, run: () => Promise<void>): void {
  journey(name, run, ["upgrade"]);
}

async function ready(namespace: string): Promise<void> {
  await target.kubectl("wait", "--for=condition=Ready", "jsonplane", "--all", "-n", namespace, "--timeout=60s");
}

async function pods(component: string): Promise<readonly string[]> {
  const selector = `app.kubernetes.io/component=${component}`;
  const names = await target.kubectl("get", "pods", ...system, "-l", selector, "-o", "name");
  return names.trim().split("\n").filter(Boolean);
}

/** Until that many replicas are ready and no other pod of the data plane is there. */
async function settled(replicas: number): Promise<void> {
  await target.kubectl("rollout", "status", ...system, "deploy/jsonplane-dataplane", "--timeout=180s");
  await eventually(async () => expect(await pods("dataplane")).toHaveLength(replicas), { withinMs: 2 * minutes });
}

/** Nothing but successes since the chapter before, and more than a few of them. */
async function expectUnharmed(): Promise<void> {
  const { failures, unavailable, acknowledged } = await traffic.chapter();
  expect(failures).toEqual([]);
  expect(unavailable).toBe(0);
  expect(acknowledged).toBeGreaterThan(20);
}

/** Values are read, and nothing but 503 was answered since the chapter before. */
async function expectRedisBack(): Promise<void> {
  await eventually(async () => expect(await asked(target, `${load}/load/json/settings/colour`)).toBe('"green"'), {
    withinMs: minutes,
  });
  const { failures } = await traffic.chapter();
  // Without a ready replica the Service has nobody to send to: connections are refused or not
  // answered, for a moment.
  expect(failures.filter((failure) => /: [0-9]{3} /.test(failure))).toEqual([]);
}

async function lease(): Promise<string> {
  return await target.kubectl("get", "lease", "jsonplane-operator", ...system, "-o", "jsonpath={.spec.holderIdentity}");
}

/** How many the project of the traffic has stored. */
async function items(): Promise<number> {
  return (JSON.parse(await asked(target, `${load}/load/api/items?_limit=1`)) as { readonly count: number }).count;
}

/** In base64, as the Secret has it. */
async function trafficKey(): Promise<string> {
  return await target.kubectl("get", "secret", "traffic-api-key", "-n", load, "-o", "jsonpath={.data.apiKey}");
}

/** A change of the Project is live. */
async function changed(host: string): Promise<void> {
  await patched({ spec: { cors: { allowedOrigins: [`https://${host}.example.org`] } } });
}

/** A merge patch of the Project is live. */
async function patched(patch: unknown): Promise<void> {
  await target.kubectl("patch", "project", "load", "-n", load, "--type=merge", "-p", JSON.stringify(patch));
  await target.kubectl(
    "wait",
    "project/load",
    "-n",
    load,
    "--timeout=30s",
    "--for=jsonpath={.status.liveGeneration}=" +
      (await target.kubectl("get", "project", "load", "-n", load, "-o", "jsonpath={.metadata.generation}")),
  );
}

describe("an installation", () => {
  upgradeJourney("comes up with helm install, in a namespace that holds pods to the standard restricted", async () => {
    await target.kubectl("create", "namespace", systemNamespace);
    await target.kubectl("label", "namespace", systemNamespace, "pod-security.kubernetes.io/enforce=restricted");
    const asEarlier = target.from.chart === target.to.chart ? [...withoutTls, ...withoutToken] : [];
    await target.rollOut("install", target.from, ...asEarlier);
    expect(await target.helm("test", release, ...system)).toContain("Succeeded");
  });

  upgradeJourney("serves what is applied, at the URL of its status", async () => {
    await target.kubectl("create", "namespace", shop);
    await target.apply(await readFile(bookshop, "utf8"), shop);
    await ready(shop);
    const url = await target.kubectl("get", "project", "bookshop", "-n", shop, "-o", "jsonpath={.status.baseURL}");
    expect(url).toBe(`http://jsonplane.${systemNamespace}.svc/${shop}/bookshop`);
    expect(await asked(target, `${shop}/bookshop/api/books`)).toMatch(/^\{"count":0/);
    await target.kubectl("create", "namespace", load);
    await target.apply(await readFile(loadProject, "utf8"), load);
    await ready(load);
    traffic = await startPodTraffic(target, load);
    await expectSoon();
  });

  upgradeJourney("is upgraded from an earlier commit, image, chart and values, without a failed request", async () => {
    await target.rollOut("upgrade", target.to, ...otherValues, ...withoutTls);
    await settled(2);
    // In a version of the API that the earlier commit doesn't have.
    await target.apply((await readFile(loadProject, "utf8")).replaceAll(/io\/v1alpha1$/gm, "io/v1beta1"), load);
    await ready(load);
    expect(await metricsStatuses(target, "operator")).toEqual(["401", "200"]);
    expect(await metricsStatuses(target, "dataplane")).toEqual(["401", "200"]);
    await expectUnharmed();
  });

  upgradeJourney(
    "goes over to TLS between its parts, and back: 503 while its Redis restarts, and no loss",
    async () => {
      const steps = {
        tls: () => target.rollOut("upgrade", target.to, ...otherValues),
        plain: () => target.helm("rollback", release, "2", ...system, "--wait", "--timeout", "240s"),
      };
      for (const [name, step] of Object.entries(steps)) {
        await step();
        await target.kubectl("rollout", "status", ...system, "statefulset/jsonplane-redis", "--timeout=180s");
        await settled(2);
        await expectRedisBack();
        await changed(name);
      }
      await expectSoon();
    },
  );

  journey("lets a pod in by its ServiceAccount's token, and no pod of another ServiceAccount", async () => {
    const kubernetes = { name: "cluster", kubernetes: {}, issuer: { audiences: ["jsonplane"] } };
    const importer = { namespace: load, name: "importer", access: "Write" };
    const issuers = [{ ...kubernetes, serviceAccounts: [importer] }];
    await patched({ spec: { authentication: { issuers } } });
    const [importing, other, astray] = await Promise.all([
      answersToPodOf(target, importer, "jsonplane"),
      answersToPodOf(target, { namespace: load, name: "other" }, "jsonplane"),
      answersToPodOf(target, importer, "somebody-else"),
    ]);
    expect(importing).toMatchObject({
      created: 201,
      whoami: { kind: "external", name: `cluster/system:serviceaccount:${load}:importer`, access: "Write" },
    });
    for (const refused of [other, astray]) {
      expect(refused).toMatchObject({ created: 401, whoami: { code: "invalid_credentials" } });
    }
    await expectUnharmed();
  });

  journey("lets strangers reach the API alone, what watches it also metrics, and its own programs Redis", async () => {
    await target.kubectl("create", "namespace", "monitoring");
    const askers = await Promise.all([
      startAsker(target, shop, "stranger"),
      startAsker(target, systemNamespace, "neighbour"),
      startAsker(target, "monitoring", "prometheus"),
      askerIn(target, systemNamespace, "deploy/jsonplane-operator"),
    ]);
    const strangers = { api: true, metrics: false, redis: false };
    const expected = [strangers, strangers, { ...strangers, metrics: true }, { ...strangers, redis: true }];
    // What enforces policies knows of a pod some moments after its start.
    await eventually(async () => expect(await Promise.all(askers.map((ask) => ask()))).toEqual(expected), {
      withinMs: minutes,
    });
    await target.kubectl("delete", "namespace", "monitoring", "--wait=false");
    await target.kubectl("delete", "pod", "neighbour", ...system);
    await expectUnharmed();
  });

  journey("goes on when the operator's leader is killed, and takes changes over soon", async () => {
    const holder = await lease();
    const leader = holder.replace(/_.*$/, "");
    await target.kubectl("delete", "pod", leader, ...system, "--grace-period=0", "--force");
    await eventually(async () => expect(await lease()).not.toBe(holder), { withinMs: 40_000 });
    await changed("leader");
    await expectUnharmed();
  });

  journey("answers 503 while its only Redis pod is gone, and comes back without help and without a loss", async () => {
    await traffic.chapter();
    await target.kubectl("delete", "pod", "jsonplane-redis-0", ...system, "--grace-period=0", "--force");
    await target.kubectl("rollout", "status", ...system, "statefulset/jsonplane-redis", "--timeout=180s");
    await settled(2);
    await expectRedisBack();
    await changed("redis");
    await expectSoon();
  });

  journey("loses a replica by eviction, and another one by deletion, without a failed request", async () => {
    const [first = "", second = ""] = (await pods("dataplane")).map((name) => name.replace("pod/", ""));
    const eviction = {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: first, namespace: systemNamespace },
    };
    await target.create(`/api/v1/namespaces/${systemNamespace}/pods/${first}/eviction`, JSON.stringify(eviction));
    await target.kubectl("wait", "--for=delete", `pod/${first}`, ...system, "--timeout=120s");
    await settled(2);
    await target.kubectl("delete", "pod", second, ...system, "--wait=true");
    await settled(2);
    await expectUnharmed();
  });

  journey("is scaled from two replicas to four and to one without a failed request", async () => {
    for (const replicas of [4, 1, 2]) {
      await target.kubectl("scale", ...system, "deploy/jsonplane-dataplane", `--replicas=${replicas}`);
      await settled(replicas);
      await expectUnharmed();
    }
  });

  upgradeJourney("is rolled back to the earlier commit's image and chart without a failed request", async () => {
    await target.helm("rollback", release, "1", ...system, "--wait", "--timeout", "240s");
    await settled(2);
    const lines = fencedBlocks(await readFile(operations, "utf8")).find(({ text }) => text.includes("rolled-back-"));
    await target.paste(lines?.text ?? "");
    await target.apply(await readFile(loadProject, "utf8"), load);
    await changed("rollback");
    await expectUnharmed();
  });

  upgradeJourney("has every write that it acknowledged in all that time, once", async () => {
    const { acknowledged, lost } = await traffic.end();
    expect(lost).toEqual([]);
    expect(acknowledged).toBeGreaterThan(500);
  });

  journey(
    "leaves objects, Secrets and data behind when it is uninstalled, and has them back with the next",
    async () => {
      const before = await trafficKey();
      const count = await items();
      await target.helm("uninstall", release, ...system, "--wait", "--timeout", "120s");
      expect(await target.kubectl("get", "jsonplane", "-n", load, "-o", "name")).toContain("project.jsonplane.io/load");
      await eventually(async () => expect(await pods("dataplane")).toEqual([]), { withinMs: 2 * minutes });
      await target.rollOut("install", target.to, "--set", "backup.enabled=true,backup.existingClaim=backups");
      await ready(load);
      await eventually(async () => expect(await items()).toBe(count));
      expect(count).toBeGreaterThan(500);
      expect(await trafficKey()).toBe(before);
    },
  );

  journey("has its data back from a backup after Redis lost its volume, as the guide says", async () => {
    const blocks = fencedBlocks(await readFile(backupGuide, "utf8"));
    const [listing = "", restoring = "", backingUp = ""] = ["restore-list", "restore-1", "backup-now"].map(
      (job) => blocks.find(({ text }) => text.includes(`job ${job} `))?.text,
    );
    await target.apply(blocks.find(({ text }) => text.startsWith("# backups.yaml"))?.text ?? "");
    const count = await items();
    const [, stored = ""] = /e2e-load\/load: (\d+) objects and values/.exec(await target.paste(backingUp)) ?? [];
    expect(Number(stored)).toBeGreaterThanOrEqual(count);
    await target.kubectl("delete", "pvc", "data-jsonplane-redis-0", ...system, "--wait=false");
    await target.kubectl("delete", "pod", "jsonplane-redis-0", ...system, "--grace-period=0", "--force");
    const lost = `--for=jsonpath={.status.conditions[?(@.type=="Ready")].reason}=DataLost`;
    await target.kubectl("wait", "project/load", "-n", load, lost, "--timeout=120s");
    expect(await target.paste(listing)).toContain(`${load}/load/`);
    const restored = await target.paste(restoring.replace("shop/bookshop", `${load}/load`));
    expect(restored).toContain(`${load}/load: ${stored} created`);
    const loss = await target.kubectl("get", "project", "load", "-n", load, "-o", "jsonpath={.status.conditions}");
    const [, name = ""] = /accept-data-loss: \\?"([^"\\]+)/.exec(loss) ?? [];
    const accept = `jsonplane.io/accept-data-loss=${name}`;
    await target.kubectl("annotate", "secret", "jsonplane-keyring", ...system, "--overwrite", accept);
    await eventually(async () => expect(await items()).toBe(count), { withinMs: minutes });
    await ready(load);
  });

  journey("lets nobody delete a definition by accident, and serves all of its kind while one is missing", async () => {
    const kinds = ["apikeys.jsonplane.io", "apiresources.jsonplane.io"];
    const key = await trafficKey();
    await expect(target.kubectl("delete", "crd", ...kinds)).rejects.toThrow("jsonplane.io/allow-deletion=true");
    await target.kubectl("annotate", "crd", ...kinds, "jsonplane.io/allow-deletion=true");
    await target.kubectl("delete", "crd", ...kinds, "--wait=true", "--timeout=60s");
    expect(await createdWith(target, load, key)).toBe("201");
    for (const file of await readdir(crdFolder)) await target.apply(await readFile(join(crdFolder, file), "utf8"));
    await target.kubectl("wait", "crd", ...kinds, "--for=condition=Established", "--timeout=60s");
    await target.apply(await readFile(loadProject, "utf8"), load);
    await target.apply(await readFile(bookshop, "utf8"), shop);
    await ready(load);
    await ready(shop);
    expect(await trafficKey()).not.toBe(key);
    expect(await createdWith(target, load, await trafficKey())).toBe("201");
  });

  journey(
    "lists what is kept of a deleted resource, and deletes it, by the command in the operator's pod",
    async () => {
      const name = `${load}/load/ApiResource/items`;
      await target.kubectl("delete", "apiresources.jsonplane.io", "items", "-n", load, "--wait=true", "--timeout=60s");
      await eventually(async () => expect(await orphans(target, "--output", "json")).toContain('"name":"items"'), {
        withinMs: minutes,
      });
      await orphans(target, "--delete", name);
      expect(await orphans(target, "--output", "json")).not.toContain('"name":"items"');
    },
  );

  journey("purges what is deleted with its policy, and goes without a trace but its volume", async () => {
    const patch = JSON.stringify({ spec: { deletionPolicy: "Delete" } });
    await target.kubectl("patch", "project", "load", "-n", load, "--type=merge", "-p", patch);
    await ready(load);
    await target.kubectl("delete", "project", "load", "-n", load, "--wait=true", "--timeout=60s");
    await target.kubectl("delete", "namespace", load, shop, "--wait=true", "--timeout=120s");
    await uninstallWithDefinitions();
  });

  journey("goes on with a promoted replica when a primary behind Sentinels is lost with its node", async () => {
    await installBehindSentinels(target);
    await target.kubectl("create", "namespace", load);
    await target.apply(await readFile(loadProject, "utf8"), load);
    const patch = JSON.stringify({ spec: { durability: "Replicated" } });
    await target.kubectl("patch", "project", "load", "-n", load, "--type=merge", "-p", patch);
    await ready(load);
    traffic = await startPodTraffic(target, load);
    await expectSoon();
    await losePrimary(target, traffic);
    const { failures } = await traffic.chapter();
    expect(failures.filter((failure) => /: [0-9]{3} /.test(failure))).toEqual([]);
    await changed("promoted");
    await expectSoon();
    expect((await traffic.end()).lost).toEqual([]);
    if (!target.isKept) return;
    await target.kubectl("delete", "namespace", load, "--wait=true", "--timeout=120s");
    await uninstallWithDefinitions();
    await removeSentinels(target);
  });
});

async function uninstallWithDefinitions(): Promise<void> {
  await target.helm("uninstall", release, ...system, "--wait", "--timeout", "120s");
  const definitionsOfAll = ["crd", "-l", "app.kubernetes.io/part-of=jsonplane"];
  // The API server may go by the policy for a moment after it has gone.
  await target.kubectl("annotate", ...definitionsOfAll, "jsonplane.io/allow-deletion=true");
  await target.kubectl("delete", ...definitionsOfAll, "--timeout=60s");
  await target.kubectl("delete", "namespace", systemNamespace, "--wait=true", "--timeout=120s");
}

/** Traffic succeeds again. */
async function expectSoon(): Promise<void> {
  await traffic.chapter();
  await eventually(expectUnharmed, { withinMs: minutes, everyMs: 2_000 });
}
