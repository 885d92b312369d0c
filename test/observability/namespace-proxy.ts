// prom-label-proxy before a Prometheus: what the team of one namespace is let see. It refuses
// queries that ask for another namespace.

import { join } from "node:path";
import { requirePart } from "../../tools/parts/part.ts";
import { promLabelProxy } from "../../tools/parts/prom-label-proxy.ts";
import { send } from "../support/http/http-client.ts";
import { freePort } from "../support/process/free-port.ts";
import { startPart } from "../support/process/part-process.ts";
import { temporaryFolder } from "../support/process/temporary-folder.ts";
import { query, type TestPrometheus } from "./prometheus.ts";

export type NamespaceProxy = Pick<TestPrometheus, "query" | "stop">;

export async function startNamespaceProxy(prometheus: TestPrometheus, namespace: string): Promise<NamespaceProxy> {
  const folder = temporaryFolder("jsonplane-namespace-proxy-");
  const origin = `http://127.0.0.1:${await freePort()}`;
  const part = await startPart({
    name: "prom-label-proxy",
    program: await requirePart(process.env, promLabelProxy),
    args: [
      `-insecure-listen-address=${new URL(origin).host}`,
      `-upstream=${prometheus.origin}`,
      "-label=namespace",
      `-label-value=${namespace}`,
      "-error-on-replace",
    ],
    log: join(folder.path, "prom-label-proxy.log"),
    temporary: folder.path,
    isUp: () =>
      send(origin, "/healthz").then(
        ({ status }) => status === 200,
        () => false,
      ),
  });
  return {
    query: (expr) => query(origin, expr),
    async stop() {
      await part.end("SIGKILL");
      await folder.remove();
    },
  };
}
