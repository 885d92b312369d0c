// What a chart's user is told and refused is what values.yaml says of each value.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readValues } from "../../../../tools/chart-values/read-values.ts";
import { root } from "../../../../tools/read-crds.ts";

describe("values.yaml as a schema", () => {
  it("takes descriptions from comments, types from defaults, and keywords from @schema", () => {
    const text = `# About the file.

# The program.
program:
  # How many there are,
  # at most.
  # @schema {minimum: 1,
  # maximum: 3}
  replicas: 2
  # Its labels.
  labels: {}
# Ports.
ports: [80]
`;
    expect(readValues(text).properties).toEqual({
      program: {
        description: "The program.",
        type: "object",
        additionalProperties: false,
        properties: {
          replicas: {
            ...{ description: "How many there are, at most.", type: "integer" },
            ...{ minimum: 1, maximum: 3, default: 2 },
          },
          labels: { description: "Its labels.", type: "object", default: {} },
        },
      },
      ports: { description: "Ports.", type: "array", default: [80] },
    });
  });

  it("takes a type of @schema before that of the default", () => {
    const { properties } = readValues("# Replicas.\n# @schema {type: [integer, string]}\nreplicas: 1\n");
    expect(properties?.["replicas"]?.type).toEqual(["integer", "string"]);
  });

  it("takes a mapping whose members have no comments as one value", () => {
    const { properties } = readValues("# Sizes.\nresources:\n  limits: { memory: 1Gi }\n# Flow.\nflow: { a: 1 }\n");
    expect(properties).toEqual({
      resources: { description: "Sizes.", type: "object", default: { limits: { memory: "1Gi" } } },
      flow: { description: "Flow.", type: "object", default: { a: 1 } },
    });
  });

  it.each([
    ["a value without a description", "# A.\na: 1\nb: 2\n", "values.yaml:3: b has no description"],
    ["a member that was forgotten", "# A.\na:\n  # B.\n  b: 1\n  c: 2\n", "values.yaml:5: c has no description"],
    ["keywords without a description", "# @schema {minimum: 1}\na: 1\n", "values.yaml:2: a has no description"],
    ["keywords that are not YAML", "# A.\n# @schema {minimum: 1\na: 1\n", "a has an @schema that is not YAML"],
    ["keywords that are not a mapping", "# A.\n# @schema minimum\na: 1\n", "a has an @schema that is not a mapping"],
    ["a text that is not YAML", "# A.\na: [1\n", "Flow sequence"],
  ])("refuses %s", (_, text, message) => {
    expect(() => readValues(text)).toThrow(message);
  });

  it("has defaults that it takes itself", async () => {
    const text = await readFile(join(root, "charts/jsonplane/values.yaml"), "utf8");
    const validate = new Ajv({ strict: true, strictTypes: false, allowUnionTypes: true }).compile(readValues(text));
    validate(parse(text));
    expect(validate.errors).toBeNull();
  });
});
