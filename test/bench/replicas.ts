// `npm run bench:replicas`: one to four replicas, documents of 1 KiB to 1 MiB, and a Redis Cluster of three primaries against one Redis.
// With --write it puts the tables into docs/benchmarks.md. All of it shares the cores, so only ratios mean anything.

import { startScript } from "../../tools/start-script.ts";
import { startRedis } from "../support/redis/redis.ts";
import { readLength, readWrite } from "./bench-arguments.ts";
import { documentLines, measureDocuments } from "./larger-documents.ts";
import { findLoader } from "./load.ts";
import { machine } from "./machine.ts";
import { type MeasureOptions, measureReplicas, replicaLines } from "./more-replicas.ts";
import { writeSection } from "./page.ts";
import { measureNodes, nodeLines } from "./redis-nodes.ts";

startScript("npm run bench:replicas");
const writes = readWrite();
const { rounds, seconds } = readLength({ rounds: 3, seconds: 2 });
const { load: loader, name } = await findLoader();
const measure: MeasureOptions = {
  loader,
  options: { connections: 64, seconds },
  rounds,
};
const redis = await startRedis();
try {
  const replicas = await measureReplicas(redis, measure);
  const documents = await measureDocuments(redis, measure);
  const nodes = await measureNodes(measure);
  const text = [
    "# Replicas, documents, Cluster",
    "",
    `Made by \`npm run bench:replicas -- --write\`: ${measure.rounds} rounds of ${measure.options.seconds} s by ${name}, medians. Servers, Redis and load generator share`,
    `the cores (${machine()}).`,
    "",
    ...replicaLines(replicas, measure),
    ...documentLines(documents),
    ...nodeLines(nodes, measure),
  ].join("\n");
  process.stdout.write(text);
  if (writes) await writeSection("# Replicas, documents, Cluster", text);
} finally {
  await redis.stop();
}
