// The formats that are checked, each in time that grows with the text's length only: ajv-formats' expressions run on the
// linear matcher, its functions only on texts too short to hurt. Formats not listed are annotations.

import { fullFormats } from "ajv-formats/dist/formats.js";
import { nearest } from "../nearest.ts";
import type { Meter } from "./meter.ts";
import { compilePattern } from "./pattern/compile-pattern.ts";

/** Longest text that a date, time, duration, host name or expression is looked for in. */
export const maxCheckedLength = 1024;

export interface CheckedFormat {
  /** What the format applies to; values of other types always fit. */
  readonly type: "string" | "number";
  /** @throws WorkExhausted */
  fits(value: string | number, meter: Meter): boolean;
}

/** Checked by ajv-formats' expression of that name, on the linear matcher. */
const matched = [
  "email",
  "ipv4",
  "ipv6",
  "json-pointer",
  "json-pointer-uri-fragment",
  "relative-json-pointer",
  "uri-reference",
  "uri-template",
  "uuid",
] as const;

/** Checked by ajv-formats' function or lookahead expression of that name, on short texts. */
const short = ["date", "date-time", "duration", "hostname", "iso-date-time", "iso-time", "regex", "time"] as const;

/** Checked by a function of this file. */
const own: Readonly<Record<string, () => CheckedFormat>> = {
  uri: absoluteUri,
  byte: () => onText(isBase64),
  int32: () => onNumber((value) => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31),
  // The largest 64-bit integer and the first beyond it are one double.
  int64: () => onNumber((value) => Number.isInteger(value) && value >= -(2 ** 63) && value <= 2 ** 63),
};

/** Formats that every value fits. */
const free: readonly string[] = ["binary", "double", "float", "password"];

export const knownFormats: readonly string[] = [...matched, ...short, ...Object.keys(own), ...free];

export function isKnownFormat(name: string): boolean {
  return knownFormats.includes(name);
}

/** What to do about a format that is none of these. */
export function unknownFormat(name: string): string {
  const meant = nearest(name, knownFormats);
  const advice = meant === undefined ? "write a pattern, or leave it out" : `did you mean ${JSON.stringify(meant)}?`;
  return `The format ${JSON.stringify(name)} is unknown and is not checked; ${advice}`;
}

/** Undefined for a format that refuses nothing, known or not. */
export function checkedFormat(name: string): CheckedFormat | undefined {
  const isMatched = matched.find((known) => known === name);
  if (isMatched !== undefined) return matchedFormat(isMatched);
  const isShort = short.find((known) => known === name);
  if (isShort !== undefined) return shortFormat(isShort);
  return Object.hasOwn(own, name) ? own[name]?.() : undefined;
}

function matchedFormat(name: (typeof matched)[number]): CheckedFormat {
  const expression: unknown = fullFormats[name];
  if (!(expression instanceof RegExp)) throw new TypeError(`ajv-formats has no expression for ${name}`);
  const matcher = compilePattern(expression.source, expression.ignoreCase);
  return { type: "string", fits: (value, meter) => matcher.test(String(value), meter) };
}

/** A URI is a URI reference that starts with a scheme. */
function absoluteUri(): CheckedFormat {
  const reference = matchedFormat("uri-reference");
  const scheme = compilePattern("^[A-Za-z][A-Za-z0-9+.-]*:");
  return {
    type: "string",
    fits: (value, meter) => scheme.test(String(value), meter) && reference.fits(value, meter),
  };
}

function shortFormat(name: (typeof short)[number]): CheckedFormat {
  const format: unknown = fullFormats[name];
  const test = predicateOf(format);
  if (test === undefined) throw new TypeError(`ajv-formats has no check for ${name}`);
  return onText((text) => text.length <= maxCheckedLength && test(text));
}

function predicateOf(format: unknown): ((text: string) => boolean) | undefined {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === "function") return (text) => format(text) === true;
  if (typeof format !== "object" || format === null || !("validate" in format)) return undefined;
  return predicateOf(format.validate);
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/u.test(text);
}

function onText(test: (text: string) => boolean): CheckedFormat {
  return {
    type: "string",
    fits: (value, meter) => {
      const text = String(value);
      meter.spend(20 + Math.min(text.length, maxCheckedLength));
      return test(text);
    },
  };
}

function onNumber(test: (value: number) => boolean): CheckedFormat {
  return { type: "number", fits: (value) => test(Number(value)) };
}
