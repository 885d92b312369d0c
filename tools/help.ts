// `npm run help`: prints every npm script with one sentence. Refuses when a script has no sentence,
// or a sentence no script, so that the list stays whole.

import { readFile } from "node:fs/promises";
import { readArguments } from "./script-arguments.ts";
import { ScriptFailed, startScript } from "./start-script.ts";

const sentences: Readonly<Record<string, string>> = {
  help: "lists these scripts",
  parts:
    "finds, downloads or builds what a command uses, the tests by default; GROUP; --list only prints what is there",
  check:
    "style, types, layers, unit and meta tests: the gate before a push; NAME runs one check: style, types or layers",
  format: "formats all files, and repairs what the linter can repair safely",
  test: "everything that a commit must pass; PROJECT (unit, http, e2e …) runs one kind of test; nightly: all of it with many cases",
  "bare-machine": "make run and make check on a machine without Node, packages and parts; --whole --warm-go",
  mutations: "small faults in a copy of the code, which its tests must notice; --only NAME,NAME",
  chaos: "kills, outages and failovers under clients whose history is checked; --only NAME --seed N --seconds S",
  soak: "an hour of changes, deletions and faults with 500 Projects; nothing may be left over; --minutes M --projects N --seed S",
  fuzz: "random requests and random custom resources; --seed S --requests N --manifests N; openapi: schemathesis",
  conformance:
    "a collection's changes against docs/reference/changes.md, from outside; URL --api-key-file F; creates objects there and deletes them",
  bench: "speed against a bare server; NAME: before [COMMIT], neighbours, operator",
  build: "compiles the package into dist/",
  prepack: "what npm pack runs: build",
  release:
    "image, chart, package, install.yaml, SBOM and checksums; --dry-run --out DIR, or --registry HOST/OWNER --npm-registry URL",
  generate: "everything that is made from the CRDs, commands, reasons, chart values and dashboards",
  spec: "every promise of the interface, with the test that proved it in the last full run",
  trace: "the files and functions that one request runs; METHOD URL -H HEADER --body TEXT --key NAME, or operator",
  demo: "a fleet on this machine with the examples: API server, operator, two replicas, Redis JSON",
  "draw:dashboards": "pictures of the dashboards, from a real Prometheus after minutes of traffic",
  audit: "known vulnerabilities of the packages that are shipped",
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
