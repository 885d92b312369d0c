// `npm run fuzz:openapi -- --seed S --examples N [--project NAME]`: schemathesis against a replica on real Redis JSON, each example project
// by its own /openapi.json, as the caller who may do most, and as one whom an external issuer names. Fails when an answer is a defect, has a status or a content type that the document does not name for the
// operation, or another shape or other headers than it says.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requirePart } from "../../tools/parts/part.ts";
import { schemathesis } from "../../tools/parts/schemathesis.ts";
import { readArguments, WrongArguments, wholeNumber } from "../../tools/script-arguments.ts";
import { startScript } from "../../tools/start-script.ts";
import { startFuzzed } from "../support/fleet/fuzzed-replica.ts";
import { send } from "../support/http/http-client.ts";
import { type FuzzedProject, tenantsOf } from "./tenants.ts";

const script = startScript("npm run fuzz:openapi");
const { values } = readArguments({
  seed: { type: "string", default: String(Date.now() % 1_000_000) },
  examples: { type: "string", default: "100" },
  project: { type: "string" },
});
const seed = wholeNumber("--seed", values.seed);
const examples = wholeNumber("--examples", values.examples, 1);
const checks = [
  ...["not_a_server_error", "status_code_conformance", "content_type_conformance"],
  ...["response_headers_conformance", "response_schema_conformance"],
];

/** OpenAPI can't say that an answer has less because of a parameter: `_fields` is tried by other tests. */
const hooks = `import schemathesis

@schemathesis.hook
def before_load_schema(context, raw_schema):
    for path in raw_schema["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict):
                chosen = operation.get("parameters", [])
                operation["parameters"] = [each for each in chosen if each.get("name") != "_fields"]
`;

const tenants = await tenantsOf(seed);
const all = tenants[0]?.projects ?? [];
const chosen = all.filter(({ parts }) => values.project === undefined || parts.project.name === values.project);
if (chosen.length === 0) {
  const names = all.map(({ parts }) => parts.project.name);
  throw new WrongArguments(`There is no example project ${values.project}; there are ${names.join(", ")}`);
}

// It leaves a folder of its own where it runs.
const folder = await mkdtemp(join(tmpdir(), "jsonplane-schemathesis-"));
script.onInterrupt(() => rm(folder, { recursive: true, force: true }));
await writeFile(join(folder, "hooks.py"), hooks);
const program = await requirePart(process.env, schemathesis);
const target = await startFuzzed(tenants);
try {
  let failed = 0;
  for (const project of chosen) {
    console.log(`${project.parts.project.name}: seed ${seed}, up to ${examples} examples of each operation`);
    for (const as of [await strongest(project), project.outsider.authorization])
      if ((await fuzz(project, as)) !== 0) failed += 1;
  }
  const defects = target
    .log()
    .split("\n")
    .filter((line) => line.includes('"level":"error"'));
  for (const line of defects.slice(0, 5)) console.log(line);
  process.exitCode = failed === 0 && defects.length === 0 ? 0 : 1;
} finally {
  await target.stop();
  await rm(folder, { recursive: true, force: true });
}

async function fuzz(project: FuzzedProject, credential: string | undefined): Promise<number> {
  const base = target.origin + project.base;
  const args = ["run", `${base}/openapi.json`];
  if (credential !== undefined) args.push("--header", `Authorization: ${credential}`);
  args.push("--checks", checks.join(","), "--seed", String(seed), "--max-examples", String(examples), "--mode", "all");
  args.push("--phases", "examples,coverage,fuzzing,stateful", "--continue-on-failure");
  args.push("--no-color", "--suppress-health-check", "all");
  const env = { ...process.env, SCHEMATHESIS_HOOKS: "hooks", PYTHONPATH: folder };
  const child = spawn(program, args, { stdio: "inherit", cwd: folder, env });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

/** The credential by which most can happen: an administrator's who may write; a session would end with the first log-out. */
async function strongest({ parts, keys, logins, base }: FuzzedProject): Promise<string | undefined> {
  const key = [...parts.keys.values()].find(({ name, role, access }) => {
    return keys.has(name) && role === "Administrators" && access === "Write";
  });
  if (key !== undefined) return keys.get(key.name);
  const user = [...parts.users.values()].find(({ role, access }) => role === "Administrators" && access === "Write");
  const login =
    user && (await send(target.origin, `${base}/sessions`, { method: "POST", as: logins.get(user.username) ?? "" }));
  return login ? `bearer ${login.json<{ access_token: string }>().access_token}` : undefined;
}
