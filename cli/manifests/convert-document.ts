// Turns one parsed YAML document into JSON as kubectl reads it, with the position of every value.
// Refuses what is ambiguous or has no form in JSON: ambiguous and repeated keys, tags, cycles,
// aliases that add too many values.

import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  visit,
  type YAMLMap,
} from "yaml";
import type { Json, JsonObject } from "../../core/config/types.ts";
import { childPointer } from "../../core/json/json-pointer.ts";
import { isObject } from "../../core/json/json-value.ts";
import type { Positions } from "./positions.ts";

export interface Fault {
  readonly offset: number;
  readonly pointer: string;
  readonly message: string;
}

export interface Conversion {
  /** Undefined for an empty document. */
  readonly value: Json | undefined;
  readonly faults: readonly Fault[];
  /** Values that are read in a surprising way and are not refused. */
  readonly warnings: readonly Fault[];
}

const maxDepth = 128;
/** Values that aliases may add to one document. */
const maxAliased = 10_000;
/** Messages do not repeat what a Secret holds. */
const secretEntry = /\/(?:data|stringData)\//;
/** Who loses the line between two objects has these twice in one document. */
const objectKeys: ReadonlySet<string> = new Set(["/apiVersion", "/kind"]);
const newObject = "if another object begins here, write --- on a line of its own before it";
const textTag = "tag:yaml.org,2002:str";

export function convertDocument(document: Document, positions: Positions): Conversion {
  const converter = new Converter(targetsOf(document), positions);
  const { contents } = document;
  if (contents === null || (isScalar(contents) && isNothing(contents)))
    return { value: undefined, faults: [], warnings: [] };
  const value = converter.value(contents as Node, { pointer: "", depth: 0 });
  return { value, faults: converter.faults, warnings: converter.warnings };
}

function isNothing(scalar: Scalar): boolean {
  return scalar.type === "PLAIN" && (scalar.source ?? "") === "";
}

/** What each alias stands for: the last node before it that has the anchor. */
function targetsOf(document: Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) {
        const target = anchors.get(node.source);
        if (target !== undefined) targets.set(node, target);
      } else if (node.anchor !== undefined) {
        anchors.set(node.anchor, node);
      }
    },
  });
  return targets;
}

interface Location {
  readonly pointer: string;
  readonly depth: number;
  /** Offset of the member's name. */
  readonly key?: number;
}

class Converter {
  readonly faults: Fault[] = [];
  readonly warnings: Fault[] = [];
  readonly #targets: ReadonlyMap<Alias, Node>;
  readonly #positions: Positions;
  /** Nodes that are being expanded from an alias. */
  readonly #expanding = new Set<Node>();
  #aliased = 0;

  constructor(targets: ReadonlyMap<Alias, Node>, positions: Positions) {
    this.#targets = targets;
    this.#positions = positions;
  }

  value(node: Node | null, at: Location): Json {
    if (node === null) return null;
    if (isAlias(node)) return this.#alias(node, at);
    if (this.#addsTooMuch(node, at)) return null;
    this.#locate(node, at);
    if (at.depth > maxDepth) return this.#refuse(node, at, `Nested more than ${maxDepth} levels deep`);
    if (isScalar(node)) return this.#scalar(node, at);
    if (node.tag !== undefined) {
      return this.#refuse(node, at, "A YAML tag means nothing in JSON: remove it");
    }
    if (isSeq(node)) {
      return node.items.map((item, index) => this.value(item as Node | null, below(at, String(index))));
    }
    return isMap(node) ? this.#map(node, at) : this.#refuse(node, at, "Is neither a mapping, a list nor a scalar");
  }

  /** True when aliases have added too many values, which is one fault. */
  #addsTooMuch(node: Node, at: Location): boolean {
    if (this.#expanding.size === 0) return false;
    this.#aliased++;
    if (this.#aliased === maxAliased + 1) {
      this.#refuse(node, at, `Aliases swell this document by more than ${maxAliased} values`);
    }
    return this.#aliased > maxAliased;
  }

  #locate(node: Node, at: Location): void {
    this.#positions.add(at.pointer, {
      ...(at.key === undefined ? {} : { key: at.key }),
      value: offsetOf(node),
      container: !isScalar(node),
      ...(isScalar(node) && node.type === "PLAIN" ? { plain: node.source ?? "" } : {}),
    });
  }

  #alias(alias: Alias, at: Location): Json {
    const target = this.#targets.get(alias);
    if (target === undefined)
      return this.#refuse(
        alias,
        at,
        "This alias has no anchor before it: put the text in quotes if it begins with an asterisk",
      );
    if (this.#expanding.has(target)) return this.#refuse(alias, at, `The anchor &${alias.source} contains itself`);
    this.#expanding.add(target);
    const value = this.value(target, at);
    this.#expanding.delete(target);
    return value;
  }

  #scalar(scalar: Scalar, at: Location): Json {
    const text = String(scalar.value ?? "");
    if (scalar.tag === textTag) return text;
    if (scalar.tag !== undefined) {
      return this.#refuse(
        scalar,
        at,
        "A YAML tag means nothing in JSON: write the value itself, in quotes if it begins with an exclamation mark",
      );
    }
    if (scalar.type !== "PLAIN") return text;
    const reading = readPlainScalar(text);
    const secret = secretEntry.test(at.pointer);
    if (!reading.ok) return this.#refuse(scalar, at, secret ? "Is a number: write it in quotes" : reading.message);
    if (reading.surprising) {
      const message = secret
        ? "Without quotes this is not a text for kubectl: write it in quotes"
        : `The unquoted ${text} is read as ${described(reading.value)}, as kubectl reads it: write "${text}" for a text, else ${JSON.stringify(reading.value)}`;
      this.#add(this.warnings, { offset: offsetOf(scalar), pointer: at.pointer, message });
    }
    return reading.value;
  }

  #map(map: YAMLMap, at: Location): JsonObject {
    const members = new Map<string, Json>();
    const own = new Set<string>();
    for (const [index, pair] of map.items.entries()) {
      if (isMergeKey(pair)) {
        for (const [name, value] of this.#merged(pair, at, index)) members.set(name, value);
        continue;
      }
      const name = this.#key(pair.key as Node | null, at);
      if (name === undefined) continue;
      const inside = { ...below(at, name), key: offsetOf(pair.key as Node) };
      if (own.has(name)) this.#refuseRepeated(pair.key as Node, inside, own);
      own.add(name);
      members.set(name, this.value(pair.value as Node | null, inside));
    }
    return Object.fromEntries(members);
  }

  /** `own` = the keys before it in the same mapping. */
  #refuseRepeated(key: Node, at: Location, own: Set<string>): void {
    const isOther = objectKeys.has(at.pointer);
    const message = `The key ${JSON.stringify(String((key as Scalar).value))} is there twice`;
    this.#refuse(key, at, isOther ? `${message}: ${newObject}` : message);
    // The keys that follow are those of the other object.
    if (isOther) own.clear();
  }

  /** The name of a member; undefined when it is refused. */
  #key(key: Node | null, at: Location): string | undefined {
    if (key === null || !isScalar(key) || (key.tag !== undefined && key.tag !== textTag)) {
      this.#refuse(key, at, "A key must be a plain text");
      return undefined;
    }
    const text = String(key.value ?? "");
    if (key.type !== "PLAIN" || key.tag === textTag) return text;
    const reading = readPlainScalar(text);
    // A number with a fraction is rounded to 32 bits when kubectl makes a key of it.
    const stays =
      reading.ok &&
      String(reading.value) === text &&
      (typeof reading.value !== "number" || Number.isInteger(reading.value));
    if (stays && reading.value !== null) return text;
    const as = reading.ok ? `is read as ${described(reading.value)} by kubectl` : "is not a text";
    this.#refuse(
      key,
      below(at, text),
      `The unquoted key ${text === "" ? "(nothing)" : text} ${as}: write "${text}" in quotes`,
    );
    return undefined;
  }

  #merged(pair: Pair, at: Location, index: number): readonly (readonly [string, Json])[] {
    if (index > 0) {
      this.#refuse(pair.key as Node, at, "Write << first: kubectl lets it overwrite what stands before it");
      return [];
    }
    const source = pair.value as Node | null;
    const sources = isSeq(source) ? source.items : [source];
    // The first of several wins.
    return sources.toReversed().flatMap((each) => {
      const value = this.value(each as Node | null, at);
      if (isObject(value)) return Object.entries(value);
      this.#refuse(source, at, "<< takes a mapping or a list of mappings");
      return [];
    });
  }

  #refuse(node: Node | null, at: Location, message: string): null {
    const offset = node === null ? (at.key ?? 0) : offsetOf(node);
    this.#add(this.faults, { offset, pointer: at.pointer, message });
    return null;
  }

  /** Each fault once, also where several aliases repeat it. */
  #add(known: Fault[], fault: Fault): void {
    const isKnown =
      this.#expanding.size > 0 &&
      known.some(({ offset, message }) => offset === fault.offset && message === fault.message);
    if (!isKnown) known.push(fault);
  }
}

function isMergeKey(pair: Pair): boolean {
  return isScalar(pair.key) && pair.key.type === "PLAIN" && pair.key.value === "<<";
}

function below(at: Location, name: string): Location {
  return { pointer: childPointer(at.pointer, name), depth: at.depth + 1 };
}

function offsetOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

function described(value: Json): string {
  if (value === null) return "null";
  return typeof value === "boolean" ? `the boolean ${value}` : `the number ${String(value)}`;
}

export type ScalarReading =
  | {
      readonly ok: true;
      readonly value: Json;
      /** True when most people, and YAML 1.2, read the text as something else. */
      readonly surprising: boolean;
    }
  | { readonly ok: false; readonly message: string };

const yes = ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON"];
const no = ["n", "N", "no", "No", "NO", "off", "Off", "OFF"];
const plainTrue = ["true", "True", "TRUE"];
const plainFalse = ["false", "False", "FALSE"];
const nothing = ["", "~", "null", "Null", "NULL"];
const notFinite = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
/** After underscores are taken out; a leading 0 makes octal. */
const integer = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
const decimal = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const commonInteger = /^-?(?:0|[1-9][0-9]*)$/;
const minInteger = -(2n ** 63n);
const maxInteger = 2n ** 64n - 1n;

export function readPlainScalar(text: string): ScalarReading {
  const word = wordValue(text);
  if (word !== undefined) return { ok: true, value: word.value, surprising: word.surprising };
  if (notFinite.test(text)) return { ok: false, message: `JSON has no ${text}: write it in quotes, as a text` };
  // A text that starts with none of these is never a number, whatever underscores it has.
  if (!/^[-+.0-9]/.test(text)) return { ok: true, value: text, surprising: false };
  const digits = text.startsWith(".") ? text : text.replaceAll("_", "");
  if (integer.test(digits)) return integerReading(text, digits);
  return decimal.test(digits) ? decimalReading(text, Number(digits)) : { ok: true, value: text, surprising: false };
}

function wordValue(text: string): { readonly value: Json; readonly surprising: boolean } | undefined {
  if (nothing.includes(text)) return { value: null, surprising: false };
  if (plainTrue.includes(text)) return { value: true, surprising: false };
  if (plainFalse.includes(text)) return { value: false, surprising: false };
  if (yes.includes(text)) return { value: true, surprising: true };
  if (no.includes(text)) return { value: false, surprising: true };
  return undefined;
}

function integerReading(text: string, digits: string): ScalarReading {
  const value = integerValue(digits);
  const surprising = !commonInteger.test(text) && !/^[-+]?0[xX]/.test(text);
  // Beyond 64 bits go-yaml tries a decimal number.
  if (value < minInteger || value > maxInteger) {
    if (decimal.test(digits)) return decimalReading(text, Number(digits));
    return { ok: true, value: text, surprising: true };
  }
  // kubectl keeps every digit, and the operator reads the nearest double. Fields for which that is
  // not enough are strings.
  return { ok: true, value: Number(value), surprising };
}

function integerValue(digits: string): bigint {
  const negative = digits.startsWith("-");
  const unsigned = digits.replace(/^[-+]/, "");
  const octal = /^0[oO]?(?=[0-7])/.exec(unsigned);
  const value = BigInt(octal === null ? unsigned : `0o${unsigned.slice(octal[0].length)}`);
  return negative ? -value : value;
}

function decimalReading(text: string, value: number): ScalarReading {
  if (!Number.isFinite(value)) {
    return { ok: false, message: `The number ${text} is too large: write it in quotes, as a text` };
  }
  return { ok: true, value: value === 0 ? 0 : value, surprising: text.includes("_") || /^[-+]?0[0-9]/.test(text) };
}
