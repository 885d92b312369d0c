// Counts the work of one validation, so that no schema and no value can block the process. Charges
// depend on the schema and the value alone, never on the clock, so the same value always gets the
// same answer.

import { isObject } from "../json/json-value.ts";

/** Thrown out of a validation whose budget is spent. */
export class WorkExhausted extends Error {
  override readonly name = "WorkExhausted";
}

/** What one visit of one schema object costs, beyond what the schemas inside it cost. */
export interface VisitCost {
  /** Units for every value. */
  readonly base: number;
  /** Units per member, where the value is an object. */
  readonly perMember: number;
  /** Calls per member that carry the member's name: long names are copied by each. */
  readonly callsPerMember: number;
  /** Units per 16 characters, where the value is a string. */
  readonly perCharacters: number;
}

/** From this length on, copying a name counts. */
const longName = 64;

/** A budget in units of some fifteen nanoseconds. */
export class Meter {
  left = 0;

  /** @throws WorkExhausted */
  spend(units: number): void {
    this.left -= units;
    if (this.left < 0) throw new WorkExhausted();
  }

  /** Charges the part of a VisitCost that depends on the value's size. @throws WorkExhausted */
  spendOn(value: unknown, perMember: number, callsPerMember: number, perCharacters: number): void {
    if (typeof value === "string") {
      this.spend((perCharacters * value.length) >> 4);
    } else if (isObject(value)) {
      const names = Object.keys(value);
      this.spend(perMember * names.length);
      for (const name of names) if (name.length > longName) this.spend((callsPerMember * name.length) >> 3);
    }
  }
}
