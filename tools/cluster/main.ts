// `make cluster` and `make cluster-down`: `node main.ts up [ARCHIVE…]` prints `export KUBECONFIG=…`
// on standard output, after it loaded the image archives; `node main.ts down` removes the cluster.

import { fileURLToPath } from "node:url";
import { bringParts } from "../parts/bring-parts.ts";
import { partsOf } from "../parts/groups.ts";
import { readArguments, WrongArguments } from "../script-arguments.ts";
import { startScript } from "../start-script.ts";
import { downCluster, upCluster } from "./cluster.ts";
import { clusterLayout } from "./layout.ts";
import { claimCluster, requireOwnCluster } from "./owner.ts";

const script = startScript(process.argv[2] === "down" ? "make cluster-down" : "make cluster");
const [command, ...archives] = readArguments({}, ["up | down", "[ARCHIVE]…"]).words;
const clone = fileURLToPath(new URL("../..", import.meta.url));
const { folder } = clusterLayout(process.env);
const started = performance.now();
const seconds = () => `${((performance.now() - started) / 1_000).toFixed(1)} s`;

async function up(): Promise<void> {
  await bringParts(process.env, await partsOf("cluster", process.env));
  const cluster = await upCluster(process.env, { metrics: true });
  for (const archive of archives) await cluster.load(archive);
  const how = cluster.flavour === "kind" ? "kind" : "one node of our own";
  const other = await claimCluster(folder, clone);
  const where = other === undefined ? "" : ` in ${other}, whose clone started it`;
  console.error(`The cluster is up after ${seconds()}: ${how}. make cluster-down${where} ends it.`);
  console.error(`kubectl: ${cluster.kubectl}`);
  console.log(`export KUBECONFIG=${cluster.kubeconfig}`);
}

async function down(): Promise<void> {
  await requireOwnCluster(folder, clone);
  await downCluster(process.env);
  console.error(`The cluster is gone after ${seconds()}`);
}

if (command === "up") {
  script.onInterrupt(() => console.error("Parts of the cluster may be up: make cluster-down removes them"));
  await up();
} else if (command === "down") await down();
else throw new WrongArguments(`It takes \`up [ARCHIVE…]\` or \`down\`, not ${command ?? "nothing"}`);
