// Turns the `default`s of a schema into what is filled into new objects. Reports each one that
// can't be filled in, and those that disagree or have no end.

import { canonicalJson } from "../../json/canonical.ts";
import { schemaLimits } from "../limits.ts";
import type { SchemaReport } from "../read/report.ts";
import { reachable, type SchemaNode, type SchemaTree, unconditional } from "../read/schema-tree.ts";
import { checkPlaces, defaultAt, nodesOf, otherMembers, plainParts, sourcesOf } from "./check-places.ts";
import { type Filling, insertionsOf, withInsertions } from "./filling.ts";

/** A default that is filled in, where the member is missing. */
export interface FilledDefault {
  /** The schemas that apply to the member. */
  readonly schemas: readonly SchemaTree[];
  /** The schema object that has the default. */
  readonly source: SchemaNode;
  /** Canonical JSON, with the defaults inside. */
  readonly text: string;
}

export interface DefaultsRead {
  /** Undefined where there is no default to fill in. */
  readonly filling: Filling | undefined;
  readonly filled: readonly FilledDefault[];
  /** The members that may be left out, by the pointer of each schema object. */
  readonly optional: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Complete unless something is reported. The schema has passed checkTree. */
export function readDefaults(root: SchemaNode, report: SchemaReport): DefaultsRead {
  checkPlaces(root, report);
  const reader = new DefaultsReader(report);
  const filling = report.problems.length > 0 ? undefined : reader.fillingOf([root]);
  return { filling, filled: reader.finish(), optional: reader.optional };
}

/** A Filling while it is made: it may contain itself. */
interface OpenFilling extends Filling {
  readonly defaults: Map<string, CompleteDefault>;
  readonly members: Map<string, Filling | undefined>;
  others: Filling | undefined;
  readonly first: (Filling | undefined)[];
  items: Filling | undefined;
}

class DefaultsReader {
  readonly optional = new Map<string, Set<string>>();
  readonly #report: SchemaReport;
  readonly #fillings = new Map<string, OpenFilling>();
  readonly #defaults: { readonly schemas: readonly SchemaTree[]; readonly value: CompleteDefault }[] = [];
  readonly #leading = new Map<SchemaNode, boolean>();
  readonly #room: Room = { characters: schemaLimits.filledText };
  /** How many more may be read. */
  #members: number = schemaLimits.filledMembers;

  constructor(report: SchemaReport) {
    this.#report = report;
  }

  /** What may be missing in a value of these schemas; undefined where nothing can be. */
  fillingOf(trees: readonly SchemaTree[]): Filling | undefined {
    const nodes = nodesOf(unconditional(trees));
    if (!nodes.some((node) => this.#leadsToDefaults(node))) return undefined;
    const key = [...new Set(nodes.map(({ id }) => id))].sort((left, right) => left - right).join();
    const known = this.#fillings.get(key);
    if (known !== undefined) return known;
    const filling = { defaults: new Map(), members: new Map(), others: undefined, first: [], items: undefined };
    this.#fillings.set(key, filling);
    this.#read(filling, nodes);
    return filling;
  }

  /** The defaults, each complete. */
  finish(): readonly FilledDefault[] {
    if (this.#members < 0) {
      this.#report.problem("", tooMany);
      return [];
    }
    const refused = new Set<SchemaNode>();
    const filled: FilledDefault[] = [];
    for (const { schemas, value } of this.#defaults) {
      const { source } = value;
      try {
        filled.push({ schemas, source, text: value.text });
      } catch (error) {
        if (!(error instanceof EndlessDefault)) throw error;
        if (!refused.has(source)) this.#report.problem(defaultAt(source), endless);
        refused.add(source);
      }
    }
    return filled;
  }

  #read(filling: OpenFilling, nodes: readonly SchemaNode[]): void {
    const names = new Set(nodes.flatMap(({ named }) => [...(named.get("properties")?.keys() ?? [])]));
    const first = Math.max(...nodes.map(({ lists }) => lists.get("prefixItems")?.length ?? 0));
    this.#members -= names.size + first + 1;
    if (this.#members < 0) return;
    for (const name of names) {
      const schemas = nodes.flatMap((node) => propertyOf(node, name) ?? otherMembers(node));
      const member = this.fillingOf(schemas);
      filling.members.set(JSON.stringify(name), member);
      const source = this.#defaultOf(schemas);
      if (source === undefined) continue;
      const value = new CompleteDefault(source, member, this.#room);
      filling.defaults.set(JSON.stringify(name), value);
      this.#defaults.push({ schemas, value });
      for (const { pointer } of nodes) this.#mayLeaveOut(pointer, name);
    }
    filling.others = this.fillingOf(nodes.flatMap(otherMembers));
    for (let index = 0; index < first; index += 1) {
      filling.first.push(this.fillingOf(nodes.flatMap((node) => itemOf(node, index))));
    }
    filling.items = this.fillingOf(nodes.flatMap((node) => itemOf(node, first)));
  }

  /** The one default of a member that these schemas declare. */
  #defaultOf(schemas: readonly SchemaTree[]): SchemaNode | undefined {
    const [first, ...others] = schemas.flatMap(sourcesOf);
    for (const other of others) {
      if (first === undefined || JSON.stringify(other.default) === JSON.stringify(first.default)) continue;
      this.#report.problem(defaultAt(other), `The same member has another default at ${defaultAt(first)}; write one`);
    }
    return first;
  }

  #mayLeaveOut(pointer: string, name: string): void {
    const names = this.optional.get(pointer);
    if (names === undefined) this.optional.set(pointer, new Set([name]));
    else names.add(name);
  }

  /** Whether a default may be filled in somewhere in a value of the node. */
  #leadsToDefaults(node: SchemaNode): boolean {
    const known = this.#leading.get(node);
    if (known !== undefined) return known;
    const leads = nodesOf(reachable(node, plainParts)).some(({ named }) =>
      [...(named.get("properties")?.values() ?? [])].some((tree) => sourcesOf(tree).length > 0),
    );
    this.#leading.set(node, leads);
    return leads;
  }
}

const tooMany = `Objects with defaults have more than ${schemaLimits.filledMembers} members, counted for every combination of schemas; use allOf less often`;
const endless = `The default would contain itself, or all together would have more than ${schemaLimits.filledText / 1024 / 1024} MiB, once the defaults inside are filled in`;

class EndlessDefault extends Error {}

/** What the texts of all defaults share. */
interface Room {
  characters: number;
}

/** A default with the defaults inside it, which are asked for only where they are missing. */
class CompleteDefault {
  readonly source: SchemaNode;
  readonly #inner: Filling | undefined;
  readonly #room: Room;
  #text: string | undefined;
  #isOpen = false;

  constructor(source: SchemaNode, inner: Filling | undefined, room: Room) {
    this.source = source;
    this.#inner = inner;
    this.#room = room;
  }

  get text(): string {
    if (this.#text !== undefined) return this.#text;
    if (this.#isOpen || this.#room.characters < 0) throw new EndlessDefault();
    this.#isOpen = true;
    this.#text = this.#complete();
    this.#room.characters -= this.#text.length;
    return this.#text;
  }

  #complete(): string {
    const own = canonicalJson(JSON.stringify(this.source.default), schemaLimits.depth);
    if (!own.ok) throw new TypeError(own.error.detail);
    const { text } = own.json;
    if (this.#inner === undefined) return text;
    const insertions = insertionsOf(this.#inner, text, schemaLimits.filledText);
    if (insertions === undefined) throw new EndlessDefault();
    return withInsertions(text, insertions);
  }
}

function propertyOf({ named }: SchemaNode, name: string): SchemaTree | undefined {
  return named.get("properties")?.get(name);
}

function itemOf({ lists, single }: SchemaNode, index: number): SchemaTree | readonly SchemaTree[] {
  return lists.get("prefixItems")?.[index] ?? single.get("items") ?? [];
}
