// `npm run help`: prints every npm script with one sentence. Refuses when a script has no sentence, or a sentence no script, so
// that the list stays whole.

import { readFile } from "node:fs/promises";
import { readArguments } from "./script-arguments.ts";
import { ScriptFailed, startScript } from "./start-script.ts";

const sentences: Readonly<Record<string, string>> = {
  help: "lists these scripts",
  parts: "finds, fetches or builds what a command uses, the tests by default; GROUP; --list only says what is there",
  check: "style, types, layers, unit and meta tests: the gate before a push, under a minute",
  format: "formats all files and repairs what the linter can repair safely",
  "check:style": "format and lint rules (biome.json)",
  "check:types": "the TypeScript compiler, strict",
  "check:layers": "import direction, cycles, file size, names, headers of Lua scripts",
  test: "everything that a commit must pass: the check, then all tests on real parts; what .ci/run runs",
  "test:nightly":
    "the test with many cases instead of few, then a third of the mutations, chaos, a soak, fuzzers, upgrades, a bare machine; up to 90 minutes",
  "test:mutations":
    "small faults put into a copy of the code: fails when the tests meant for one do not notice it; --only NAME,NAME --shard K/N",
  "test:bare":
    "both commands as on a machine that has nothing of ours: a clone, an empty HOME and PATH; --whole --warm-go",
  "test:unit": "the pure stages, no input or output",
  "test:meta": "documents, examples and code agree",
  "test:store": "the store's promises against real Redis, a real cluster, and the embedded store",
  "test:http": "the HTTP interface, request by request",
  "test:operator": "manifests and the operator on a real Kubernetes API server",
  "test:chart": "what the Helm chart renders to, and whether an API server takes it",
  "test:image": "what the image holds, and pods of it on a cluster that is brought up for them",
  "test:observability": "rules, alerts and dashboards on a real Prometheus",
  "test:e2e": "an installation's whole life on a cluster, under continuous traffic",
  "test:process": "whole processes: start, stop, restart, kills, the package installed elsewhere",
  "test:security": "attacks on a replica and its neighbours: what costs much, what lies, what is random",
  fuzz: "random requests of two tenants, then random custom resources, all judged; --seed S --requests N --manifests N",
  "fuzz:openapi":
    "schemathesis on each example project, by its own /openapi.json; --seed S --examples N --project NAME",
  audit: "known weaknesses of the packages that are shipped, as the registry tells them",
  spec: "every promise of the interface, with the test that proved it in the last full run",
  build: "compiles the package into dist/",
  prepack: "what npm pack runs: build",
  generate: "everything that is made from crds/, commands, reasons, chart values and dashboards",
  demo: "a whole fleet on this machine with the examples: API server, operator, two replicas, Redis JSON",
  trace:
    "the files and functions that one request runs, in order; METHOD URL -H HEADER --body TEXT --key NAME, or operator for a change of a ProjectUser",
  bench: "speed, as ratios in one run",
  "bench:before": "speed against an earlier commit, the last good one or the one that is named",
  "bench:peers": "speed against PocketBase, Kinto, json-server and Webdis",
  "bench:growth": "speed and memory from 1,000 to 1,000,000 objects in one resource, with a picture",
  "bench:replicas": "one to four replicas, documents of 1 KiB to 1 MiB, a Redis Cluster against one Redis",
  "bench:flames": "flame graphs of the three hottest paths, and in words where the time goes",
  "bench:projects": "what 10,000 projects cost a replica",
  "bench:memory": "what a replica of 100 projects keeps of its memory after a burst",
  "bench:operator": "the operator with 10,000 projects: cold start, memory, time until a change is live",
  soak: "an hour of changes, deletions and troubles with 500 Projects, then nothing may be left over; --minutes M --projects N --seed S",
  chaos: "kills, outages and failovers under clients whose history is judged; --only NAME --seed N --seconds S",
  "draw:dashboards": "pictures of the dashboards, from a real Prometheus after minutes of traffic",
};

startScript("npm run help");
readArguments({});
const path = new URL("../package.json", import.meta.url);
const { scripts } = JSON.parse(await readFile(path, "utf8")) as { scripts: Readonly<Record<string, string>> };
const unexplained = Object.keys(scripts).filter((name) => !(name in sentences));
const gone = Object.keys(sentences).filter((name) => !(name in scripts));
if (unexplained.length + gone.length > 0) {
  throw new ScriptFailed(`tools/help.ts and package.json differ: ${[...unexplained, ...gone].join(", ")}`);
}
for (const [name, sentence] of Object.entries(sentences)) console.log(`npm run ${name.padEnd(14)} ${sentence}`);
