// Puts one fault into a file. The place is a function's name and the fault is said in its terms, so
// that refactoring around it doesn't matter:
//
//   return EXPRESSION      the function does nothing but return this
//   drop NAME              its first call of NAME, or of a method of that name, isn't made
//   if NAME is true|false  its first condition that mentions NAME, as a name or a string, has this
//                          value; `if NAME (2) is …`: its second one
//
// A Lua script is one function, `script`, and takes conditions only. Refuses a function that the
// file doesn't have, or has twice, and a change that finds nothing.

import { parseSync } from "rolldown/utils";

/** What this file reads of a node of ESTree. */
interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

export class NotApplicable extends Error {
  override readonly name = "NotApplicable";
}

/**
 * `fn` = the name of a function, or else of a method or a member, with that of a function around it
 * where several have the name: `outer.inner`.
 */
export function mutate(file: string, text: string, fn: string, change: string): string {
  if (file.endsWith(".lua")) return mutateScript(text, change);
  const found = functionOf(parse(file, text), fn);
  const { at, by } = editOf(found, change);
  const changed = text.slice(0, at.start) + by + text.slice(at.end);
  parse(file, changed);
  return changed;
}

function parse(file: string, text: string): SyntaxNode {
  const { program, errors } = parseSync(file, text);
  const [first] = errors;
  if (first !== undefined) throw new NotApplicable(`${file} can't be parsed: ${first.message}`);
  return program as unknown as SyntaxNode;
}

function functionOf(program: SyntaxNode, path: string): SyntaxNode {
  let within = program;
  for (const name of path.split(".")) {
    const nodes = nodesIn(within);
    const declared = nodes.filter((node) => isDeclared(node, name));
    const found = declared.length > 0 ? declared : nodes.flatMap((node) => memberFunction(node, name));
    const [only, ...others] = found;
    if (only === undefined || others.length > 0)
      throw new NotApplicable(`${found.length} functions are called ${name}`);
    within = only;
  }
  return within;
}

function isDeclared(node: SyntaxNode, name: string): boolean {
  return node.type === "FunctionDeclaration" && nameOf(node["id"]) === name && node["body"] !== null;
}

/** `const name = () => …`, `name: () => …`, and `name() {…}` of an object or a class. */
function memberFunction(node: SyntaxNode, name: string): readonly SyntaxNode[] {
  const called = nameOf(node["id"]) ?? nameOf(node["key"]);
  const value = (node["init"] ?? node["value"]) as SyntaxNode | undefined;
  return called === name && value && /^(Arrow)?Function/.test(value.type) ? [value] : [];
}

interface Edit {
  readonly at: Pick<SyntaxNode, "start" | "end">;
  readonly by: string;
}

function editOf(fn: SyntaxNode, change: string): Edit {
  const body = fn["body"] as SyntaxNode;
  const [, returned] = /^return (.+)$/.exec(change) ?? [];
  if (returned !== undefined) return { at: body, by: `{ return ${returned}; }` };
  const [, dropped] = /^drop (\w+)$/.exec(change) ?? [];
  if (dropped !== undefined) {
    const calls = nodesIn(body).filter((node) => node.type === "CallExpression" && calleeOf(node) === dropped);
    return { at: first(calls, change), by: "undefined" };
  }
  const { name, nth, value } = conditionIn(change);
  const tests = nodesIn(body).flatMap((node) => (isConditional(node) ? [node["test"] as SyntaxNode] : []));
  const mentioning = tests.filter((test) =>
    nodesIn(test).some((node) => nameOf(node) === name || node["value"] === name),
  );
  return { at: first(mentioning.toSorted(byStart).slice(nth - 1), change), by: value };
}

function mutateScript(text: string, change: string): string {
  const { name, nth, value } = conditionIn(change);
  const conditions = [...text.matchAll(/\bif (.+) then\b/g)].filter(([, test]) => test?.match(`\\b${name}\\b`));
  const [whole, test] = conditions[nth - 1] ?? [];
  if (whole === undefined || test === undefined) throw new NotApplicable(`there is nothing in the script to ${change}`);
  return text.replace(whole, `if ${value} then`);
}

function conditionIn(change: string) {
  const [, name = "", nth = "1", value = ""] = /^if (\w+)(?: \((\d)\))? is (true|false)$/.exec(change) ?? [];
  if (name === "") throw new NotApplicable(`${change} is not a change`);
  return { name, nth: Number(nth), value };
}

function isConditional({ type }: SyntaxNode): boolean {
  return ["IfStatement", "ConditionalExpression", "WhileStatement"].includes(type);
}

function calleeOf(call: SyntaxNode): string | undefined {
  const callee = call["callee"] as SyntaxNode;
  return nameOf(callee) ?? nameOf(callee["property"]);
}

function nameOf(node: unknown): string | undefined {
  const { type, name } = (node ?? {}) as { readonly type?: string; readonly name?: string };
  return type === "Identifier" || type === "PrivateIdentifier" ? name : undefined;
}

function first(nodes: readonly SyntaxNode[], change: string): SyntaxNode {
  const [found] = nodes.toSorted(byStart);
  if (found === undefined) throw new NotApplicable(`there is nothing in the function to ${change}`);
  return found;
}

function byStart(one: SyntaxNode, other: SyntaxNode): number {
  return one.start - other.start;
}

/** The node and all below it. */
function nodesIn(node: SyntaxNode): readonly SyntaxNode[] {
  const children = Object.values(node).flat().filter(isNode);
  return [node, ...children.flatMap(nodesIn)];
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof (value as SyntaxNode).type === "string";
}
