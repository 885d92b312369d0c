// Runs a pattern's program over a text in one pass, as a deterministic automaton that is built as
// needed. Every character and every new state is charged, so that a hostile pattern runs out of
// budget.

import { schemaLimits } from "../limits.ts";
import type { Meter } from "../meter.ts";
import { PatternError, parsePattern } from "./parse-pattern.ts";
import { buildProgram, type Instruction, type Program } from "./program.ts";

/** What stands before a position, as far as assertions ask. */
type Before = 0 | 1 | 2;
const atStart: Before = 0;
const afterOther: Before = 1;
const afterWord: Before = 2;

interface State {
  /** Where the automaton may stand, before the empty steps that depend on the next character. */
  readonly positions: readonly number[];
  readonly before: Before;
  /** By symbol; undefined = not built yet. */
  readonly next: (State | typeof accepted | undefined)[];
  acceptsAtEnd: boolean | undefined;
}

/** A class of code points that every set of the pattern treats alike. */
interface Symbol {
  readonly id: number;
  readonly word: boolean;
  readonly members: readonly boolean[];
}

const accepted = "accepted";
const endOfText = undefined;

/** States kept per pattern; beyond it all are dropped and built again: some 200 KiB. */
const maxCachedEntries = 10_000;
const maxCachedSymbols = 2_000;

export class PatternMatcher {
  readonly #program: Program;
  readonly #states = new Map<string, State>();
  /**
   * By code point: ASCII in a list, because most texts are ASCII and a list is five times as fast.
   */
  readonly #ascii: (Symbol | undefined)[] = new Array<Symbol | undefined>(128).fill(undefined);
  readonly #symbols = new Map<number, Symbol>();
  readonly #symbolsByMembers = new Map<string, Symbol>();
  #cachedEntries = 0;
  /** At the start of every text. */
  #first: State | undefined;

  constructor(program: Program) {
    this.#program = program;
  }

  /** Instructions of the program, a measure of what it costs to keep and to run. */
  get steps(): number {
    return this.#program.instructions.length;
  }

  /** True when some part of `text` matches. @throws WorkExhausted */
  test(text: string, meter: Meter): boolean {
    meter.spend(2 * text.length + 4);
    this.#first ??= this.#state([this.#program.start], atStart, meter);
    let state = this.#first;
    for (let at = 0; at < text.length; at++) {
      const codePoint = text.codePointAt(at) ?? 0;
      if (codePoint > 0xffff) at++;
      const known = codePoint < 128 ? this.#ascii[codePoint] : this.#symbols.get(codePoint);
      const symbol = known ?? this.#classify(codePoint, meter);
      const next = state.next[symbol.id] ?? this.#step(state, symbol, meter);
      if (next === accepted) return true;
      if (next.positions.length === 0) return false;
      state = next;
    }
    state.acceptsAtEnd ??= this.#closure(state, endOfText, meter) === accepted;
    return state.acceptsAtEnd;
  }

  #step(state: State, symbol: Symbol, meter: Meter): State | typeof accepted {
    const reached = this.#closure(state, symbol, meter);
    let next: State | typeof accepted = accepted;
    if (reached !== accepted) {
      const positions = new Set<number>();
      for (const instruction of reached) {
        if (instruction.op === "set" && symbol.members[instruction.set]) positions.add(instruction.next);
      }
      if (!this.#program.anchored) positions.add(this.#program.start);
      next = this.#state(
        [...positions].sort((a, b) => a - b),
        symbol.word ? afterWord : afterOther,
        meter,
      );
    }
    this.#cachedEntries++;
    state.next[symbol.id] = next;
    return next;
  }

  /** The consuming instructions, or a match, that empty steps reach from a state. */
  #closure(state: State, symbol: Symbol | undefined, meter: Meter): readonly Instruction[] | typeof accepted {
    const { instructions } = this.#program;
    const seen = new Set<number>(state.positions);
    const reached: Instruction[] = [];
    for (const position of seen) {
      const instruction = instructions[position];
      if (instruction === undefined) continue;
      if (instruction.op === "match") return accepted;
      if (instruction.op === "set") reached.push(instruction);
      else if (instruction.op === "split") seen.add(instruction.first).add(instruction.second);
      else if (holds(instruction.assertion, state.before, symbol)) seen.add(instruction.next);
    }
    meter.spend(10 + 5 * seen.size);
    return reached;
  }

  #state(positions: readonly number[], before: Before, meter: Meter): State {
    const key = `${before}:${positions.join(",")}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    meter.spend(10 + 10 * positions.length);
    this.#cachedEntries += 8 + positions.length;
    if (this.#cachedEntries > maxCachedEntries) {
      this.#states.clear();
      this.#first = undefined;
      this.#cachedEntries = 8 + positions.length;
    }
    const state: State = { positions, before, next: [], acceptsAtEnd: undefined };
    this.#states.set(key, state);
    return state;
  }

  #classify(codePoint: number, meter: Meter): Symbol {
    const { sets } = this.#program;
    meter.spend(10 + 10 * sets.length);
    const members = sets.map((set) => set.has(codePoint));
    const word = isWord(codePoint);
    const key = `${word ? "w" : "-"}${members.map((member) => (member ? "1" : "0")).join("")}`;
    const symbol = this.#symbolsByMembers.get(key) ?? { id: this.#symbolsByMembers.size, word, members };
    this.#symbolsByMembers.set(key, symbol);
    if (codePoint < 128) {
      this.#ascii[codePoint] = symbol;
    } else {
      if (this.#symbols.size >= maxCachedSymbols) this.#symbols.clear();
      this.#symbols.set(codePoint, symbol);
    }
    return symbol;
  }
}

function holds(
  assertion: (Instruction & { op: "assert" })["assertion"],
  before: Before,
  next: Symbol | undefined,
): boolean {
  if (assertion === "start") return before === atStart;
  if (assertion === "end") return next === endOfText;
  const boundary = (before === afterWord) !== (next?.word ?? false);
  return assertion === "boundary" ? boundary : !boundary;
}

/** ECMA's word characters. */
function isWord(codePoint: number): boolean {
  return (
    (codePoint >= 0x61 && codePoint <= 0x7a) ||
    (codePoint >= 0x41 && codePoint <= 0x5a) ||
    (codePoint >= 0x30 && codePoint <= 0x39) ||
    codePoint === 0x5f
  );
}

/** `ignoreCase`: of the entire pattern. @throws PatternError with position and advice */
export function compilePattern(source: string, ignoreCase = false): PatternMatcher {
  return new PatternMatcher(buildProgram(parsePattern(source, ignoreCase)));
}

/** The compiled patterns of one schema. */
export class Patterns {
  readonly #matchers = new Map<string, PatternMatcher>();
  #steps = 0;

  /** @throws PatternError, about too many patterns only once */
  add(source: string): void {
    if (this.#matchers.has(source) || this.#steps > schemaLimits.patternSteps) return;
    this.#steps += this.matcher(source).steps;
    if (this.#steps > schemaLimits.patternSteps) {
      throw new PatternError(
        `All patterns together have more than ${schemaLimits.patternSteps} steps; use minLength and maxLength to bound strings`,
      );
    }
  }

  /** The matcher of a pattern that was added, or of one that this service wrote. */
  matcher(source: string): PatternMatcher {
    const known = this.#matchers.get(source);
    if (known !== undefined) return known;
    const matcher = compilePattern(source);
    this.#matchers.set(source, matcher);
    return matcher;
  }
}
