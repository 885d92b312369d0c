// What the keywords of one compiled schema share while it validates: the budget, exact integers, and the validators of the
// schemas inside that keywords call by themselves.

import type { AnyValidateFunction } from "ajv/dist/types/index.js";
import { ExactIntegers } from "./exact-integers.ts";
import { Meter } from "./work.ts";

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
  readonly #validators = new Map<number, Validator>();
  #find: (id: number) => AnyValidateFunction = () => {
    throw new TypeError("The schema is not compiled yet");
  };

  /** Starts a validation with so many units to spend. */
  begin(work: number, exact: ExactIntegers): void {
    this.meter.left = work;
    this.exact = exact;
  }

  /** `find` gives the function that ajv made of a schema. */
  compiled(find: (id: number) => AnyValidateFunction): void {
    this.#find = find;
  }

  /** The validator of the schema with this id: its failures, none when the value is valid. */
  validator(id: number): Validator {
    const known = this.#validators.get(id);
    if (known !== undefined) return known;
    const check = this.#find(id);
    const validator: Validator = (value, place) => {
      // ajv's type lists what it passes itself as an object of records; places are what it passes.
      const isValid = check(value, place as unknown as Parameters<typeof check>[1]);
      return isValid === true ? [] : ((check.errors ?? []) as readonly Failure[]);
    };
    this.#validators.set(id, validator);
    return validator;
  }
}
