import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkedFormat, knownFormats, maxCheckedLength } from "../../core/schema/formats.ts";
import { schemaLimits, validationLimits } from "../../core/schema/limits.ts";
import { maxPatternLength, maxRepeat } from "../../core/schema/pattern/parse-pattern.ts";
import { maxInstructions } from "../../core/schema/pattern/program.ts";
import { reservedNames } from "../../core/schema/read/check-tree.ts";

const text = readFileSync(new URL("../../docs/reference/json-schema.md", import.meta.url), "utf8");
const section = (title: string): string => text.split("\n## ").find((part) => part.startsWith(title)) ?? "";
const grouped = (value: number): string => value.toLocaleString("en-US");

describe("docs/reference/json-schema.md", () => {
  it("states the limits of a schema as the code has them", () => {
    const rows = [...section("Limits of a schema").matchAll(/^\| (.+) \| (.+) \|$/gm)].slice(1);
    expect(Object.fromEntries(rows.map(([, limit, value]) => [limit, value]))).toEqual({
      "size as JSON text": `${schemaLimits.bytes / 1024} KiB`,
      "nesting of the JSON text": `${schemaLimits.depth} levels`,
      "schemas inside the schema, `true` and `false` counted": grouped(schemaLimits.subschemas),
      "schemas that apply to one value, references followed": grouped(schemaLimits.schemasPerValue),
      "numbers in `const` and `enum`, `multipleOf`": `±${grouped(schemaLimits.number)} (2^53-1)`,
      "a pattern's length": `${grouped(maxPatternLength)} characters`,
      "a pattern's repetitions `{n,m}`": grouped(maxRepeat),
      "steps of a pattern, repetitions written out": grouped(maxInstructions),
      "steps of all patterns together": grouped(schemaLimits.patternSteps),
      "problems and warnings reported for one schema": `${schemaLimits.reports} each`,
    });
  });

  it("lists the formats that are checked, those that never refuse, and no other as known", () => {
    const [checked = "", rest = ""] = section("Formats").split("Known and never refusing");
    const [free = "", others = ""] = rest.split("Others");
    const named = (part: string) => [...part.matchAll(/`([a-z0-9-]+)`/g)].map(([, name = ""]) => name);
    const checks = knownFormats.filter((name) => checkedFormat(name) !== undefined);
    expect(named(checked).toSorted()).toEqual(checks.toSorted());
    expect(named(free).toSorted()).toEqual(knownFormats.filter((name) => !checks.includes(name)).toSorted());
    const ignored = named(others.split("The")[0] ?? "");
    expect(ignored.filter((name) => knownFormats.includes(name))).toEqual([]);
    expect(text).toContain(`longer than ${grouped(maxCheckedLength)} characters`);
  });

  it("names every reserved name", () => {
    const [row = ""] = text.split("\n").filter((line) => line.startsWith("| the root |"));
    for (const name of reservedNames) expect.soft(row).toContain(`\`${name}\``);
  });

  it("states how many failures are told and what a validation may cost", () => {
    expect(section("What a failure")).toContain(`at most ${validationLimits.errors}`);
    expect(section("The work")).toContain(
      `${validationLimits.work / 1e6} million units, or ${validationLimits.workPerCharacter} per character`,
    );
  });
});
