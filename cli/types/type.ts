// TypeScript types as a tree, and their text.

export type Type =
  /** What needs no parentheses: `string`, a literal, a name. */
  | { readonly kind: "plain"; readonly text: string }
  | { readonly kind: "union" | "intersection"; readonly of: readonly Type[] }
  | { readonly kind: "array"; readonly of: Type }
  /** Of `items`, those from `required` on are optional. */
  | { readonly kind: "tuple"; readonly items: readonly Type[]; readonly required: number; readonly rest?: Type }
  | { readonly kind: "object"; readonly members: readonly Member[]; readonly index?: Type };

export interface Member {
  readonly name: string;
  readonly type: Type;
  readonly isOptional: boolean;
  /** For people. */
  readonly description?: string;
  readonly isDeprecated?: boolean;
}

export const plain = (text: string): Type => ({ kind: "plain", text });
export const unknown = plain("unknown");
export const never = plain("never");
export const undefinedType = plain("undefined");
const anyObject: Type = { kind: "object", members: [], index: unknown };

/** `never` where there is none. */
export function union(types: readonly Type[]): Type {
  const parts = distinct(types.flatMap((type) => (type.kind === "union" ? type.of : [type]))).filter(isNot(never));
  if (parts.some((part) => same(part, unknown))) return unknown;
  return parts.length > 1 ? { kind: "union", of: parts } : (parts[0] ?? never);
}

/** `unknown` where there is none. */
export function intersection(types: readonly Type[]): Type {
  const flat = types.flatMap((type) => (type.kind === "intersection" ? type.of : [type]));
  const parts = distinct(flat).filter(isNot(unknown));
  if (parts.some((part) => same(part, never))) return never;
  // The others say which object.
  const said = parts.length > 1 ? parts.filter(isNot(anyObject)) : parts;
  return said.length > 1 ? { kind: "intersection", of: said } : (said[0] ?? unknown);
}

function same(one: Type, other: Type): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isNot(other: Type): (type: Type) => boolean {
  return (type) => !same(type, other);
}

function distinct(types: readonly Type[]): readonly Type[] {
  return [...new Map(types.map((type) => [JSON.stringify(type), type])).values()];
}

/** Characters of a line that is not broken. */
const maxLine = 100;

/** `indent` = of the line that the text begins in. */
export function textOf(type: Type, indent = ""): string {
  switch (type.kind) {
    case "plain":
      return type.text;
    case "union":
      return unionText(type.of, indent);
    case "intersection":
      return type.of.map((part) => enclosed(part, indent, ["union"])).join(" & ");
    case "array":
      return `${enclosed(type.of, indent, ["union", "intersection"])}[]`;
    case "tuple":
      return tupleText(type, indent);
    case "object":
      return objectText(type, indent);
  }
}

function unionText(types: readonly Type[], indent: string): string {
  const texts = types.map((part) => textOf(part, indent));
  const line = texts.join(" | ");
  const longer = texts.filter((text) => text.includes("\n")).length;
  if (longer === 1 || (longer === 0 && line.length <= maxLine)) return line;
  const inner = `${indent}  `;
  return types.map((part) => `\n${inner}| ${textOf(part, `${inner}  `)}`).join("");
}

function enclosed(type: Type, indent: string, kinds: readonly Type["kind"][]): string {
  const text = textOf(type, indent);
  return kinds.includes(type.kind) ? `(${text})` : text;
}

function tupleText({ items, required, rest }: Extract<Type, { kind: "tuple" }>, indent: string): string {
  const each = items.map((item, index) =>
    index < required ? textOf(item, indent) : `${enclosed(item, indent, ["union", "intersection"])}?`,
  );
  const others = rest === undefined ? [] : [`...${textOf({ kind: "array", of: rest }, indent)}`];
  return `[${[...each, ...others].join(", ")}]`;
}

export function objectText({ members, index }: Extract<Type, { kind: "object" }>, indent = ""): string {
  const inner = `${indent}  `;
  const lines = members.flatMap((member) => [...comment(member, inner), memberLine(member, inner)]);
  if (index !== undefined) lines.push(`${inner}[name: string]: ${textOf(index, inner)};`);
  return lines.length === 0 ? "{}" : `{\n${lines.join("\n")}\n${indent}}`;
}

function memberLine({ name, type, isOptional }: Member, indent: string): string {
  return `${indent}${memberName(name)}${isOptional ? "?" : ""}: ${textOf(type, indent)};`.replace(": \n", ":\n");
}

function memberName(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : JSON.stringify(name);
}

/** A doc comment's lines; none if there is nothing to say. */
export function comment(
  { description, isDeprecated }: Pick<Member, "description" | "isDeprecated">,
  indent: string,
): readonly string[] {
  const said =
    description
      ?.replaceAll("*/", "*\\/")
      .trim()
      .split(/\r\n|[\n\r\u2028\u2029]/u) ?? [];
  const wrapped = said.flatMap((line) => wrap(line, maxLine - indent.length - " * ".length));
  const lines = [...wrapped, ...(isDeprecated ? ["@deprecated"] : [])].filter((line, at) => line !== "" || at > 0);
  if (lines.length === 0) return [];
  const [line = ""] = lines;
  const isShort = lines.length === 1 && indent.length + line.length + "/**  */".length <= maxLine;
  if (isShort) return [`${indent}/** ${line} */`];
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}

/** A word that is longer keeps a line of its own. */
function wrap(text: string, width: number): readonly string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line === "") lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
