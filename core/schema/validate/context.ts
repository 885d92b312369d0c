// What the keywords of one compiled schema share while it validates: the budget, exact integers, and the validators of the
// schemas inside that keywords call by themselves.

import type { AnyValidateFunction } from "ajv/dist/types/index.js";
import { Meter } from "../meter.ts";
import { ExactIntegers } from "./exact-integers.ts";

/** A failure as ajv and the keywords of this folder report it. */
export interface Failure {
  readonly keyword: string;
  /** RFC 6901; undefined = where the keyword's value is. */
  readonly instancePath?: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Ready for the client; undefined for ajv's own keywords. */
  readonly message?: string;
}

/** Where a value stands; ajv hands it to keywords and functions. */
export interface ValuePlace {
  readonly instancePath: string;
  readonly parentData: unknown;
  readonly parentDataProperty: string | number;
  readonly rootData: unknown;
}

export type Validator = (value: unknown, place: ValuePlace) => readonly Failure[];

export class ValidationContext {
  readonly meter = new Meter();
  exact = new ExactIntegers();
  /** What the compiled code refers to. */
  readonly shared: unknown[] = [];
  readonly #validators = new Map<number, Validator>();

  /** Starts a validation with so many units to spend. */
  begin(work: number, exact: ExactIntegers): void {
    this.meter.left = work;
    this.exact = exact;
  }

  /** Takes the function that ajv made of the schema with this id. */
  add(id: number, check: AnyValidateFunction): void {
    this.#validators.set(id, (value, place) => {
      // ajv's type has what it passes by itself; a place has what its functions read.
      const isValid = check(value, place as unknown as Parameters<typeof check>[1]);
      return isValid === true ? [] : ((check.errors ?? []) as readonly Failure[]);
    });
  }

  /** The validator of the schema with this id: its failures, none when the value is valid. */
  validator(id: number): Validator {
    const validator = this.#validators.get(id);
    if (validator === undefined) throw new TypeError(`No keyword calls schema ${id}`);
    return validator;
  }
}
