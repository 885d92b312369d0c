// Whatever schema a resource has that can be served: what the service takes and answers has the
// types, says the compiler.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, it } from "vitest";
import { describeApi } from "../../../../cli/types/describe-api.ts";
import { typesText } from "../../../../cli/types/write-types.ts";
import { systemClock } from "../../../../core/clock.ts";
import type { Json, JsonObject } from "../../../../core/config/types.ts";
import { isObject } from "../../../../core/json/json-value.ts";
import { type CompiledSchema, compileSchema } from "../../../../core/schema/compile-schema.ts";
import { createMemoryDirectory } from "../../../../dataplane/config/memory-directory.ts";
import { runCommand } from "../../../../tools/parts/run-command.ts";
import { randomSchemas } from "../../../fuzz/random-schemas.ts";
import { typedObjects } from "../../../fuzz/typed-schemas.ts";
import { describedText } from "../../../support/http/described.ts";
import { project, withResource } from "../../../support/http/projects.ts";
import { countForTier } from "../../../support/time/test-tier.ts";

function servable(schema: Json): CompiledSchema | undefined {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return undefined;
  const compiled = compileSchema(schema as JsonObject);
  const hasOwn = [...(compiled.ok ? compiled.schema.properties.keys() : [])].some((name) => /^(?:_|id$)/.test(name));
  return compiled.ok && !hasOwn ? compiled.schema : undefined;
}

async function typesOf(schema: Json): Promise<string> {
  const live = createMemoryDirectory(systemClock);
  live.put(project("shop", withResource("books", { schema: schema as JsonObject })));
  const [shop] = live.directory.loaded();
  if (shop === undefined) throw new Error("It is live at once");
  return typesText(describeApi(JSON.parse(await describedText(shop, "https://example.org"))), "typescript");
}

const accepting = `
type Parts = Api["resources"]["books"];
declare function accept<T, Value extends T>(): void;
`;

/** A module: the types, and calls. A JSON text is the narrowest type of its value, too. */
async function moduleFor(schema: Json, bodies: readonly object[]): Promise<string> {
  const calls = bodies.flatMap((body, at) => {
    const patch = patchBetween(bodies.at(at - 1) ?? {}, body);
    const stored = { id: "1", ...body, _metadata: { created: 1, creator: "ada", creator_type: "user" } };
    const first = Object.fromEntries(Object.entries(body).slice(0, 1));
    return [
      `accept<Parts["create"], ${JSON.stringify(body)}>();`,
      `accept<Parts["object"], ${JSON.stringify(stored)}>();`,
      `accept<Parts["update"], ${JSON.stringify(first)}>();`,
      ...(patch === undefined ? [] : [`accept<Parts["patch"], ${JSON.stringify(patch)}>();`]),
    ];
  });
  return [`// ${JSON.stringify(schema)}`, await typesOf(schema), accepting, ...calls].join("\n");
}

/** The merge patch that makes one object the other; undefined where that has null in an object. */
function patchBetween(from: object, to: object): object | undefined {
  const [before, after] = [
    new Map<string, unknown>(Object.entries(from)),
    new Map<string, unknown>(Object.entries(to)),
  ];
  const patch = new Map<string, unknown>(
    [...before.keys()].filter((name) => !after.has(name)).map((name) => [name, null]),
  );
  for (const [name, value] of after) {
    const merged = isObject(value) ? patchBetween(withMembers(before.get(name)), value) : (value ?? undefined);
    if (merged === undefined) return undefined;
    if (JSON.stringify(before.get(name)) !== JSON.stringify(value)) patch.set(name, merged);
  }
  return Object.fromEntries(patch);
}

function withMembers(value: unknown): object {
  return isObject(value) ? value : {};
}

/** The compiler minds a value that has only members which the schema does not name. */
const aboutUnnamed = /has no properties in common with/;

it("what a schema takes has its types: created, stored, as an update, and as a merge patch", async () => {
  const folder = await mkdtemp(join(tmpdir(), "types-"));
  try {
    const odd = fc.sample(randomSchemas(), countForTier(20)).map((schema) => ({ schema, bodies: [{}] }));
    const usual = fc.sample(typedObjects, countForTier(20)).map(({ schema, values }) => ({
      schema,
      bodies: fc.sample(values, 10).filter(isObject),
    }));
    const files: string[] = [];
    let taken = 0;
    for (const { schema, bodies } of [...odd, ...usual]) {
      const compiled = servable(schema);
      if (compiled === undefined) continue;
      const accepted = bodies.filter((body) => compiled.validate(body, JSON.stringify(body)).length === 0);
      taken += accepted.length;
      files.push(`case-${files.length}.ts`);
      await writeFile(join(folder, files.at(-1) ?? ""), await moduleFor(schema, accepted));
    }
    expect(taken).toBeGreaterThan(files.length);
    const compilerOptions = { strict: true, noEmit: true, target: "esnext", lib: ["es5"], module: "esnext", types: [] };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    const compiler = fileURLToPath(new URL("../../../../node_modules/typescript/bin/tsc", import.meta.url));
    const { stdout } = await runCommand(process.execPath, [compiler, "-p", folder, "--pretty", "false"]);
    expect(stdout.split("\n").filter((line) => line.includes("error TS") && !aboutUnnamed.test(line))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
