import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readMigration } from "../../../../core/config/migration.ts";
import { canonicalJson } from "../../../../core/json/canonical.ts";
import { compileSchema } from "../../../../core/schema/compile-schema.ts";
import {
  metadataOf,
  validateNew,
  validatePatch,
  validateStored,
  validateUpdate,
} from "../../../../dataplane/objects/validate-object.ts";
import { maxObjectBytes } from "../../../../dataplane/operation/plan.ts";
import { names, render, type Written, written } from "../../../support/json/json-texts.ts";

function rulesOf(schema: Parameters<typeof compileSchema>[0]) {
  const result = compileSchema(schema);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return { schema: result.schema, maxBytes: 1 << 20 };
}

const anything = rulesOf({ type: "object" });
const book = rulesOf({
  type: "object",
  required: ["title"],
  properties: { title: { type: "string" }, pages: { type: "integer", minimum: 1 } },
  additionalProperties: false,
});
const metadata = { created: 1, creator: "ann", creator_type: "user" };

function body(text: string) {
  const result = canonicalJson(text, 64);
  if (!result.ok) throw new Error(result.error.detail);
  return result.json;
}

const stored =
  '{"id":"i-1","title":"A","pages":9007199254740993,"_metadata":{"created":1,"creator":"ann","creator_type":"user"}}';

describe("a new object", () => {
  it("has its id first, the data as sent, and its metadata last", () => {
    expect(validateNew(anything, body('{"b":1.0,"10":18446744073709551615,"a":null}'), "i-1", metadata)).toBe(
      '{"id":"i-1","b":1.0,"10":18446744073709551615,"a":null,"_metadata":{"created":1,"creator":"ann","creator_type":"user"}}',
    );
  });

  it("may be empty", () => {
    expect(validateNew(anything, body("{}"), "i", metadata)).toMatch(/^\{"id":"i","_metadata":\{.*\}\}$/);
  });

  it.each(["[]", "1", '"a"', "null", "true"])("is refused when the body is %s", (text) => {
    expect(() => validateNew(anything, body(text), "i", metadata)).toThrow(
      expect.objectContaining({ code: "object_required" }),
    );
  });

  it.each(["id", "_metadata", "_sort", "_limit", "_offset", "_fields", "_count", "_cursor"])(
    "is refused with a member %s",
    (name) => {
      expect(() => validateNew(anything, body(`{"${name}":1}`), "i", metadata)).toThrow(
        expect.objectContaining({ code: "reserved_field", errors: [expect.objectContaining({ pointer: `/${name}` })] }),
      );
    },
  );

  it("may use other names with an underscore, and reserved names further down", () => {
    expect(validateNew(anything, body('{"_a":{"id":1,"_sort":2}}'), "i", metadata)).toContain(
      '"_a":{"id":1,"_sort":2}',
    );
  });

  // JSON.parse of V8 13.6 would take the newline for the backslash of the object before. Large
  // integers are read on a way of their own.
  it.each(["1", "9007199254740993"])("is refused with a name that its schema lacks, beside the number %s", (number) => {
    const properties = { c: { type: "integer", multipleOf: 1 }, "\\": {} };
    const rules = rulesOf({ type: "object", properties, additionalProperties: false });
    const known = body(`{"c":${number},"\\\\":1}`);
    const unknown = body(`{"c":${number},"\\n":1}`);
    for (let round = 0; round < 3; round++) {
      expect(validateNew(rules, known, "i", metadata)).toContain('"\\\\":1');
      expect(() => validateNew(rules, unknown, "i", metadata)).toThrow(
        expect.objectContaining({ code: "validation_failed" }),
      );
    }
  });

  it("is refused with a pointer, a keyword and a message for each failure", () => {
    expect(() => validateNew(book, body('{"pages":0}'), "i", metadata)).toThrow(
      expect.objectContaining({
        code: "validation_failed",
        errors: expect.arrayContaining([
          expect.objectContaining({ pointer: "/pages", keyword: "minimum" }),
          expect.objectContaining({ keyword: "required", message: expect.stringContaining("title") }),
        ]),
      }),
    );
  });
});

describe("an update", () => {
  it("replaces members in place, adds new ones before the metadata and keeps the others as they are", () => {
    expect(validateUpdate(anything, body('{"title":null,"new":[1.0]}'), stored)).toBe(
      '{"id":"i-1","title":null,"pages":9007199254740993,"new":[1.0],"_metadata":{"created":1,"creator":"ann","creator_type":"user"}}',
    );
  });

  it("replaces nested objects whole", () => {
    const nested = '{"id":"i","a":{"b":1,"c":2},"_metadata":{"created":1,"creator":"ann","creator_type":"user"}}';
    expect(validateUpdate(anything, body('{"a":{"b":3}}'), nested)).toContain('"a":{"b":3},');
  });

  it("is the stored text itself when nothing changes", () => {
    expect(validateUpdate(book, body("{}"), stored)).toBe(stored);
    expect(validateUpdate(book, body('{"title":"A"}'), stored)).toBe(stored);
  });

  it("is validated as merged, not as sent", () => {
    expect(validateUpdate(book, body('{"pages":3}'), stored)).toContain('"pages":3');
    expect(() => validateUpdate(book, body('{"title":1}'), stored)).toThrow(
      expect.objectContaining({ code: "validation_failed" }),
    );
  });

  it("takes id and _metadata back when they are what is stored", () => {
    const sent = '{"id":"i-1","_metadata":{"creator":"ann","creator_type":"user","created":1},"title":"B"}';
    expect(validateUpdate(book, body(sent), stored)).toContain('"title":"B"');
  });

  it.each(['{"id":"i-2"}', '{"_metadata":{}}', '{"_metadata":null}', '{"id":null}', '{"_cursor":1}'])(
    "refuses %s",
    (text) => {
      expect(() => validateUpdate(book, body(text), stored)).toThrow(
        expect.objectContaining({ code: "reserved_field" }),
      );
    },
  );
});

describe("what a write leaves of any object", () => {
  const reserved = new Set(["id", "_metadata", "_sort", "_limit", "_offset", "_fields", "_count", "_cursor"]);
  /** Also members below the top, and strings, that look like what stands around the data. */
  const values = fc.oneof(
    written,
    fc.constantFrom(
      { members: [["_metadata", { literal: "1" }]] } as const,
      {
        members: [
          ["id", { string: "x" }],
          ["_metadata", { members: [["created", { literal: "2" }]] }],
        ],
      } as const,
      ...[',"_metadata":{"created":2}}', '{"id":"x",', '\\",\\"_metadata\\":1', "_metadata", '"', "\\"].map(
        (string) => ({ string }),
      ),
    ),
  );
  const members = fc
    .uniqueArray(fc.tuple(names, values), { selector: ([name]) => name, maxLength: 6 })
    .map((all) =>
      all.filter(([name]) => !reserved.has(name)).map(([name, value]) => [name, valueText(value)] as const),
    );
  const creators = fc.constantFrom("ann", 'a","_metadata":{"creator":"b', "\\", ',"_metadata":');
  const valueText = (value: Written): string => body(render(value, [0])).text;
  const membersText = (all: Iterable<readonly [string, string]>): string =>
    Array.from(all, ([name, value]) => `${JSON.stringify(name)}:${value},`).join("");
  const objectOf = (all: Iterable<readonly [string, string]>) => `{${membersText(all).slice(0, -1)}}`;
  const numRuns = 2_000;

  it("is what a Map of its members has, between its id and its metadata", () => {
    fc.assert(
      fc.property(members, members, creators, (before, changes, creator) => {
        const made = { created: 1, creator, creator_type: "user" };
        const expected = (all: Iterable<readonly [string, string]>) =>
          `{"id":"i",${membersText(all)}"_metadata":${JSON.stringify(made)}}`;
        const text = validateNew(anything, body(objectOf(before)), "i", made);
        expect(text).toBe(expected(before));
        expect(metadataOf(text)).toEqual(made);
        const updated = validateUpdate(anything, body(objectOf(changes)), text);
        expect(updated).toBe(expected(new Map([...before, ...changes])));
        expect(metadataOf(updated)).toEqual(made);
      }),
      { numRuns },
    );
  });

  it("is what each operation of a JSON patch, or each member of a merge patch, makes of its member alone", () => {
    fc.assert(
      fc.property(members, members, (before, changes) => {
        const text = validateNew(anything, body(objectOf(before)), "i", metadata);
        const operations = changes.map(([name, value]) => ({ op: "add" as const, path: [name], value }));
        const scalars = changes.filter(([, value]) => !/^[{n]/.test(value));
        expect(validatePatch(anything, { format: "json-patch", operations }, text)).toBe(
          validateUpdate(anything, body(objectOf(changes)), text),
        );
        expect(validatePatch(anything, { format: "merge-patch", text: objectOf(scalars) }, text)).toBe(
          validateUpdate(anything, body(objectOf(scalars)), text),
        );
      }),
      { numRuns },
    );
  });
});

it("metadata is read from the stored text", () => {
  expect(metadataOf(stored)).toEqual(metadata);
});

describe("the size of what is stored", () => {
  const rules = { ...anything, maxBytes: 21 };
  const objectOf = (data: string) => validateNew(anything, body(data), "i", metadata);
  const tooLarge = expect.objectContaining({ code: "document_too_large" });
  /**
   * What each kind of write makes of a stored object to whose data `{"a":"1234567"}` it adds
   * `"b":N`.
   */
  const writes = {
    POST: (added: string) => validateNew(rules, body(`{"a":"1234567",${added}}`), "i", metadata),
    PUT: (added: string) => validateUpdate(rules, body(`{${added}}`), objectOf('{"a":"1234567"}')),
    "merge patch": (added: string) =>
      validatePatch(rules, { format: "merge-patch", text: `{${added}}` }, objectOf('{"a":"1234567"}')),
  };

  it.each(Object.entries(writes))("is the limit at most after a %s, without id and _metadata", (_name, write) => {
    expect(write('"b":1')).toContain('"b":1');
    expect(() => write('"b":12')).toThrow(tooLarge);
  });

  it("is in UTF-8 bytes", () => {
    expect(() => validateNew(rules, body('{"a":"éééééééé"}'), "i", metadata)).toThrow(tooLarge);
  });

  it("may stay beyond a limit, and become less", () => {
    const large = objectOf('{"a":"1234567","b":"1234567"}');
    expect(validateUpdate(rules, body('{"b":"7654321"}'), large)).toContain("7654321");
    expect(validateUpdate(rules, body('{"b":"765432"}'), large)).toContain("765432");
    expect(() => validateUpdate(rules, body('{"b":"76543210"}'), large)).toThrow(tooLarge);
  });

  it("is 1 MiB at most unless a project names a limit, and one body where that is larger", () => {
    const limits = { maxBodyBytes: 1_024, maxDocumentBytes: 1, maxPageSize: 1, anonymousWritesPerMinute: 1 };
    expect(maxObjectBytes(limits)).toBe(1 << 20);
    expect(maxObjectBytes({ ...limits, maxBodyBytes: 2 << 20 })).toBe(2 << 20);
    expect(maxObjectBytes({ ...limits, maxBodyBytes: 2 << 20, maxObjectBytes: 1_024 })).toBe(1_024);
  });
});

describe("an object that is written while others are migrated", () => {
  const rules = { ...book, migration: readMigration([{ op: "move", from: "/name", path: "/title" }]) };
  // Of the second in the metadata.
  const id = "00000000-03e8-7000-b3f1-26e1dbe8a3a1";
  const imported = (data: string) =>
    validateStored(rules, `{"id":"${id}",${data},"_metadata":${JSON.stringify(metadata)}}`).text;

  it("has the form of the next schema, also where it is imported", () => {
    const migrated = `{"id":"${id}","pages":1,"title":"A","_metadata":${JSON.stringify(metadata)}}`;
    expect(imported('"name":"A","pages":1')).toBe(migrated);
    expect(imported('"pages":1,"title":"A"')).toBe(migrated);
    expect(validateNew(rules, body('{"name":"A","pages":1}'), id, metadata)).toBe(migrated);
  });

  it("is refused as it would be migrated, or as it is where the patch doesn't match it", () => {
    const failing = { code: "validation_failed" };
    expect(() => imported('"name":5')).toThrow(
      expect.objectContaining({ ...failing, message: expect.stringContaining("/title: Must be") }),
    );
    expect(() => imported('"title":5')).toThrow(
      expect.objectContaining({ ...failing, message: expect.stringContaining("/title: Must be") }),
    );
    expect(() => imported('"pages":1')).toThrow(expect.objectContaining(failing));
  });
});
