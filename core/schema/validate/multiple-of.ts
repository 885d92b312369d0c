// Judges multipleOf as decimal arithmetic does, so that 19.99 is a multiple of 0.01, and for integers of any size.

interface Decimal {
  /** value = digits × 10^exponent */
  readonly digits: bigint;
  readonly exponent: number;
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

function decimalOf(text: string): Decimal {
  const [mantissa = "0", power = "0"] = text.split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

function scaled({ digits, exponent }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}
