// `npm run spec`: prints every promise of the interface with the test that proved it in the last
// full run, and how many are proved; exits 1 when one isn't, or when the last full run was not of
// this tree.

import { fileURLToPath } from "node:url";
import { readArguments } from "./script-arguments.ts";
import { checkRows, printedRows, staleness, unprovedRows } from "./spec/check-rows.ts";
import { readRows } from "./spec/read-rows.ts";
import { startScript } from "./start-script.ts";
import { readFullRun } from "./test-run/full-run.ts";
import { treeState } from "./test-run/tree-state.ts";

startScript("npm run spec");
readArguments({});
const root = fileURLToPath(new URL("..", import.meta.url));
const { rows } = await readRows(root);
const run = await readFullRun(root);
const stale = staleness(run, await treeState(root));
const verdicts = run === undefined || stale !== undefined ? checkRows(rows, nothing()) : checkRows(rows, run);
for (const line of printedRows(verdicts)) console.log(line);
const proved = verdicts.filter((verdict) => verdict.proved).length;
if (stale !== undefined) console.log(`Nothing counts: ${stale}`);
console.log(`${proved} of ${rows.length} rows proved`);
process.exitCode = unprovedRows(verdicts).length === 0 ? 0 : 1;

/** A run in which no test took place. */
function nothing() {
  const none = { commit: "", tree: "" };
  return { before: none, after: none, finished: "", passed: 0, failed: 0, tests: [] };
}
