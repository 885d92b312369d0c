// `npm run bench [-- NAME]`: measures jsonplane on this machine and prints a Markdown table for
// docs/benchmarks.md. Only ratios of one run mean anything, because all programs share the cores.

import { bringPartsOf } from "../../tools/parts/groups.ts";
import { WrongArguments } from "../../tools/script-arguments.ts";
import { type Script, startScript } from "../../tools/start-script.ts";

type Bench = (args: readonly string[], script: Script) => Promise<void>;

/** Loaded by need: a broken benchmark must not stop the others. */
const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  /** Each operation, against a bare server that sends the same Redis command. */
  operations: async () => (await import("./against-bare.ts")).measureOperations,
  /** The same operations, against an earlier commit. */
  before: async () => (await import("./before.ts")).measureAgainstCommit,
  /** What a costly or hostile project does to another one of its replica. */
  neighbours: async () => (await import("./neighbours.ts")).measureNeighbours,
  /** How soon changes are told, and what they cost. */
  changes: async () => (await import("./changes.ts")).measureChanges,
  /** What a unique field costs a create. */
  unique: async () => (await import("./unique.ts")).measureUnique,
  /** What requests wait while many objects expire. */
  expiry: async () => (await import("./expiry.ts")).measureExpiry,
  /** How long stored objects take to be checked, and what that does to lists. */
  check: async () => (await import("./check.ts")).measureCheck,
  /** What an import writes and an export reads, against Redis without a service. */
  transfer: async () => (await import("./transfer.ts")).measureTransfer,
  /** What 100,000 Projects and 1 TB are in a Redis Cluster. */
  scale: async () => (await import("./scale.ts")).measureScale,
  /** What is lost when Redis fails, and what it costs to lose less. */
  durability: async () => (await import("./durability.ts")).measureDurability,
  /** An operator with 10,000 Projects; --hostile: a namespace that does its worst. */
  operator: async () => (await import("./operator.ts")).measureOperator,
};

const [name = "operations", ...args] = process.argv.slice(2);
const script = startScript(`npm run bench -- ${name}`);
const load = benches[name];
if (load === undefined) throw new WrongArguments(`There are ${Object.keys(benches).join(", ")}`);
await bringPartsOf(name === "operator" ? "bench operator" : "bench");
const bench = await load();
await bench(args, script);
