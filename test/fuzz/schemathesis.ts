// `npm run fuzz:openapi -- --seed S --examples N`: schemathesis against a replica that serves the example bookshop, from the hand-kept
// openapi.yaml. Fails when an answer is a defect, of another shape or another content type than the document says.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findSchemathesis } from "../../tools/parts/schemathesis.ts";
import { startFuzzed } from "../support/fuzzed-replica.ts";
import { tenantsOf } from "./tenants.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    examples: { type: "string", default: "200" },
  },
});
const checks = ["not_a_server_error", "content_type_conformance", "response_schema_conformance"];
const document = fileURLToPath(new URL("openapi.yaml", import.meta.url));

// It leaves a folder of its own where it runs.
const folder = await mkdtemp(join(tmpdir(), "jsonplane-schemathesis-"));
const program = await findSchemathesis(process.env);
const tenants = await tenantsOf(Number(values.seed));
const target = await startFuzzed(tenants);
try {
  const bookshop = tenants[0]?.projects.find(({ parts }) => parts.project.name === "bookshop");
  if (bookshop === undefined) throw new Error("There is no example bookshop");
  const where = [
    "--url",
    target.origin + bookshop.base,
    "--header",
    `Authorization: ${bookshop.keys.get("back-office")}`,
  ];
  const how = ["--checks", checks.join(","), "--seed", values.seed, "--max-examples", values.examples, "--mode", "all"];
  const args = [
    "run",
    document,
    ...where,
    ...how,
    "--phases",
    "examples,coverage,fuzzing,stateful",
    "--continue-on-failure",
  ];
  console.log(`Seed ${values.seed}, up to ${values.examples} examples of each operation`);
  const child = spawn(program, [...args, "--no-color", "--suppress-health-check", "all"], {
    stdio: "inherit",
    cwd: folder,
  });
  const [code] = (await once(child, "exit")) as [number | null];
  const defects = target
    .log()
    .split("\n")
    .filter((line) => line.includes('"level":"error"'));
  for (const line of defects.slice(0, 5)) console.log(line);
  process.exitCode = code === 0 && defects.length === 0 ? 0 : 1;
} finally {
  await target.stop();
  await rm(folder, { recursive: true, force: true });
}
