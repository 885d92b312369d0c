// Turns a double into the number text that Redis JSON returns unchanged.
//
// Redis JSON (2.8) reads a fraction as integer digits times or divided by a power of ten. For about
// one in ten numbers of 16 or 17 digits that misses the nearest double, and it reads its own text
// again on every RDB load and full resync. Such a value is moved here first, to the nearest one
// that stays: what a client is answered is what it reads after any restart, and index entries match
// their objects.

const bits = new DataView(new ArrayBuffer(8));

/** The doubles around `value`, `steps` units in the last place away; positive = upward. */
export function stepped(value: number, steps: number): number {
  bits.setFloat64(0, value);
  const raw = bits.getBigInt64(0);
  // Doubles order as sign and magnitude; as two's complement they are evenly spaced through zero.
  const ordered = (raw < 0n ? -(raw & 0x7fff_ffff_ffff_ffffn) : raw) + BigInt(steps);
  bits.setBigInt64(0, ordered < 0n ? -ordered - 0x8000_0000_0000_0000n : ordered);
  return bits.getFloat64(0);
}

/** Shortest digits with `.0` or an exponent: `100.0`, `0.00001`, `1e16`, `1.5e-7`. */
export function shortestText(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  // `String` uses exponents from 1e21 and below 1e-6 only, so within these bounds it is positional.
  if (magnitude >= 1e-5 && magnitude < 1e16) return Number.isInteger(value) ? `${value}.0` : String(value);
  return value.toExponential().replace("e+", "e");
}

/** The double that Redis JSON reads from a text of at most 19 digits. */
function readBack(text: string): number {
  const letter = text.indexOf("e");
  const mantissa = letter < 0 ? text : text.slice(0, letter);
  const exponent = letter < 0 ? 0 : Number(text.slice(letter + 1));
  const dot = mantissa.indexOf(".");
  if (dot < 0) return scaled(Number(mantissa), exponent);
  const digits = mantissa.slice(0, dot) + mantissa.slice(dot + 1);
  return scaled(Number(digits), exponent - (mantissa.length - dot - 1));
}

/** Correctly rounded, which `10 ** n` is not. */
const powersOfTen = Array.from({ length: 309 }, (_, exponent) => Number(`1e${exponent}`));

function scaled(significand: number, exponent: number): number {
  if (exponent < -308) return scaled(significand / 1e308, exponent + 308);
  const power = powersOfTen[Math.abs(exponent)] ?? Number.POSITIVE_INFINITY;
  return exponent < 0 ? significand / power : significand * power;
}

/** At most 15 significant digits and a small power of ten are exact in one operation. */
function surelyStays(text: string, magnitude: number): boolean {
  return magnitude === 0 || (text.length <= 16 && magnitude >= 1e-5 && magnitude < 1e15);
}

/**
 * The text under which a finite double is stored and served. It denotes `value` itself, or, when
 * Redis JSON could not keep that, the nearest double that it keeps: one unit in the last place away
 * between 1e-5 and 1e15, at most a few dozen beyond.
 */
export function doubleText(value: number): string {
  const text = shortestText(value);
  if (surelyStays(text, Math.abs(value))) return text;
  const stored = readBack(text);
  return stored === value ? text : shortestText(nearestThatStays(value, stored));
}

/** `stored`, what Redis JSON makes of `value`, unless it would move again at the next reading. */
function nearestThatStays(value: number, stored: number): number {
  if (stays(stored)) return stored;
  for (let steps = 1; ; steps++) {
    if (stays(stepped(value, -steps))) return stepped(value, -steps);
    if (stays(stepped(value, steps))) return stepped(value, steps);
  }
}

function stays(value: number): boolean {
  return Number.isFinite(value) && readBack(shortestText(value)) === value;
}
