// Turns the tree of a pattern into a program of a non-deterministic automaton. Refuses programs
// that grow too large.

import { type Assertion, type CharacterSet, PatternError, type PatternNode } from "./parse-pattern.ts";

export type Instruction =
  | { readonly op: "match" }
  | { readonly op: "set"; readonly set: number; readonly next: number }
  | { readonly op: "assert"; readonly assertion: Assertion; readonly next: number }
  | { readonly op: "split"; readonly first: number; readonly second: number };

export interface Program {
  readonly instructions: readonly Instruction[];
  readonly sets: readonly CharacterSet[];
  readonly start: number;
  /** A match can only begin at the start of the text. */
  readonly anchored: boolean;
}

export const maxInstructions = 5000;

/** @throws PatternError when repetitions multiply to more than `maxInstructions` */
export function buildProgram(tree: PatternNode): Program {
  const builder = new ProgramBuilder();
  const start = builder.add(tree, builder.push({ op: "match" }));
  return { instructions: builder.instructions, sets: builder.sets, start, anchored: isAnchored(tree) };
}

/** Builds backwards: each node is added in front of the instruction that follows it. */
class ProgramBuilder {
  readonly instructions: Instruction[] = [];
  readonly sets: CharacterSet[] = [];
  readonly #setIndexes = new Map<string, number>();

  push(instruction: Instruction): number {
    if (this.instructions.length >= maxInstructions) {
      throw new PatternError(
        `the pattern's repetitions multiply to more than ${maxInstructions} steps; use minLength and maxLength to bound a string`,
      );
    }
    return this.instructions.push(instruction) - 1;
  }

  add(node: PatternNode, next: number): number {
    switch (node.kind) {
      case "set":
        return this.push({ op: "set", set: this.#setIndex(node.set), next });
      case "assert":
        return this.push({ op: "assert", assertion: node.assertion, next });
      case "sequence":
        return node.parts.reduceRight((following, part) => this.add(part, following), next);
      case "choice":
        return node.options
          .map((option) => this.add(option, next))
          .reduceRight((second, first) => this.push({ op: "split", first, second }));
      case "repeat":
        return this.#addRepeat(node, next);
    }
  }

  #addRepeat(node: PatternNode & { readonly kind: "repeat" }, next: number): number {
    let entry = node.max === Number.POSITIVE_INFINITY ? this.#addLoop(node.body, next) : next;
    if (node.max !== Number.POSITIVE_INFINITY) {
      for (let optional = node.min; optional < node.max; optional++) {
        entry = this.push({ op: "split", first: this.add(node.body, entry), second: next });
      }
    }
    for (let required = 0; required < node.min; required++) entry = this.add(node.body, entry);
    return entry;
  }

  #addLoop(body: PatternNode, next: number): number {
    const loop = this.push({ op: "match" });
    this.instructions[loop] = { op: "split", first: this.add(body, loop), second: next };
    return loop;
  }

  #setIndex(set: CharacterSet): number {
    const known = this.#setIndexes.get(set.key);
    if (known !== undefined) return known;
    const index = this.sets.push(set) - 1;
    this.#setIndexes.set(set.key, index);
    return index;
  }
}

function isAnchored(node: PatternNode): boolean {
  switch (node.kind) {
    case "assert":
      return node.assertion === "start";
    case "sequence":
      return node.parts[0] !== undefined && isAnchored(node.parts[0]);
    case "choice":
      return node.options.every(isAnchored);
    default:
      return false;
  }
}
