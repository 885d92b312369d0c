// Turns one parsed YAML document into JSON as kubectl reads it, with the place of every value. Refuses what is read in two
// ways or can't be said in JSON: ambiguous and repeated keys, tags, cycles, aliases that swell.

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
import { readPlainScalar } from "./kubectl-scalar.ts";
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
  /** What is read in a way that may surprise, and is not refused. */
  readonly notes: readonly Fault[];
}

const maxDepth = 128;
/** Values that aliases may add to one document. */
const maxAliased = 10_000;
/** What stands in a Secret is not repeated in messages. */
const secretEntry = /\/(?:data|stringData)\//;
const textTag = "tag:yaml.org,2002:str";

export function convertDocument(document: Document, positions: Positions): Conversion {
  const converter = new Converter(targetsOf(document), positions);
  const { contents } = document;
  if (contents === null || (isScalar(contents) && isNothing(contents)))
    return { value: undefined, faults: [], notes: [] };
  const value = converter.value(contents as Node, { pointer: "", depth: 0 });
  return { value, faults: converter.faults, notes: converter.notes };
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

interface Place {
  readonly pointer: string;
  readonly depth: number;
  /** Offset of the member's name. */
  readonly key?: number;
}

class Converter {
  readonly faults: Fault[] = [];
  readonly notes: Fault[] = [];
  readonly #targets: ReadonlyMap<Alias, Node>;
  readonly #positions: Positions;
  /** Nodes that are being expanded from an alias. */
  readonly #expanding = new Set<Node>();
  #aliased = 0;

  constructor(targets: ReadonlyMap<Alias, Node>, positions: Positions) {
    this.#targets = targets;
    this.#positions = positions;
  }

  value(node: Node | null, place: Place): Json {
    if (node === null) return null;
    if (isAlias(node)) return this.#alias(node, place);
    if (this.#swells(node, place)) return null;
    this.#remember(node, place);
    if (place.depth > maxDepth) return this.#refuse(node, place, `Nested more than ${maxDepth} levels deep`);
    if (isScalar(node)) return this.#scalar(node, place);
    if (node.tag !== undefined) {
      return this.#refuse(node, place, `The tag ${node.tag} means nothing in JSON: take it away`);
    }
    if (isSeq(node)) {
      return node.items.map((item, index) => this.value(item as Node | null, below(place, String(index))));
    }
    return isMap(node)
      ? this.#map(node, place)
      : this.#refuse(node, place, "Is neither a mapping, a list nor a scalar");
  }

  /** True when aliases have added too much; says so once. */
  #swells(node: Node, place: Place): boolean {
    if (this.#expanding.size === 0) return false;
    this.#aliased++;
    if (this.#aliased === maxAliased + 1) {
      this.#refuse(node, place, `Aliases swell this document by more than ${maxAliased} values`);
    }
    return this.#aliased > maxAliased;
  }

  #remember(node: Node, place: Place): void {
    this.#positions.add(place.pointer, {
      ...(place.key === undefined ? {} : { key: place.key }),
      value: offsetOf(node),
      container: !isScalar(node),
      ...(isScalar(node) && node.type === "PLAIN" ? { plain: node.source ?? "" } : {}),
    });
  }

  #alias(alias: Alias, place: Place): Json {
    const target = this.#targets.get(alias);
    if (target === undefined) return this.#refuse(alias, place, `No anchor &${alias.source} stands before this alias`);
    if (this.#expanding.has(target)) return this.#refuse(alias, place, `The anchor &${alias.source} contains itself`);
    this.#expanding.add(target);
    const value = this.value(target, place);
    this.#expanding.delete(target);
    return value;
  }

  #scalar(scalar: Scalar, place: Place): Json {
    const text = String(scalar.value ?? "");
    if (scalar.tag === textTag) return text;
    if (scalar.tag !== undefined) {
      return this.#refuse(scalar, place, `The tag ${scalar.tag} means nothing in JSON: write the value itself`);
    }
    if (scalar.type !== "PLAIN") return text;
    const reading = readPlainScalar(text);
    const secret = secretEntry.test(place.pointer);
    if (!reading.ok) return this.#refuse(scalar, place, secret ? "Is a number: write it in quotes" : reading.message);
    if (reading.surprising) {
      const message = secret
        ? "Without quotes this is no text for kubectl"
        : `The unquoted ${text} is read as ${said(reading.value)}, as kubectl reads it`;
      this.#tell(this.notes, { offset: offsetOf(scalar), pointer: place.pointer, message });
    }
    return reading.value;
  }

  #map(map: YAMLMap, place: Place): JsonObject {
    const members = new Map<string, Json>();
    const own = new Set<string>();
    for (const [index, pair] of map.items.entries()) {
      if (isMergeKey(pair)) {
        for (const [name, value] of this.#merged(pair, place, index)) members.set(name, value);
        continue;
      }
      const name = this.#key(pair.key as Node | null, place);
      if (name === undefined) continue;
      const inside = { ...below(place, name), key: offsetOf(pair.key as Node) };
      if (own.has(name)) this.#refuse(pair.key as Node, inside, `The key ${JSON.stringify(name)} is there twice`);
      own.add(name);
      members.set(name, this.value(pair.value as Node | null, inside));
    }
    return Object.fromEntries(members);
  }

  /** The name of a member; undefined when it is refused. */
  #key(key: Node | null, place: Place): string | undefined {
    if (key === null || !isScalar(key) || (key.tag !== undefined && key.tag !== textTag)) {
      this.#refuse(key, place, "A key must be a plain text");
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
    const as = reading.ok ? `is read as ${said(reading.value)} by kubectl` : "is no text";
    this.#refuse(
      key,
      below(place, text),
      `The unquoted key ${text === "" ? "(nothing)" : text} ${as}: write "${text}" in quotes`,
    );
    return undefined;
  }

  #merged(pair: Pair, place: Place, index: number): readonly (readonly [string, Json])[] {
    if (index > 0) {
      this.#refuse(pair.key as Node, place, "Write << first: kubectl lets it overwrite what stands before it");
      return [];
    }
    const source = pair.value as Node | null;
    const sources = isSeq(source) ? source.items : [source];
    // The first of several wins.
    return sources.toReversed().flatMap((each) => {
      const value = this.value(each as Node | null, place);
      if (isObject(value)) return Object.entries(value);
      this.#refuse(source, place, "<< takes a mapping or a list of mappings");
      return [];
    });
  }

  #refuse(node: Node | null, place: Place, message: string): null {
    const offset = node === null ? (place.key ?? 0) : offsetOf(node);
    this.#tell(this.faults, { offset, pointer: place.pointer, message });
    return null;
  }

  /** Once, however many aliases repeat the place. */
  #tell(told: Fault[], fault: Fault): void {
    const isTold =
      this.#expanding.size > 0 &&
      told.some(({ offset, message }) => offset === fault.offset && message === fault.message);
    if (!isTold) told.push(fault);
  }
}

function isMergeKey(pair: Pair): boolean {
  return isScalar(pair.key) && pair.key.type === "PLAIN" && pair.key.value === "<<";
}

function below(place: Place, name: string): Place {
  return { pointer: childPointer(place.pointer, name), depth: place.depth + 1 };
}

function offsetOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

function said(value: Json): string {
  if (value === null) return "null";
  return typeof value === "boolean" ? `the boolean ${value}` : `the number ${String(value)}`;
}
