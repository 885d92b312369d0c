// A Redis with Sentinels as docs/how-to/production-redis.md makes it, and the loss of its primary
// with the node that it runs on.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { fencedBlocks } from "../support/documents/fenced-blocks.ts";
import { eventually } from "../support/time/eventually.ts";
import type { Target } from "./target.ts";
import type { PodTraffic } from "./traffic.ts";

const guide = new URL("../../docs/how-to/production-redis.md", import.meta.url);
const values = fileURLToPath(new URL("../../deploy/ha/sentinel/values.yaml", import.meta.url));
const db = ["-n", "db"] as const;
const servers = ["redis-0", "redis-1", "redis-2"];

/** The lines of the guide with the image of Redis that this cluster has, then the chart. */
export async function installBehindSentinels(target: Target): Promise<void> {
  const blocks = fencedBlocks(await readFile(guide, "utf8"));
  const lines = blocks.find(({ text }) => text.includes("secrets.sh sentinel"))?.text ?? "";
  const manifest = "deploy/ha/sentinel/redis.yaml";
  const applied = `sed "s#image: redis:8.6#image: ${target.redis}#" ${manifest} | kubectl apply -f -`;
  await target.paste(lines.replace(`kubectl apply -f ${manifest}`, applied));
  await target.rollOut("install", target.to, "--values", values);
}

/** It ends by SIGKILL, and nothing runs on its node until another server was promoted. */
export async function losePrimary(target: Target, traffic: PodTraffic): Promise<void> {
  const former = await primary(target);
  const node = await target.kubectl("get", "pod", former, ...db, "-o", "jsonpath={.spec.nodeName}");
  await target.kubectl("cordon", node);
  await traffic.chapter();
  // Asked to end, a server would wait for its replicas and hand over: one that runs a script can't,
  // and is killed two seconds later.
  await asAdmin(target, former, "eval 'while true do end' 0 >/dev/null 2>&1 & sleep 1");
  await target.kubectl("delete", "pod", former, ...db, "--grace-period=0", "--force");
  try {
    await eventually(async () => expect(await primary(target, former)).not.toBe(former), { withinMs: 120_000 });
  } finally {
    await target.kubectl("uncordon", node);
  }
  await target.kubectl("rollout", "status", "statefulset/redis", ...db, "--timeout=120s");
}

/** The server that accepts writes, among those that are not `lost`. */
async function primary(target: Target, lost?: string): Promise<string> {
  for (const server of servers.filter((name) => name !== lost)) {
    if ((await asAdmin(target, server, "role")).startsWith("master")) return server;
  }
  throw new Error(`None of ${servers} is the primary`);
}

/** What redis-cli prints, which gets `args` as a shell reads them. */
async function asAdmin(target: Target, server: string, args: string): Promise<string> {
  const encoded = await target.kubectl("get", "secret", "redis-users", ...db, "-o", "jsonpath={.data.admin-password}");
  const password = `REDISCLI_AUTH=${Buffer.from(encoded, "base64").toString()}`;
  const client = "redis-cli --tls --cacert /etc/redis-tls/ca.crt --user jsonplane-admin --no-auth-warning";
  return await target.kubectl("exec", server, ...db, "-c", "redis", "--", "sh", "-c", `${password} ${client} ${args}`);
}

/** With its volumes. */
export async function removeSentinels(target: Target): Promise<void> {
  await target.kubectl("delete", "namespace", "db", "--wait=true", "--timeout=120s");
}
