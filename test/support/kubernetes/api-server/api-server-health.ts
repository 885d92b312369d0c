// Small calls to a test's etcd and Kubernetes: whether they are up, and etcd's compaction through
// its JSON gateway.

import { request } from "node:http";
import { request as secureRequest } from "node:https";

export interface HealthTarget {
  readonly url: string;
  readonly ca?: Buffer;
  readonly token?: string;
  /** True takes any certificate: for a part that makes its own and holds nothing. */
  readonly insecure?: boolean;
}

/** True when the address answers 200; false when it answers otherwise or not at all. */
export function isHealthy({ url, ca, token, insecure }: HealthTarget): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const common = { agent: false, timeout: 2_000, headers } as const;
    const sent = url.startsWith("https:")
      ? secureRequest(url, { ...common, ca, rejectUnauthorized: insecure !== true })
      : request(url, common);
    sent.on("response", (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => resolve(false));
    sent.end();
  });
}

/** Drops every former revision, the present ones stay. */
export async function compactEtcd(port: number): Promise<void> {
  const status = await askEtcd(port, "maintenance/status", {});
  const { revision } = (status as { header: { revision: string } }).header;
  await askEtcd(port, "kv/compaction", { revision, physical: true });
}

/** Through its JSON gateway. */
export async function askEtcd(port: number, path: string, body: unknown): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${port}/v3/${path}`, { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd answered ${answer.status} to ${path}: ${await answer.text()}`);
  return answer.json();
}
