// Reads the arguments of a script that a person runs. Refuses, with WrongArguments, what the script
// doesn't take.

import { type ParseArgsConfig, parseArgs } from "node:util";

/** Its message says which argument is wrong and what may be written instead. */
export class WrongArguments extends Error {
  override readonly name = "WrongArguments";
}

export type Flags = NonNullable<ParseArgsConfig["options"]>;

export interface ScriptArguments<F extends Flags> {
  readonly values: ReturnType<typeof parseArgs<{ options: F }>>["values"];
  /** Arguments without a flag. */
  readonly words: readonly string[];
}

/**
 * `words` names the arguments without a flag, such as `["[COMMIT]"]`; a last one that ends with `…`
 * may be repeated.
 */
export function readArguments<const F extends Flags>(
  options: F,
  words: readonly string[] = [],
  args: readonly string[] = process.argv.slice(2),
): ScriptArguments<F> {
  const taken = [...Object.entries(options).map(([name, { type }]) => usage(name, type)), ...words];
  const takes = taken.length === 0 ? "It takes no arguments" : `It takes ${taken.join(", ")}`;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const surplus = words.at(-1)?.endsWith("…") ? [] : positionals.slice(words.length);
    if (surplus.length > 0) throw new WrongArguments(`${surplus.join(" ")} is not an argument of it. ${takes}`);
    return { values, words: positionals };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // What follows the first sentence is advice about quoting.
    throw new WrongArguments(`${error.message.split(/\.\s/, 1)[0]}. ${takes}`, { cause: error });
  }
}

/** `what` is a flag or a variable. */
export function wholeNumber(what: string, text: string, least = 0): number {
  const value = Number(text);
  if (/^\d{1,15}$/.test(text) && value >= least) return value;
  throw new WrongArguments(`${what} is ${JSON.stringify(text)}: it takes a whole number of at least ${least}`);
}

function usage(name: string, type: "boolean" | "string"): string {
  return type === "boolean" ? `--${name}` : `--${name} ${name.toUpperCase()}`;
}

function isRefusal(error: unknown): error is Error {
  return error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_");
}
