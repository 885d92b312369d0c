// Checks a schema as a whole: refuses references that lead back to themselves without going into
// the value, schemas that multiply by references, roots that admit no object, and reserved names.

import { childPointer } from "../../json/json-pointer.ts";
import { isObject } from "../../json/json-value.ts";
import { schemaLimits } from "../limits.ts";
import { checkRequired } from "./check-required.ts";
import type { SchemaRead } from "./read-schema.ts";
import type { SchemaReport } from "./report.ts";
import { alwaysInPlace, inPlace, namesOf, reachable, type SchemaNode, schemasPerValue } from "./schema-tree.ts";

/** Top-level names that a schema can't declare: own members, and query parameters. */
export const reservedNames: ReadonlySet<string> = new Set([
  "id",
  "_metadata",
  "_sort",
  "_limit",
  "_offset",
  "_fields",
  "_count",
  "_cursor",
]);

/**
 * Names that were reserved after schemas could declare them: such a schema is still served, with a
 * warning.
 */
export const laterReservedNames: readonly string[] = ["_etags", "_valid", "_position", "_any", "_count_by"];

export function checkTree({ root, nodes }: SchemaRead, report: SchemaReport): void {
  // The other checks follow references and would not come back from a loop.
  if (!checkLoops(nodes, report)) return;
  checkMultiplication(nodes, report);
  checkRoot(root, report);
  checkRequired(root, nodes, report);
}

function checkLoops(nodes: readonly SchemaNode[], report: SchemaReport): boolean {
  const done = new Set<SchemaNode>();
  const open = new Set<SchemaNode>();
  let sound = true;
  const visit = (node: SchemaNode): void => {
    open.add(node);
    for (const { tree, pointer } of inPlace(node)) {
      if (typeof tree === "boolean" || done.has(tree)) continue;
      if (open.has(tree)) {
        sound = false;
        report.problem(
          pointer,
          "This reference leads back to itself for the same value; refer to it below properties or items",
        );
      } else {
        visit(tree);
      }
    }
    open.delete(node);
    done.add(node);
  };
  for (const node of nodes) if (!done.has(node)) visit(node);
  return sound;
}

/** References to references can double with every step: 40 small schemas would stand for 10^12. */
function checkMultiplication(nodes: readonly SchemaNode[], report: SchemaReport): void {
  const counts = new Map<SchemaNode, number>();
  const worst = nodes.find((node) => schemasPerValue(node, counts) > schemaLimits.schemasPerValue);
  if (worst === undefined) return;
  const message = `More than ${schemaLimits.schemasPerValue} schemas apply to one value here, once references are followed; refer less often`;
  report.problem(worst.pointer, message);
}

function checkRoot(root: SchemaNode, report: SchemaReport): void {
  for (const tree of reachable(root, alwaysInPlace)) {
    if (tree === false) report.problem("", "The schema refuses every object; describe an object: write type: object");
    if (typeof tree !== "boolean") checkAdmitsObjects(tree, report);
  }
  checkReserved(root, report);
}

/** A reserved name is reported once, however many parts of the root have it. */
function checkReserved(root: SchemaNode, report: SchemaReport): void {
  const reported = new Set<string>();
  for (const tree of reachable(root, (node) => [...inPlace(node)].map((part) => part.tree))) {
    if (typeof tree === "boolean") continue;
    for (const [name, pointer] of reservedIn(tree)) {
      if (!reservedNames.has(name) || reported.has(name)) continue;
      reported.add(name);
      report.problem(pointer, reservedMessage(name));
    }
    warnOfReserved(tree, report);
  }
}

function checkAdmitsObjects(node: SchemaNode, report: SchemaReport): void {
  const type = node.assertions.get("type");
  if (type !== undefined && !(type === "object" || (Array.isArray(type) && type.includes("object")))) {
    report.problem(childPointer(node.pointer, "type"), "Stored data is always an object; write object");
  }
  const constant = node.assertions.get("const");
  const listed = node.assertions.get("enum");
  if (constant !== undefined && !isObject(constant)) refuseValues(node, "const", report);
  if (Array.isArray(listed) && !listed.some(isObject)) refuseValues(node, "enum", report);
}

function refuseValues(node: SchemaNode, keyword: "const" | "enum", report: SchemaReport): void {
  report.problem(childPointer(node.pointer, keyword), "Stored data is always an object; allow an object");
}

/** Where a schema object names members that are the service's own. */
function* reservedIn({ assertions, named, pointer }: SchemaNode): Generator<[name: string, pointer: string]> {
  const at = (keyword: string, key: string | number): string => childPointer(childPointer(pointer, keyword), key);
  for (const keyword of ["properties", "dependentSchemas"] as const) {
    for (const name of named.get(keyword)?.keys() ?? []) yield [name, at(keyword, name)];
  }
  for (const [index, name] of namesOf(assertions.get("required"))) yield [name, at("required", index)];
  const dependent = assertions.get("dependentRequired");
  for (const [name, names] of isObject(dependent) ? Object.entries(dependent) : []) {
    const needs = at("dependentRequired", name);
    yield [name, needs];
    for (const [index, needed] of namesOf(names)) yield [needed, childPointer(needs, index)];
  }
}

function warnOfReserved(node: SchemaNode, report: SchemaReport): void {
  const declared = node.named.get("properties");
  for (const name of laterReservedNames.filter((each) => declared?.has(each))) {
    report.warn(
      childPointer(childPointer(node.pointer, "properties"), name),
      () =>
        `The top-level name ${name} is reserved for a query parameter of lists, which lists of this resource can't have; give the field another name`,
    );
  }
}

function reservedMessage(name: string): string {
  return `The top-level name ${name} is reserved for the service, and the schema never applies to it; remove it, also from required, or write another name`;
}
