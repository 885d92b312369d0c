// Starts and follows the pod that sends continuous traffic (traffic.mjs).

import { readFile } from "node:fs/promises";
import { eventually } from "../support/time/eventually.ts";
import type { Target } from "./target.ts";

/** What happened since the chapter before. */
export interface Chapter {
  readonly requests: number;
  readonly acknowledged: number;
  /** Answers 503 that a Redis which is away explains. */
  readonly unavailable: number;
  /** Everything else that is no success. */
  readonly failures: readonly string[];
  readonly slowestMs: number;
  readonly seconds: number;
}

export interface Audit {
  readonly acknowledged: number;
  readonly stored: number;
  readonly twice: number;
  readonly lost: readonly number[];
}

export interface PodTraffic {
  chapter(): Promise<Chapter>;
  /** Ends it, and compares what was acknowledged with what is stored. */
  end(): Promise<Audit>;
}

const pod = "traffic";

export async function startPodTraffic(target: Target, namespace: string): Promise<PodTraffic> {
  const script = await readFile(new URL("./traffic.mjs", import.meta.url), "utf8");
  await target.apply(JSON.stringify(trafficList(target.from.image, namespace, script)));
  await target.kubectl("wait", "--for=condition=Ready", `pod/${pod}`, "-n", namespace, "--timeout=60s");
  const lines = async (): Promise<readonly string[]> =>
    (await target.kubectl("logs", pod, "-n", namespace)).trim().split("\n");
  const signal = (name: string): Promise<string> =>
    target.kubectl("exec", pod, "-n", namespace, "--", "node", "-e", `process.kill(1, "${name}")`);
  let reported = 0;
  const nextLine = (): Promise<string> =>
    eventually(
      async () => {
        const line = (await lines())[reported];
        if (!line?.startsWith("{")) throw new Error(`No line ${reported + 1} yet: ${line}`);
        return line;
      },
      { withinMs: 120_000 },
    ).then((line) => {
      reported += 1;
      return line;
    });
  await eventually(async () => {
    await target.kubectl("exec", pod, "-n", namespace, "--", "node", "-e", "0");
  });
  return {
    async chapter() {
      await signal("SIGUSR2");
      return JSON.parse(await nextLine()) as Chapter;
    },
    async end() {
      await signal("SIGTERM");
      await nextLine();
      const audit = JSON.parse(await nextLine()) as Audit;
      await target.kubectl("delete", "pod", pod, "-n", namespace, "--wait=true");
      return audit;
    },
  };
}

function trafficList(image: string, namespace: string, script: string): unknown {
  const metadata = { name: pod, namespace };
  return {
    apiVersion: "v1",
    kind: "List",
    items: [
      { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "traffic.mjs": script } },
      {
        apiVersion: "v1",
        kind: "Pod",
        metadata,
        spec: {
          restartPolicy: "Never",
          securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
          containers: [
            {
              name: pod,
              image,
              command: ["node", "/traffic/traffic.mjs"],
              env: [
                { name: "URL_OF_PROJECT", value: `http://jsonplane.jsonplane-system.svc/${namespace}/load` },
                { name: "API_KEY", valueFrom: { secretKeyRef: { name: "traffic-api-key", key: "apiKey" } } },
              ],
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
              volumeMounts: [{ name: "script", mountPath: "/traffic" }],
            },
          ],
          volumes: [{ name: "script", configMap: { name: pod } }],
        },
      },
    ],
  };
}
