// `npm run fuzz -- openapi --seed S --examples N --project NAME`: schemathesis against a replica on
// real Redis JSON, each example project by its own /openapi.json, as the caller with the most
// rights, and as one of an external issuer. Fails when a response is an internal error, or has a
// status, content type, header or shape that the document does not have for the operation.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bringPartsOf } from "../../tools/parts/groups.ts";
import { requirePart } from "../../tools/parts/part.ts";
import { schemathesis } from "../../tools/parts/schemathesis.ts";
import { readArguments, WrongArguments, wholeNumber } from "../../tools/script-arguments.ts";
import type { Script } from "../../tools/start-script.ts";
import { startFuzzed } from "../support/fleet/fuzzed-replica.ts";
import { send } from "../support/http/http-client.ts";
import { type FuzzedProject, tenantsOf } from "./tenants.ts";

const checks = [
  ...["not_a_server_error", "status_code_conformance", "content_type_conformance"],
  ...["response_headers_conformance", "response_schema_conformance"],
];

/**
 * OpenAPI can't say that a response has fewer members because of a parameter: other tests try
 * `_fields`.
 */
const hooks = `import schemathesis

@schemathesis.hook
def before_load_schema(context, raw_schema):
    for path in raw_schema["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict):
                chosen = operation.get("parameters", [])
                operation["parameters"] = [each for each in chosen if each.get("name") != "_fields"]
`;

interface Tries {
  readonly seed: number;
  readonly examples: number;
  readonly folder: string;
  readonly origin: string;
}

/** Returns the exit code. */
export async function fuzzOpenApi(args: readonly string[], script: Script): Promise<number> {
  const text = { type: "string" } as const;
  const { values } = readArguments({ seed: text, examples: text, project: text }, [], args);
  const seed = wholeNumber("--seed", values.seed ?? String(Date.now() % 1_000_000));
  const examples = wholeNumber("--examples", values.examples ?? "100", 1);
  const tenants = await tenantsOf(seed);
  const chosen = projectsOf(tenants, values.project);
  await bringPartsOf("fuzz openapi");
  // Schemathesis leaves a folder of its own where it runs.
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-schemathesis-"));
  script.onInterrupt(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "hooks.py"), hooks);
  const target = await startFuzzed(tenants);
  try {
    let failed = 0;
    for (const project of chosen) {
      console.log(`${project.parts.project.name}: seed ${seed}, up to ${examples} examples of each operation`);
      for (const as of [await strongest(project, target.origin), project.outsider.authorization]) {
        if ((await fuzz(project, as, { seed, examples, folder, origin: target.origin })) !== 0) failed += 1;
      }
    }
    const lines = target.log().split("\n");
    const defects = lines.filter((line) => line.includes('"level":"error"'));
    for (const line of defects.slice(0, 5)) console.log(line);
    return failed === 0 && defects.length === 0 ? 0 : 1;
  } finally {
    await target.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function projectsOf(tenants: Awaited<ReturnType<typeof tenantsOf>>, name: string | undefined) {
  const all = tenants[0]?.projects ?? [];
  const chosen = all.filter(({ parts }) => name === undefined || parts.project.name === name);
  if (chosen.length > 0) return chosen;
  const names = all.map(({ parts }) => parts.project.name);
  throw new WrongArguments(`There is no example project ${name}; there are ${names.join(", ")}`);
}

async function fuzz(project: FuzzedProject, credential: string | undefined, tries: Tries): Promise<number> {
  const { seed, examples, folder } = tries;
  const base = tries.origin + project.base;
  const args = ["run", `${base}/openapi.json`];
  if (credential !== undefined) args.push("--header", `Authorization: ${credential}`);
  args.push("--checks", checks.join(","), "--seed", String(seed), "--max-examples", String(examples), "--mode", "all");
  args.push("--phases", "examples,coverage,fuzzing,stateful", "--continue-on-failure");
  args.push("--no-color", "--suppress-health-check", "all");
  const env = { ...process.env, SCHEMATHESIS_HOOKS: "hooks", PYTHONPATH: folder };
  const child = spawn(await requirePart(process.env, schemathesis), args, { stdio: "inherit", cwd: folder, env });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

/** The credential of an administrator who may write. A session would end with the first log-out. */
async function strongest({ parts, keys, logins, base }: FuzzedProject, origin: string): Promise<string | undefined> {
  const key = [...parts.keys.values()].find(({ name, role, access }) => {
    return keys.has(name) && role === "Administrators" && access === "Write";
  });
  if (key !== undefined) return keys.get(key.name);
  const user = [...parts.users.values()].find(({ role, access }) => role === "Administrators" && access === "Write");
  const login =
    user && (await send(origin, `${base}/sessions`, { method: "POST", as: logins.get(user.username) ?? "" }));
  return login ? `bearer ${login.json<{ access_token: string }>().access_token}` : undefined;
}
