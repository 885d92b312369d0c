// The operator as the chart runs it: the built program in a pod, with the image's environment, the chart's share of its container's memory as
// maximum heap, and the chart's size of the heap for new objects.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { allocatorEnvironment } from "../../tools/image/jsonplane-image.ts";
import type { OperatorProcessOptions } from "../support/fleet/operator-process.ts";
import type { Pod } from "../support/fleet/pod.ts";

/** What `npm run build` wrote; the npm script of the benchmark does it first. */
const built = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const chartValues = new URL("../../charts/jsonplane/values.yaml", import.meta.url);

export type InstalledOperator = Required<Pick<OperatorProcessOptions, "program" | "nodeFlags" | "env" | "pod">>;

/** `containerMiB` = `operator.resources.limits.memory`. Nothing holds the process to it but its maximum heap. */
export async function installedOperator(pod: Pod, containerMiB: number): Promise<InstalledOperator> {
  const { operator } = parse(await readFile(chartValues, "utf8")) as { operator: { readonly heapPercent: number } };
  const heap = Math.floor((containerMiB * operator.heapPercent) / 100);
  const nodeFlags = [`--max-old-space-size=${heap}`, "--max-semi-space-size=8"];
  return { program: built, nodeFlags, env: allocatorEnvironment, pod };
}
