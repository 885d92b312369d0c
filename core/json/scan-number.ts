// Finds the end of a number in JSON text and its canonical form: integers stay, fractions and
// exponents become the text of a double. Refuses bad grammar, integers outside [-2^63, 2^64-1] and
// magnitudes that a double can't hold.

import { characterAt, JsonRefusal } from "./json-error.ts";
import { doubleText } from "./number.ts";

const minus = 0x2d;
const plus = 0x2b;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;

const maxInteger = "18446744073709551615";
const maxNegativeDigits = "9223372036854775808";

function digitsEnd(source: string, start: number): number {
  let at = start;
  for (let unit = source.charCodeAt(at); unit >= zero && unit <= nine; unit = source.charCodeAt(at)) at++;
  if (at === start) {
    throw new JsonRefusal("malformed_json", `A digit is expected, not ${characterAt(source, at)}`, at);
  }
  return at;
}

/** The end of the sign and the integer part. */
export function wholeEnd(source: string, start: number): number {
  const first = source.charCodeAt(start) === minus ? start + 1 : start;
  const end = digitsEnd(source, first);
  if (end - first > 1 && source.charCodeAt(first) === zero) {
    throw new JsonRefusal("malformed_json", "A number can't start with an extra zero", first);
  }
  return end;
}

/** The end of the number, given the end of its integer part; the same when it is an integer. */
export function numberEnd(source: string, whole: number): number {
  const afterFraction = source.charCodeAt(whole) === dot ? digitsEnd(source, whole + 1) : whole;
  const letter = source.charCodeAt(afterFraction) | 0x20;
  if (letter !== 0x65) return afterFraction;
  const sign = source.charCodeAt(afterFraction + 1);
  return digitsEnd(source, afterFraction + (sign === plus || sign === minus ? 2 : 1));
}

/** Undefined when the integer stays. `-0` becomes `-0.0`: only a double has a negative zero. */
export function integerRewrite(source: string, start: number, end: number): string | undefined {
  if (source.charCodeAt(start) === minus) {
    if (end - start === 2 && source.charCodeAt(start + 1) === zero) return "-0.0";
    refuseAbove(maxNegativeDigits, source.slice(start + 1, end), start);
  } else if (end - start >= maxInteger.length) {
    refuseAbove(maxInteger, source.slice(start, end), start);
  }
  return undefined;
}

function refuseAbove(bound: string, digits: string, start: number): void {
  if (digits.length < bound.length || (digits.length === bound.length && digits <= bound)) return;
  throw new JsonRefusal("number_out_of_range", "An integer must lie between -2^63 and 2^64-1", start);
}

/** Undefined when the number with a fraction or an exponent stays as it is. */
export function doubleRewrite(source: string, start: number, whole: number): string | undefined {
  const end = numberEnd(source, whole);
  if (isPlainFraction(source, start, whole, end)) return undefined;
  const value = Number(source.slice(start, end));
  if (!Number.isFinite(value)) {
    throw new JsonRefusal("number_out_of_range", "A number's magnitude must be below 1.8e308", start);
  }
  const text = doubleText(value);
  return source.startsWith(text, start) && text.length === end - start ? undefined : text;
}

/** A short `12.5` is its double's shortest text; anything else gets the full conversion. */
function isPlainFraction(source: string, start: number, whole: number, end: number): boolean {
  if (end - start > 16 || source.charCodeAt(whole) !== dot) return false;
  const fraction = end - whole - 1;
  const last = source.charCodeAt(end - 1);
  if (fraction === 1) return true;
  return last !== zero && source.charCodeAt(whole + 1) !== zero && !hasExponent(source, whole, end);
}

function hasExponent(source: string, whole: number, end: number): boolean {
  for (let at = whole + 1; at < end; at++) if (source.charCodeAt(at) > nine) return true;
  return false;
}
