// Reads an unquoted YAML scalar as kubectl does, that is, by the rules of YAML 1.1 as go-yaml has them: `yes` is true, 0777
// is 511, 2030-12-31 is a text. Refuses what has no form in JSON. The YAML library's own schema for 1.1
// is not go-yaml's: it reads 12:30:45 as 45045, 2030-12-31 as a date, `.` as NaN and ._5 as 0.5, and 0o17, 0B11 and 0X1f as texts.
import type { Json } from "../../core/config/types.ts";

export type ScalarReading =
  | {
      readonly ok: true;
      readonly value: Json;
      /** True when most people, and YAML 1.2, read the text as something else. */
      readonly surprising: boolean;
    }
  | { readonly ok: false; readonly message: string };

const yes = ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON"];
const no = ["n", "N", "no", "No", "NO", "off", "Off", "OFF"];
const plainTrue = ["true", "True", "TRUE"];
const plainFalse = ["false", "False", "FALSE"];
const nothing = ["", "~", "null", "Null", "NULL"];
const notFinite = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
/** After underscores are taken out; a leading 0 makes octal. */
const integer = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
const decimal = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const commonInteger = /^-?(?:0|[1-9][0-9]*)$/;
const minInteger = -(2n ** 63n);
const maxInteger = 2n ** 64n - 1n;

export function readPlainScalar(text: string): ScalarReading {
  const word = wordValue(text);
  if (word !== undefined) return { ok: true, value: word.value, surprising: word.surprising };
  if (notFinite.test(text)) return { ok: false, message: `JSON has no ${text}: write it in quotes, as a text` };
  // A text that starts with none of these is never a number, whatever underscores it has.
  if (!/^[-+.0-9]/.test(text)) return { ok: true, value: text, surprising: false };
  const digits = text.startsWith(".") ? text : text.replaceAll("_", "");
  if (integer.test(digits)) return integerReading(text, digits);
  return decimal.test(digits) ? decimalReading(text, Number(digits)) : { ok: true, value: text, surprising: false };
}

function wordValue(text: string): { readonly value: Json; readonly surprising: boolean } | undefined {
  if (nothing.includes(text)) return { value: null, surprising: false };
  if (plainTrue.includes(text)) return { value: true, surprising: false };
  if (plainFalse.includes(text)) return { value: false, surprising: false };
  if (yes.includes(text)) return { value: true, surprising: true };
  if (no.includes(text)) return { value: false, surprising: true };
  return undefined;
}

function integerReading(text: string, digits: string): ScalarReading {
  const value = integerValue(digits);
  const surprising = !commonInteger.test(text) && !/^[-+]?0[xX]/.test(text);
  // Beyond 64 bits go-yaml goes on to try a decimal number, where there is one.
  if (value < minInteger || value > maxInteger) {
    if (decimal.test(digits)) return decimalReading(text, Number(digits));
    return { ok: true, value: text, surprising: true };
  }
  // kubectl keeps every digit, and the operator reads the nearest double: fields for which that is not enough say so.
  return { ok: true, value: Number(value), surprising };
}

function integerValue(digits: string): bigint {
  const negative = digits.startsWith("-");
  const unsigned = digits.replace(/^[-+]/, "");
  const octal = /^0[oO]?(?=[0-7])/.exec(unsigned);
  const value = BigInt(octal === null ? unsigned : `0o${unsigned.slice(octal[0].length)}`);
  return negative ? -value : value;
}

function decimalReading(text: string, value: number): ScalarReading {
  if (!Number.isFinite(value)) {
    return { ok: false, message: `The number ${text} is too large: write it in quotes, as a text` };
  }
  return { ok: true, value: value === 0 ? 0 : value, surprising: text.includes("_") || /^[-+]?0[0-9]/.test(text) };
}
