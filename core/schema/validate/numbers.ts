// Exact numbers, where a double is not enough: integers beyond 2^53 as written in the JSON text,
// and multipleOf in decimals, so that 19.99 is a multiple of 0.01.

import { decimalOf, scaled } from "../../json/decimal.ts";
import { parseJsonNumbers } from "../../json/parse-json.ts";

/** The exact integer at a member or index of a container, where the double there is not exact. */
export class ExactIntegers {
  readonly #byContainer = new Map<unknown, Map<string, bigint>>();

  set(container: unknown, key: string, integer: bigint): void {
    const members = this.#byContainer.get(container);
    if (members === undefined) this.#byContainer.set(container, new Map([[key, integer]]));
    else members.set(key, integer);
  }

  at(container: unknown, key: string | number): bigint | undefined {
    return this.#byContainer.get(container)?.get(String(key));
  }
}

const manyDigits = /\d{16}/;
const wholeNumber = /^-?\d+$/;

/**
 * The parsed text with its large integers; undefined when it has none and `parseJson` is enough.
 */
export function readExactly(text: string): { readonly value: unknown; readonly integers: ExactIntegers } | undefined {
  if (!manyDigits.test(text)) return undefined;
  const integers = new ExactIntegers();
  const value = parseJsonNumbers(text, (container, key, number, source) => {
    if (!Number.isSafeInteger(number) && wholeNumber.test(source)) integers.set(container, key, BigInt(source));
  });
  return { value, integers };
}

/** In units of Meter: decimal arithmetic costs more the further the magnitudes lie apart. */
export function costOfMultipleOf(value: number, divisor: number): number {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return 5;
  return 60 + Math.ceil(Math.abs(Math.log10(Math.abs(value) || 1)) + Math.abs(Math.log10(divisor)));
}

export function isMultipleOf(value: number | bigint, divisor: number): boolean {
  if (typeof value === "number" && Number.isSafeInteger(value) && Number.isSafeInteger(divisor))
    return value % divisor === 0;
  const dividend = decimalOf(String(value));
  const by = decimalOf(String(divisor));
  const exponent = Math.min(dividend.exponent, by.exponent);
  return scaled(dividend, exponent) % scaled(by, exponent) === 0n;
}
