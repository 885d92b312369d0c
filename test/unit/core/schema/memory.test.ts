import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { compiled } from "./compiled.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/**
 * Of those that are still there once collecting takes no more of them: a collection may spare what
 * was used a moment ago.
 */
async function left(references: readonly WeakRef<object>[]): Promise<number> {
  let count = references.length;
  for (let round = 0; round < 20 && count > 0; round += 1) {
    // A weak reference holds its target until the current job ends.
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    count = references.filter((reference) => reference.deref() !== undefined).length;
  }
  return count;
}

describe("a schema that is replaced", () => {
  it("leaves nothing behind", async () => {
    const make = () => {
      const schema = compiled({
        $defs: { n: { properties: { next: { $ref: "#/$defs/n" } }, contains: { pattern: "^a+$" } } },
        properties: { v: { $ref: "#/$defs/n" }, mail: { format: "email" } },
        propertyNames: { maxLength: 100 },
        unevaluatedProperties: false,
      });
      schema.validate({ v: {}, x: 1 }, '{"v":{},"x":1}');
      return new WeakRef(schema.validate);
    };
    expect(await left(Array.from({ length: 5 }, make))).toBe(0);
  });

  it("keeps no object that it refused", async () => {
    const { validate } = compiled({
      properties: { v: { items: { $ref: "#/$defs/s" } } },
      $defs: { s: { type: "string" } },
    });
    const refuse = () => {
      const object = { v: [{ large: true }] };
      expect(validate(object, JSON.stringify(object))).toHaveLength(1);
      return new WeakRef(object.v[0] ?? {});
    };
    expect(await left([refuse()])).toBe(0);
  });
});
