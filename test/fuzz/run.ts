// `npm run fuzz -- --seed S --requests N`: the fuzzer against a replica of its own. Prints what was answered, and every fault with the
// seed that shows it again; with a fault the exit code is 1. With --write it puts the report into docs/security.md.

import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { startFuzzed } from "../support/fuzzed-replica.ts";
import { type FuzzReport, fuzz } from "./fuzz.ts";
import { tenantsOf } from "./tenants.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    requests: { type: "string", default: "20000" },
    write: { type: "boolean", default: false },
  },
});
const plan = { seed: Number(values.seed), requests: Number(values.requests) };
if (!Number.isSafeInteger(plan.seed) || !(plan.requests > 0)) throw new Error("--seed and --requests want numbers");

console.log(`Seed ${plan.seed}, ${plan.requests} requests`);
const tenants = await tenantsOf(plan.seed);
const target = await startFuzzed(tenants);
const report = await fuzz(target, tenants, plan).finally(() => target.stop());
const text = told(report);
console.log(text);
if (values.write) await write(text);
process.exitCode = report.faults.length === 0 ? 0 : 1;

function told({ requests, readBack, unchanged, answers, faults }: FuzzReport): string {
  const rows = Object.entries(answers).map(([name, count]) => `| ${name} | ${count} |`);
  return [
    `\`npm run fuzz -- --seed ${plan.seed} --requests ${plan.requests}\`: ${requests} requests, ${faults.length} faults; ${readBack} acknowledged writes were`,
    `read back, ${unchanged} refused ones had changed nothing.`,
    "",
    "| answer | times |",
    "|---|---|",
    ...rows,
    ...faults.map((fault) => `- ${fault}`),
  ].join("\n");
}

async function write(report: string): Promise<void> {
  const page = new URL("../../docs/security.md", import.meta.url);
  const old = await readFile(page, "utf8");
  await writeFile(page, old.replace(/(<!-- fuzz -->\n)[\s\S]*(<!-- \/fuzz -->)/, `$1\n${report}\n\n$2`));
}
