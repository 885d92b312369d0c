// What the programs of an installation answer, asked in their own pods.

import { systemNamespace, type Target } from "./target.ts";

const system = ["-n", systemNamespace] as const;

/** What the API answers inside the cluster, asked from a pod of the operator. */
export async function asked(target: Target, path: string): Promise<string> {
  const url = `http://jsonplane.${systemNamespace}.svc/${path}`;
  const script = `fetch("${url}").then((r) => r.text()).then((t) => process.stdout.write(t))`;
  return await target.kubectl("exec", ...system, "deploy/jsonplane-operator", "--", "node", "-e", script);
}

/** Status of a POST of an item, with a key in base64 as its Secret has it. */
export async function createdWith(target: Target, namespace: string, key: string): Promise<string> {
  const url = `http://jsonplane.${systemNamespace}.svc/${namespace}/load/api/items`;
  const authorization = `apikey ${Buffer.from(key, "base64").toString()}`;
  const request = JSON.stringify({ method: "POST", headers: { authorization }, body: '{"number":1}' });
  const script = `fetch("${url}", ${request}).then((r) => process.stdout.write(String(r.status)))`;
  return await target.kubectl("exec", ...system, "deploy/jsonplane-operator", "--", "node", "-e", script);
}

/** What `jsonplane data orphans` prints in a pod of the operator. */
export async function orphans(target: Target, ...words: readonly string[]): Promise<string> {
  const command = ["node", "/app/dist/cli/main.js", "data", "orphans", ...words];
  return await target.kubectl("exec", ...system, "deploy/jsonplane-operator", "--", ...command);
}

/** Statuses of a program's /metrics: without a token, and with the one of the operator's Secret. */
export async function metricsStatuses(target: Target, program: string): Promise<readonly string[]> {
  const secret = ["secret", "jsonplane-admin-token", ...system, "-o", "jsonpath={.data.token}"];
  const token = Buffer.from(await target.kubectl("get", ...secret), "base64").toString();
  const requests = JSON.stringify([{}, { headers: { authorization: `Bearer ${token}` } }]);
  const ask = `(request) => fetch("http://127.0.0.1:9090/metrics", request).then(({ status }) => status)`;
  const script = `Promise.all(${requests}.map(${ask})).then((all) => process.stdout.write(all.join()))`;
  const words = ["exec", ...system, `deploy/jsonplane-${program}`, "--", "node", "-e", script];
  return (await target.kubectl(...words)).split(",");
}
