// What an object of a seed is stored as, and what it may not say.

import { describe, expect, it } from "vitest";
import { createSeededObjects } from "../../../../../cli/dev/seed/seeded-object.ts";
import { canonicalJson } from "../../../../../core/json/canonical.ts";
import { compileSchema } from "../../../../../core/schema/compile-schema.ts";
import { manualClock } from "../../../../support/time/manual-clock.ts";

const compiled = compileSchema({ type: "object" });
if (!compiled.ok) throw new Error("The schema is no schema");
const toObject = createSeededObjects({ schema: compiled.schema, maxBytes: 1_000 }, manualClock());

function seeded(text: string) {
  const result = canonicalJson(text, 64);
  if (!result.ok) throw new Error(result.error.detail);
  return toObject({ at: ":1", json: result.json });
}

const id = "018bcfe5-6801-7000-bff6-b52dc1aa6787";
const second = 1_700_000_000;

describe("an object of a seed", () => {
  it("belongs to the creator that it names, or to nobody", () => {
    expect(seeded("{}").owner).toBe("anonymous:anonymous");
    expect(seeded('{"_metadata":{"creator":"ann"}}').owner).toBe("user:ann");
    expect(seeded('{"_metadata":{"creator":"web","creator_type":"apikey"}}').owner).toBe("apikey:web");
  });

  it("keeps its id, whose second is when it was created", () => {
    const object = seeded(`{"b":1,"id":"${id}","a":2}`);
    expect(object.id).toBe(id);
    expect(JSON.parse(object.text)).toEqual({
      id,
      b: 1,
      a: 2,
      _metadata: { created: second, creator: "anonymous", creator_type: "anonymous" },
    });
  });

  it("gets an id of the second in which it was created; of one second, in the order of the file", () => {
    const ids = Array.from({ length: 1_000 }, () => seeded(`{"_metadata":{"created":${second}}}`).id);
    expect(ids.toSorted()).toEqual(ids);
    expect(ids.slice(-3).map((each) => JSON.parse(seeded(`{"id":"${each}"}`).text)._metadata.created)).toEqual([
      second,
      second,
      second,
    ]);
  });

  it.each([
    ["[]", "must be an object with the resource's fields, not array"],
    ['{"id":1}', "/id: must be an id as the service makes them"],
    [`{"id":"${id.toUpperCase()}"}`, "/id: must be an id as the service makes them"],
    [
      `{"id":"${id}","_metadata":{"created":1}}`,
      `/_metadata/created: must be ${second}, the second in the id, or be left out`,
    ],
    ['{"_metadata":[]}', "/_metadata: must be an object"],
    ['{"_metadata":{"updated":1}}', "/_metadata/updated: is no member of it"],
    ['{"_metadata":{"created":1.5}}', "/_metadata/created: must be a whole number of Unix seconds"],
    ['{"_metadata":{"created":-1}}', "/_metadata/created: must be a whole number of Unix seconds"],
    ['{"_metadata":{"created":1e15}}', "/_metadata/created: must be a whole number of Unix seconds"],
    ['{"_metadata":{"creator":""}}', "/_metadata/creator: must be the name of a user or an ApiKey"],
    ['{"_metadata":{"creator_type":"user"}}', "/_metadata/creator: must name the creator with the creator_type user"],
    [
      '{"_metadata":{"creator":"ann","creator_type":"anonymous"}}',
      "/_metadata/creator: must be left out with the creator_type anonymous",
    ],
    [
      '{"_metadata":{"creator_type":"admin"}}',
      "/_metadata/creator_type: must be one of user, apikey, external, anonymous",
    ],
    ['{"_sort":1}', "`_sort` is a reserved name"],
  ])("that says %s is refused with what to write", (text, message) => {
    expect(() => seeded(text)).toThrow(message);
  });
});
