// A namespace's backup that one cluster has made is restored in another one, by the lines of the
// guide alone. Each cluster has an API server, a Redis, an operator and a replica of its own; the
// bucket is all that they share.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findHelm } from "../../tools/parts/helm.ts";
import { objectsIn, render } from "../support/chart/helm.ts";
import { type FencedBlock, fencedBlocks } from "../support/documents/fenced-blocks.ts";
import { type PasteShell, pasteShell } from "../support/documents/paste-shell.ts";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { type Declared, secretOf } from "../support/kubernetes/declared.ts";
import { temporaryFolder } from "../support/process/temporary-folder.ts";
import { allowAsDocumented, documentedUrl } from "../support/redis/redis-acl.ts";
import { startS3, type TestS3 } from "../support/s3/s3-server.ts";
import { type ClusterJobs, runJobs } from "./cluster-jobs.ts";

const guide = fileURLToPath(new URL("../../docs/how-to/back-up-and-restore.md", import.meta.url));
const bookshop = fileURLToPath(new URL("../../examples/bookshop.yaml", import.meta.url));
const folder = temporaryFolder("jsonplane-moved-");

interface Cluster {
  readonly fleet: OwnFleet;
  readonly jobs: ClusterJobs;
  readonly shell: PasteShell;
}

let s3: TestS3;
let clusters: readonly [Cluster, Cluster];
let blocks: readonly FencedBlock[];

beforeAll(async () => {
  blocks = fencedBlocks(await readFile(guide, "utf8"));
  s3 = await startS3();
  const identity = await generateIdentity();
  await writeFile(join(folder.path, "identity.txt"), `${identity}\n`);
  const cronJobs = await cronJobsOf(s3, await identityToRecipient(identity));
  clusters = await Promise.all([openCluster("first", cronJobs), openCluster("second", cronJobs)]);
});
afterAll(async () => {
  for (const { fleet, jobs, shell } of clusters ?? []) {
    await shell.stop();
    await jobs.stop();
    await fleet.stop();
  }
  await s3?.stop();
  await folder.remove();
});

/** What the chart makes of the guide's values for one namespace. */
async function cronJobsOf({ bucket, endpoint }: TestS3, recipient: string): Promise<readonly Declared[]> {
  const values = join(folder.path, "values.yaml");
  await writeFile(values, blocks.find(({ text }) => text.startsWith("# values.yaml"))?.text ?? "");
  const own = [
    ...[`backup.bucket.name=${bucket}`, `backup.bucket.endpoint=${endpoint}`],
    ...[`backup.recipients={${recipient}}`, "backup.projects={shop/*}"],
    ...["redis.bundled.enabled=false", "redis.external.existingSecret.name=redis-urls"],
  ];
  const { code, text, complaint } = await render(await findHelm(process.env), [
    ...["--values", values],
    ...own.flatMap((each) => ["--set", each]),
  ]);
  expect([code, complaint]).toEqual([0, ""]);
  return objectsIn(text).filter(({ kind }) => kind === "CronJob") as unknown as readonly Declared[];
}

async function openCluster(name: string, cronJobs: readonly Declared[]): Promise<Cluster> {
  const fleet = await startFleet();
  await allowAsDocumented(fleet.redis);
  const secrets = [
    secretOf("redis-urls", {
      "dataplane-url": documentedUrl(fleet.redis, "jsonplane-dataplane"),
      "backup-url": documentedUrl(fleet.redis, "jsonplane-backup"),
    }),
    secretOf("backup-bucket", { "access-key-id": s3.accessKeyId, "secret-access-key": s3.secretAccessKey }),
  ];
  await objectsOf(fleet.api, systemNamespace).create(...secrets);
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: cronJobs });
  await fleet.api.kubectl(["create", "-f", "-"], { input });
  const path = join(folder.path, name);
  await mkdir(path);
  const jobs = await runJobs(fleet, path);
  return { fleet, jobs, shell: pasteShell(folder.path, { PATH: `${jobs.programs}:${process.env.PATH}` }) };
}

/** Pastes the guide's lines that have this in them; resolves with what they printed. */
async function pasted({ shell }: Cluster, has: string): Promise<string> {
  const block = blocks.find(({ language, text }) => language === "sh" && text.includes(has));
  const { printed, code } = await shell.paste(block?.text ?? `The guide has no ${has}`);
  expect([code, printed]).toEqual([0, expect.anything()]);
  return printed;
}

/** Lines of an export but the first and the last. */
async function storedIn({ fleet }: Cluster): Promise<readonly string[]> {
  const as = `apikey ${await fleet.secret("shop", "back-office-api-key", "apiKey")}`;
  const reply = await fleet.replicas[0]?.send("/shop/bookshop/export", { as });
  return reply?.text.trimEnd().split("\n").slice(1, -1) ?? [];
}

it("a backup of one namespace is restored byte for byte in another cluster by the guide's lines", async () => {
  const [first, second] = clusters;
  for (const namespace of ["shop", "other"]) {
    await first.fleet.api.kubectl(["create", "namespace", namespace]);
    await first.fleet.api.kubectl(["apply", "--namespace", namespace, "-f", bookshop]);
    await first.fleet.ready(namespace);
    await fill(first, namespace);
  }
  const before = await storedIn(first);
  expect(before).toHaveLength(41);
  expect(await pasted(first, "job backup-now ")).toMatch(/shop\/bookshop: 41 objects and values/);
  await pasted(first, "> shop.yaml");

  await pasted(second, "apply -f shop.yaml");
  expect(await storedIn(second)).toEqual([]);
  await pasted(second, "create secret generic backup-identity");
  expect(await pasted(second, "job restore-list ")).toMatch(/^(.*\n)*shop\/bookshop\/.*\.ndjson\.gz\.age\n$/);
  expect(await pasted(second, "job restore-shop ")).toContain("shop/bookshop: 41 created");
  expect(await storedIn(second)).toEqual(before);
});

async function fill({ fleet }: Cluster, namespace: string): Promise<void> {
  const as = `apikey ${await fleet.secret(namespace, "back-office-api-key", "apiKey")}`;
  const [replica] = fleet.replicas;
  for (let n = 0; n < 40; n += 1) {
    const body = { title: `Book ${n} “ü” 😀`, author: { name: "Ada" }, price: n + 0.5 };
    const made = await replica?.send(`/${namespace}/bookshop/api/books`, { method: "POST", as, body });
    expect(made?.status).toBe(201);
  }
  const sent = { method: "PUT", as, body: { openingHours: [], "10": 1.5 } } as const;
  expect((await replica?.send(`/${namespace}/bookshop/json/settings`, sent))?.status).toBe(200);
}
