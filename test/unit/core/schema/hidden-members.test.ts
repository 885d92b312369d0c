import { describe, expect, it } from "vitest";
import { compiled, failuresOf, problemsOf } from "./compiled.ts";

const hidden = ["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "__defineGetter__", "length"];

/** JSON text, because an object literal would set a prototype. */
const one = (name: string, value: string): string => `{${JSON.stringify(name)}:${value}}`;
const schemaOf = (text: string): unknown => JSON.parse(text);

describe.each(hidden)("a member named %s is a member like any other", (name) => {
  const declared = schemaOf(`{"properties":${one(name, '{"type":"string"}')}}`);
  const closed = schemaOf(`{"properties":${one(name, '{"type":"string"}')},"additionalProperties":false}`);

  it("declared and absent, it is not looked at", () => {
    expect(failuresOf(declared, "{}")).toEqual([]);
    expect(failuresOf(closed, "{}")).toEqual([]);
  });

  it("declared and present, it is judged", () => {
    expect(failuresOf(declared, one(name, '"a"'))).toEqual([]);
    expect(failuresOf(closed, one(name, '"a"'))).toEqual([]);
    expect(failuresOf(declared, one(name, "1"))).toEqual([
      { pointer: `/${name}`, keyword: "type", message: "Must be a string" },
    ]);
  });

  it("declared, it is listed", () => {
    expect(compiled(declared).properties.get(name)).toEqual({ name, path: [name], types: ["string"] });
  });

  it("forbidden by false, it is refused", () => {
    const schema = schemaOf(`{"properties":${one(name, "false")}}`);
    expect(failuresOf(schema, "{}")).toEqual([]);
    expect(failuresOf(schema, one(name, "1"))).toHaveLength(1);
  });

  it("required, it is missed and found", () => {
    expect(failuresOf({ required: [name] }, "{}")).toMatchObject([{ keyword: "required" }]);
    expect(failuresOf({ required: [name] }, one(name, "null"))).toEqual([]);
  });

  it("undeclared, it is refused where the schema is closed", () => {
    for (const keyword of ["additionalProperties", "unevaluatedProperties"]) {
      const schema = { properties: { a: true }, anyOf: [{ properties: { b: true } }], [keyword]: false };
      expect(failuresOf(schema, one(name, "1"))).toMatchObject([{ keyword, pointer: `/${name}` }]);
    }
  });

  it("undeclared, it is data where the schema is open", () => {
    expect(failuresOf({ properties: { a: true } }, one(name, "1"))).toEqual([]);
  });

  it("a pattern finds it, by its name and in general", () => {
    for (const pattern of [`^${name}$`, name, "."]) {
      const schema = { patternProperties: schemaOf(one(pattern, '{"type":"string"}')), unevaluatedProperties: false };
      expect(failuresOf(schema, one(name, '"a"')), pattern).toEqual([]);
      expect(failuresOf(schema, one(name, "1")), pattern).toMatchObject([{ keyword: "type" }]);
    }
  });

  it("others depend on it only when it is there", () => {
    const schemas = [
      schemaOf(`{"dependentRequired":${one(name, '["b"]')}}`),
      schemaOf(`{"dependentSchemas":${one(name, '{"required":["b"]}')}}`),
      schemaOf(`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":${one(name, '["b"]')}}`),
      schemaOf(
        `{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":${one(name, '{"required":["b"]}')}}`,
      ),
    ];
    for (const schema of schemas) {
      expect(failuresOf(schema, "{}"), JSON.stringify(schema)).toEqual([]);
      expect(failuresOf(schema, one(name, "1")), JSON.stringify(schema)).toHaveLength(1);
    }
  });

  it("equal values hold it as their own", () => {
    const schema = schemaOf(`{"properties":{"v":{"enum":[${one(name, "1")}]}}}`);
    expect(failuresOf(schema, `{"v":${one(name, "1")}}`)).toEqual([]);
    expect(failuresOf(schema, `{"v":${one(name, "2")}}`)).toHaveLength(1);
    expect(failuresOf(schema, '{"v":{}}')).toHaveLength(1);
  });

  it("a definition of that name is found, and no other", () => {
    const schema = schemaOf(
      `{"$defs":${one(name, '{"type":"string"}')},"properties":{"v":{"$ref":"#/$defs/${name}"}}}`,
    );
    expect(failuresOf(schema, '{"v":1}')).toHaveLength(1);
    expect(problemsOf({ properties: { v: { $ref: `#/$defs/${name}` } } })).toHaveLength(1);
    expect(problemsOf({ properties: { v: { $ref: `#${name}` } } })).toHaveLength(1);
  });
});
