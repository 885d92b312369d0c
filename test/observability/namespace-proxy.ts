// prom-label-proxy before a Prometheus, started as docs/observability.md says: what the team of one
// namespace is let see. It refuses queries that ask for another namespace.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { requirePart } from "../../tools/parts/part.ts";
import { promLabelProxy } from "../../tools/parts/prom-label-proxy.ts";
import { root } from "../../tools/read-crds.ts";
import { fencedBlocks } from "../support/documents/fenced-blocks.ts";
import { send } from "../support/http/http-client.ts";
import { freePort } from "../support/process/free-port.ts";
import { startPart } from "../support/process/part-process.ts";
import { temporaryFolder } from "../support/process/temporary-folder.ts";
import { query, type TestPrometheus } from "./prometheus.ts";

export interface NamespaceProxy extends Pick<TestPrometheus, "query" | "stop"> {
  /** What Grafana offers for a variable. */
  labelValues(label: string): Promise<readonly string[]>;
}

export async function startNamespaceProxy(prometheus: TestPrometheus, namespace: string): Promise<NamespaceProxy> {
  const folder = temporaryFolder("jsonplane-namespace-proxy-");
  const origin = `http://127.0.0.1:${await freePort()}`;
  const part = await startPart({
    name: "prom-label-proxy",
    program: await requirePart(process.env, promLabelProxy),
    args: (await documentedArguments()).map(
      (word) => ({ red: namespace, [upstream]: prometheus.origin, [listen]: new URL(origin).host })[word] ?? word,
    ),
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
    async labelValues(label) {
      const { text } = await send(origin, `/api/v1/label/${label}/values`);
      return (JSON.parse(text) as { readonly data: readonly string[] }).data;
    },
    async stop() {
      await part.end("SIGKILL");
      await folder.remove();
    },
  };
}

const upstream = "http://prometheus.monitoring:9090";
const listen = "0.0.0.0:8080";

async function documentedArguments(): Promise<readonly string[]> {
  const blocks = fencedBlocks(await readFile(join(root, "docs/observability.md"), "utf8"));
  const { text = "" } = blocks.find((block) => block.text.startsWith("prom-label-proxy ")) ?? {};
  return text
    .trim()
    .split(/[\s\\]+/)
    .slice(1);
}
