// Whatever schema a resource has that can be served: its project's document is valid, and what the
// service takes and answers conforms to it.

import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, it } from "vitest";
import { systemClock } from "../../../../../core/clock.ts";
import type { JsonObject } from "../../../../../core/config/types.ts";
import { type CompiledSchema, compileSchema } from "../../../../../core/schema/compile-schema.ts";
import { createMemoryDirectory } from "../../../../../dataplane/config/memory-directory.ts";
import { randomSchemas } from "../../../../fuzz/random-schemas.ts";
import { describedText } from "../../../../support/http/described.ts";
import { project, withResource } from "../../../../support/http/projects.ts";
import { countForTier } from "../../../../support/time/test-tier.ts";

const names = fc.constantFrom("title", "price", "stock", "tags", "author", "a.b", "10", "other");
const values = fc.oneof(
  fc.constantFrom(1, 0.5, "a", "2020-01-01", true, null),
  fc.array(fc.integer(), { maxLength: 3 }),
);
const objects = fc.dictionary(names, fc.oneof(values, fc.dictionary(names, values, { maxKeys: 3 })), { maxKeys: 5 });

async function documentOf(schema: JsonObject): Promise<JsonObject> {
  const parts = project("shop", withResource("books", { schema }));
  const live = createMemoryDirectory(systemClock);
  expect(live.put(parts)).toEqual([]);
  const found = live.directory.project(parts.project);
  if (found instanceof Promise || found.outcome !== "found") throw new Error("it is live at once");
  return JSON.parse(await describedText(found.value, "https://example.org")) as JsonObject;
}

function servable(schema: unknown): CompiledSchema | undefined {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return undefined;
  const compiled = compileSchema(schema as JsonObject);
  const hasOwn = [...(compiled.ok ? compiled.schema.properties.keys() : [])].some((name) => /^(?:_|id$)/.test(name));
  return compiled.ok && !hasOwn ? compiled.schema : undefined;
}

// Each compiles its meta-schema once.
const openApi = new Validator();
const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true });

const metadata = { created: 1, creator: "ada", creator_type: "user" };

it("the document is valid, and what the service takes and answers conforms to its schemas", async () => {
  const usable = randomSchemas().filter((schema) => servable(schema) !== undefined);
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(usable, fc.array(objects, { minLength: 4, maxLength: 4 }), async (schema, bodies) => {
      const document = await documentOf(schema as JsonObject);
      expect(await openApi.validate(document as Record<string, unknown>)).toMatchObject({ valid: true });
      ajv.removeSchema("document");
      ajv.addSchema({ ...document, $id: "document" });
      const conforms = (name: string, value: unknown) => {
        const validate = ajv.compile({ $ref: `document#/components/schemas/${name}` });
        return validate(value) ? [] : [name, validate.errors];
      };
      const accepted = bodies.filter((body) => servable(schema)?.validate(body, JSON.stringify(body)).length === 0);
      taken += accepted.length;
      for (const body of accepted) {
        const stored = { id: "1", ...body, _metadata: metadata };
        expect([
          ...conforms("books", body),
          ...conforms("books.stored", stored),
          ...conforms("books.changes", body),
        ]).toEqual([]);
      }
    }),
    { numRuns: countForTier(60) },
  );
  expect(taken).toBeGreaterThan(20);
});
