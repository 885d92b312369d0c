import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../../../core/json/canonical.ts";
import { applyJsonPatch } from "../../../../../core/json/json-patch.ts";
import { readJsonPatch } from "../../../../../core/json/read-json-patch.ts";
import { editablePart, readEdited } from "../../../../../pages/console/objects/changes.ts";

describe("what a person edits of a stored object", () => {
  it("is all but what the server sets, with every digit", () => {
    const stored = '{"id":"1","n":9007199254740993,"x":1.0,"_metadata":{"created":1}}';
    expect(editablePart(stored)).toBe('{"n":9007199254740993,"x":1.0}');
  });
});

describe("what is saved", () => {
  it("is what differs: values that were written, and members that were removed", () => {
    const same = `"same":"${"long ".repeat(20)}"`;
    const edited = readEdited(
      `{"a":1,"b":{"c":2},"d":3,${same}}`,
      `{ "a": 1, "b": { "c": 1.50 }, "e": null, ${same} }`,
    );
    expect(edited).toMatchObject({ ok: true, isChanged: true });
    expect(edited.ok && edited.patch).toBe(
      '[{"op":"remove","path":"/d"},{"op":"add","path":"/b","value":{"c":1.5}},{"op":"add","path":"/e","value":null}]',
    );
  });

  it("is the whole object where that is shorter, or where more members differ than a patch has operations", () => {
    const members = (value: string) => Array.from({ length: 1_001 }, (_, at) => `"a${at}":${value}`).join(",");
    const stored = `{"id":"1","x":1.0,${members("1")},"_metadata":{"created":1}}`;
    for (const value of ["2", `"${"long ".repeat(20)}"`]) {
      const edited = readEdited(stored, `{"x":9007199254740993,${members(value)}}`);
      const whole = `{"id":"1","x":9007199254740993,${members(value)},"_metadata":{"created":1}}`;
      expect(edited.ok && edited.patch).toBe(`[{"op":"replace","path":"","value":${whole}}]`);
    }
    const few = readEdited(stored, `{"x":2,${members("1")}}`);
    expect(few.ok && few.patch).toBe('[{"op":"add","path":"/x","value":2}]');
  });

  it("leaves it to the server to refuse another id", () => {
    const members = Array.from({ length: 1_001 }, (_, at) => `"a${at}":1`).join(",");
    const edited = readEdited('{"id":"1","_metadata":{"created":1}}', `{"id":"2",${members}}`);
    expect(edited.ok && edited.patch).toBe(
      `[{"op":"replace","path":"","value":{"id":"2",${members},"_metadata":{"created":1}}}]`,
    );
  });

  it("is nothing where only white space or the order of members changed", () => {
    expect(readEdited('{"a":1,"b":2}', '{ "b": 2,\n "a": 1 }')).toMatchObject({ ok: true, isChanged: false });
  });

  it.each([
    ["", "end of the text"],
    ["[1]", "An object is expected"],
    ['{"a":1,"a":2}', "a"],
    ['{"a":01}', "line 1"],
  ])("is nothing of a text that can't be stored, %j, and the reason is said", (text, words) => {
    expect(readEdited("{}", text)).toMatchObject({ ok: false, message: expect.stringContaining(words) });
  });

  it("makes of the stored object the edited one, whatever the names and values are", () => {
    const object = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true });
    fc.assert(
      fc.property(object, object, (before, after) => {
        const [from, to] = [before, after].map((each) => canonicalJson(JSON.stringify(each), 64));
        fc.pre(from?.ok === true && to?.ok === true);
        if (from?.ok !== true || to?.ok !== true) return;
        const edited = readEdited(from.json.text, JSON.stringify(after, null, 2));
        expect(edited.ok && JSON.parse(applyJsonPatch(from.json.text, readJsonPatch(edited.patch)))).toEqual(
          JSON.parse(to.json.text),
        );
      }),
    );
  });
});
