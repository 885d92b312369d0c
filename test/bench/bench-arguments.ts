// What the benchmarks take: `--write`, and numbers from the environment. Refuses, with WrongArguments, what is neither.

import { readArguments, wholeNumber } from "../../tools/script-arguments.ts";

export const writeFlag = { write: { type: "boolean", default: false } } as const;

/** Whether the page is to be written. */
export function readWrite(): boolean {
  return readArguments(writeFlag).values.write;
}

/** How long is measured: BENCH_ROUNDS and BENCH_SECONDS, or what is usual. */
export function readLength(usual: { readonly rounds: number; readonly seconds: number }): typeof usual {
  return { rounds: numberFrom("BENCH_ROUNDS", usual.rounds), seconds: numberFrom("BENCH_SECONDS", usual.seconds) };
}

/** Numbers with commas between them. */
export function numbersFrom(variable: string, usual: readonly number[]): readonly number[] {
  const text = process.env[variable];
  return text === undefined ? usual : text.split(",").map((each) => wholeNumber(variable, each, 1));
}

function numberFrom(variable: string, usual: number): number {
  return numbersFrom(variable, [usual])[0] ?? usual;
}
