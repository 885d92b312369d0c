// Exact decimal arithmetic on the texts of JSON numbers, where doubles would round: 0.1 + 0.2 is
// 0.3, and 19.99 is a multiple of 0.01.

import { doubleText } from "./number.ts";

export interface Decimal {
  /** value = digits × 10^exponent */
  readonly digits: bigint;
  readonly exponent: number;
}

/** `text` is a JSON number's. */
export function decimalOf(text: string): Decimal {
  const [mantissa = "0", power = "0"] = text.split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

/** The digits at another exponent, which is not greater. */
export function scaled({ digits, exponent }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}

/** Below 0 when the number `left` is less than `right`, 0 when both have one value. */
export function compareNumbers(left: string, right: string): number {
  const [one, other] = [decimalOf(left), decimalOf(right)];
  const exponent = Math.min(one.exponent, other.exponent);
  const difference = scaled(one, exponent) - scaled(other, exponent);
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

const minInteger = -(2n ** 63n);
const maxInteger = 2n ** 64n - 1n;

/**
 * The canonical text of the sum of two canonical numbers; undefined when it is beyond what is
 * stored. An integer stays one while the sum is one. Another sum is exact in decimals, and then
 * stored as every fraction is: as the nearest double that stays (number.ts).
 */
export function sumOfNumbers(number: string, addend: string): string | undefined {
  const [one, other] = [decimalOf(number), decimalOf(addend)];
  const exponent = Math.min(one.exponent, other.exponent);
  const digits = scaled(one, exponent) + scaled(other, exponent);
  // The exponent of an integer's text is 0, so that of the sum is 0 at most.
  const unit = /[.e]/.test(number) ? undefined : 10n ** BigInt(-exponent);
  if (unit !== undefined && digits % unit === 0n) {
    const sum = digits / unit;
    return sum >= minInteger && sum <= maxInteger ? String(sum) : undefined;
  }
  const sum = Number(`${digits}e${exponent}`);
  return Number.isFinite(sum) ? doubleText(sum) : undefined;
}
