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
import { type CompiledSchema, compileSchema } from "../../../../core/schema/compile-schema.ts";
import { createMemoryDirectory } from "../../../../dataplane/config/memory-directory.ts";
import { runCommand } from "../../../../tools/parts/run-command.ts";
import { randomSchemas } from "../../../fuzz/random-schemas.ts";
import { describedText } from "../../../support/http/described.ts";
import { project, withResource } from "../../../support/http/projects.ts";
import { countForTier } from "../../../support/time/test-tier.ts";

const names = fc.constantFrom("title", "price", "stock", "tags", "author", "a.b", "10");
const values = fc.oneof(
  fc.constantFrom(1, 0.5, "a", "2020-01-01", true, null),
  fc.array(fc.integer(), { maxLength: 3 }),
);
const objects = fc.dictionary(names, fc.oneof(values, fc.dictionary(names, values, { maxKeys: 3 })), { maxKeys: 5 });

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
declare function accept<T>(): <Value extends T>(value: Value) => void;
`;

/** A module: the types, and a call for each body that has to have them. */
async function moduleFor(schema: Json, bodies: readonly object[]): Promise<string> {
  const calls = bodies.flatMap((body) => {
    const stored = { id: "1", ...body, _metadata: { created: 1, creator: "ada", creator_type: "user" } };
    const first = Object.fromEntries(Object.entries(body).slice(0, 1));
    return [
      `accept<Parts["create"]>()(${JSON.stringify(body)});`,
      `accept<Parts["object"]>()(${JSON.stringify(stored)});`,
      `accept<Parts["patch"]>()(${JSON.stringify(first)});`,
    ];
  });
  return [`// ${JSON.stringify(schema)}`, await typesOf(schema), accepting, ...calls].join("\n");
}

/** Members that the schema does not name are in no type: the compiler minds them in a literal. */
const aboutUnnamed = /error TS(?:2353|2559):/;

it("what a schema takes has its types: created, stored, and each part of it as a change", async () => {
  const folder = await mkdtemp(join(tmpdir(), "types-"));
  try {
    const usable = randomSchemas().filter((schema) => servable(schema) !== undefined);
    const cases = fc.sample(fc.tuple(usable, fc.array(objects, { minLength: 10, maxLength: 10 })), countForTier(40));
    const files: string[] = [];
    let taken = 0;
    for (const [schema, bodies] of cases) {
      const accepted = bodies.filter((body) => servable(schema)?.validate(body, JSON.stringify(body)).length === 0);
      taken += accepted.length;
      files.push(`case-${files.length}.ts`);
      await writeFile(join(folder, files.at(-1) ?? ""), await moduleFor(schema, accepted));
    }
    expect(taken).toBeGreaterThan(cases.length);
    const compilerOptions = { strict: true, noEmit: true, target: "esnext", lib: ["es5"], module: "esnext", types: [] };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    const compiler = fileURLToPath(new URL("../../../../node_modules/typescript/bin/tsc", import.meta.url));
    const { stdout } = await runCommand(process.execPath, [compiler, "-p", folder, "--pretty", "false"]);
    expect(stdout.split("\n").filter((line) => line.includes("error TS") && !aboutUnnamed.test(line))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
