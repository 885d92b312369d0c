// The defaults of a schema for `defaults: Apply`: ready to be filled in, or checked. A schema with
// one that can't be filled in, or that the schema itself refuses, is refused.

import type { JsonObject } from "../../config/types.ts";
import { pointerOf, segmentsOf } from "../../json/json-pointer.ts";
import { parseJson } from "../../json/parse-json.ts";
import { readSchema, type SchemaRead } from "../read/read-schema.ts";
import { type SchemaProblem, SchemaReport } from "../read/report.ts";
import type { SchemaNode } from "../read/schema-tree.ts";
import { compileValidator } from "../validate/compile-validator.ts";
import { defaultAt } from "./check-places.ts";
import type { Filling } from "./filling.ts";
import { type FilledDefault, readDefaults } from "./read-defaults.ts";

export interface Defaults {
  /** Undefined where there is no default to fill in. */
  readonly filling: Filling | undefined;
  /** The members that may be left out, by the pointer of each schema object. */
  readonly optional: ReadonlyMap<string, ReadonlySet<string>>;
}

export type DefaultsResult =
  | { readonly ok: true; readonly defaults: Defaults }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** `schema` is one that compiles. */
export function compileDefaults(schema: JsonObject): DefaultsResult {
  const report = new SchemaReport();
  const { filling, optional } = readDefaults(treeOf(schema).root, report);
  return report.problems.length > 0
    ? { ok: false, problems: report.problems }
    : { ok: true, defaults: { filling, optional } };
}

/** What is wrong with the defaults, their values included. `schema` is one that compiles. */
export function checkDefaults(schema: JsonObject): readonly SchemaProblem[] {
  const report = new SchemaReport();
  const read = treeOf(schema);
  const { filled } = readDefaults(read.root, report);
  const distinct = new Map(filled.map((each) => [keyOf(each), each]));
  if (report.problems.length === 0 && distinct.size > 0) checkValues(read, [...distinct.values()], report);
  return report.problems;
}

function treeOf(schema: JsonObject): SchemaRead {
  const read = readSchema(schema, new SchemaReport());
  if (read === undefined) throw new TypeError("Only a schema that compiles has defaults");
  return read;
}

/** Equal for those that are right or wrong together. */
function keyOf({ schemas, text }: FilledDefault): string {
  return `${schemas.map((tree) => (typeof tree === "boolean" ? tree : tree.id)).join()} ${text}`;
}

/** One validator for all of them: an object that has each default as a member. */
function checkValues(read: SchemaRead, filled: readonly FilledDefault[], report: SchemaReport): void {
  const members = filled.map(({ schemas }, index) => ({
    ...nodeOf(read.nodes.length + 1 + index),
    references: schemas.map((target) => ({ pointer: "", target })),
  }));
  const properties = new Map(members.map((member, index) => [String(index), member]));
  const root = { ...nodeOf(read.nodes.length), named: new Map([["properties", properties] as const]) };
  const validate = compileValidator({ ...read, root, nodes: [...read.nodes, root, ...members] });
  const text = `{${filled.map((each, index) => `"${index}":${each.text}`).join(",")}}`;
  const reported = new Set<SchemaNode>();
  for (const { pointer, message } of validate(parseJson(text), text).failures) {
    const [index = "", ...path] = segmentsOf(pointer);
    const source = filled[Number(index)]?.source;
    // Without an index: all of them together took too much work.
    if (source === undefined || reported.has(source)) continue;
    reported.add(source);
    report.problem(
      defaultAt(source),
      `The default does not match the schema: ${[...(path.length > 0 ? [pointerOf(path)] : []), message].join(" ")}`,
    );
  }
}

function nodeOf(id: number): SchemaNode {
  return {
    id,
    pointer: "",
    assertions: new Map(),
    references: [],
    single: new Map(),
    lists: new Map(),
    named: new Map(),
    default: undefined,
  };
}
