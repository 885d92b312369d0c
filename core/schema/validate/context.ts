// What one compiled schema shares while it validates: the budget of work, exact integers, and the
// functions that ajv made of the subschemas which checks apply.

import type { AnyValidateFunction } from "ajv/dist/types/index.js";
import { Meter } from "../meter.ts";
import type { Patterns } from "../pattern/matcher.ts";
import type { SchemaNode, SchemaTree } from "../read/schema-tree.ts";
import { ExactIntegers } from "./numbers.ts";

/** What a check found. */
export interface Failure {
  /** RFC 6901, from the value that was checked. */
  readonly pointer: string;
  readonly keyword: string;
  /** Undefined where a subschema is `false`, which only a complete pointer shows. */
  readonly message?: string;
}

/** A failure as ajv reports it. */
export interface AjvFailure {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * The failures of the value at `key` of `parent`, some 100 at most; undefined when it is valid.
 * @throws WorkExhausted
 */
export type Check = (value: unknown, parent: object, key: string | number) => readonly Failure[] | undefined;

export class ValidationContext {
  readonly patterns: Patterns;
  readonly meter = new Meter();
  exact = new ExactIntegers();
  readonly #functions = new Map<number, AnyValidateFunction>();

  constructor(patterns: Patterns) {
    this.patterns = patterns;
  }

  /** Starts a validation with so many units to spend. */
  begin(work: number, exact: ExactIntegers): void {
    this.meter.left = work;
    this.exact = exact;
  }

  /** Takes the function that ajv made of the schema object with this id. */
  add(id: number, validate: AnyValidateFunction): void {
    this.#functions.set(id, validate);
  }

  /** Whether the value at `key` of `parent` is valid against a subschema. @throws WorkExhausted */
  accepts(tree: SchemaTree, value: unknown, parent: object, key: string | number): boolean {
    return typeof tree === "boolean" ? tree : this.#functionOf(tree)(value, location(parent, key)) === true;
  }

  /**
   * The failures of the value at `key` of `parent`, with paths from there; none when it is valid.
   * @throws WorkExhausted
   */
  validate(node: SchemaNode, value: unknown, parent: object, key: string | number): readonly AjvFailure[] {
    const compiled = this.#functionOf(node);
    return compiled(value, location(parent, key)) === true ? [] : ((compiled.errors ?? []) as readonly AjvFailure[]);
  }

  #functionOf({ id, pointer }: SchemaNode): AnyValidateFunction {
    const compiled = this.#functions.get(id);
    if (compiled === undefined) throw new TypeError(`ajv was not asked for a function of ${pointer}`);
    return compiled;
  }
}

/** ajv's type has what it passes by itself; this has what its functions read. */
function location(parentData: object, parentDataProperty: string | number): Parameters<AnyValidateFunction>[1] {
  return {
    instancePath: "",
    parentData,
    parentDataProperty,
    rootData: parentData,
  } as unknown as Parameters<AnyValidateFunction>[1];
}
