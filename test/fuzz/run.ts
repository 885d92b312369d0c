// `npm run fuzz -- --seed S --requests N --manifests N`: random requests to a replica, then random
// custom resources to a real API server with an operator; 0 skips one of them. Prints the
// responses, and every fault with the seed that shows it again; a fault makes the exit code 1.
// --write puts the reports into docs/security.md. `npm run fuzz -- openapi` runs schemathesis
// instead.

import { readFile, writeFile } from "node:fs/promises";
import { bringPartsOf } from "../../tools/parts/groups.ts";
import { readArguments, wholeNumber } from "../../tools/script-arguments.ts";
import { startScript } from "../../tools/start-script.ts";
import { startFleet } from "../support/fleet/fleet.ts";
import { startFuzzed } from "../support/fleet/fuzzed-replica.ts";
import { fuzzManifests, type ManifestReport } from "./custom-resources.ts";
import { type FuzzReport, fuzz } from "./fuzz.ts";
import { fuzzOpenApi } from "./schemathesis.ts";
import { tenantsOf } from "./tenants.ts";

const script = startScript("npm run fuzz");
const [first, ...rest] = process.argv.slice(2);
if (first === "openapi") process.exit(await fuzzOpenApi(rest, script));
const { values } = readArguments({
  seed: { type: "string", default: String(Date.now() % 1_000_000) },
  requests: { type: "string", default: "20000" },
  manifests: { type: "string", default: "1000" },
  write: { type: "boolean", default: false },
});
const plan = {
  seed: wholeNumber("--seed", values.seed),
  requests: wholeNumber("--requests", values.requests),
  manifests: wholeNumber("--manifests", values.manifests),
};

await bringPartsOf("fuzz");
if (plan.requests > 0) await report("fuzz", ofRequests(await fuzzRequests()));
if (plan.manifests > 0) await report("fuzz of manifests", ofManifests(await fuzzCustomResources()));

interface RunReport {
  /** What the page shows. */
  readonly summary: string;
  /** What was answered, and each fault. */
  readonly details: string;
  readonly faults: readonly string[];
}

async function report(section: string, { summary, details, faults }: RunReport): Promise<void> {
  console.log(`${summary}\n\n${details}`);
  if (faults.length > 0) process.exitCode = 1;
  if (!values.write) return;
  const page = new URL("../../docs/security.md", import.meta.url);
  const old = await readFile(page, "utf8");
  const between = new RegExp(`(<!-- ${section} -->\n)[\\s\\S]*(<!-- /${section} -->)`);
  await writeFile(page, old.replace(between, `$1${summary}\n$2`));
}

async function fuzzRequests(): Promise<FuzzReport> {
  console.log(`Seed ${plan.seed}, ${plan.requests} requests`);
  const tenants = await tenantsOf(plan.seed);
  const target = await startFuzzed(tenants);
  return fuzz(target, tenants, plan).finally(() => target.stop());
}

function ofRequests({ requests, readBack, unchanged, answers, faults }: FuzzReport): RunReport {
  const summary = [
    `\`npm run fuzz -- --seed ${plan.seed} --requests ${plan.requests}\`: ${requests} requests, ${faults.length} faults; ${readBack} acknowledged writes`,
    `were read back, ${unchanged} refused ones had changed nothing.`,
  ].join("\n");
  return { summary, details: [...rows(answers), ...faults].join("\n"), faults };
}

async function fuzzCustomResources(): Promise<ManifestReport> {
  console.log(`Seed ${plan.seed}, ${plan.manifests} steps with custom resources`);
  const fleet = await startFleet({ operatorArgs: ["--allowed-hosts", "*={namespace}.apps.test"] });
  return fuzzManifests(fleet, { seed: plan.seed, steps: plan.manifests }).finally(() => fleet.stop());
}

function ofManifests({ steps, answers, reasons, served, faults }: ManifestReport): RunReport {
  const summary = [
    `\`npm run fuzz -- --seed ${plan.seed} --requests 0 --manifests ${plan.manifests}\`: ${steps} steps, ${faults.length} faults; ${served} Ready objects`,
    "were requested from a replica.",
  ].join("\n");
  return { summary, details: [...rows(answers), ...rows(reasons), ...faults].join("\n"), faults };
}

function rows(counts: Readonly<Record<string, number>>): readonly string[] {
  return Object.entries(counts).map(([name, count]) => `${String(count).padStart(8)} ${name}`);
}
