// The formats that are checked, each in time that grows with the text's length only: grammars run on the linear matcher,
// functions on texts too short to hurt. Formats not listed are annotations.

import { nearest } from "../nearest.ts";
import { isDate, isDateTime, isIsoDateTime, isIsoTime, isTime } from "./format/dates-and-times.ts";
import { grammars } from "./format/grammars.ts";
import { isHostname, isRegex } from "./format/names.ts";
import type { Meter } from "./meter.ts";
import { compilePattern } from "./pattern/compile-pattern.ts";

/** Longest text that a date, time, host name or expression is looked for in. */
export const maxCheckedLength = 1024;

export interface CheckedFormat {
  /** What the format applies to; values of other types always fit. */
  readonly type: "string" | "number";
  /** @throws WorkExhausted */
  fits(value: string | number, meter: Meter): boolean;
}

const makers: Readonly<Record<string, () => CheckedFormat>> = {
  ...Object.fromEntries(Object.entries(grammars).map(([name, grammar]) => [name, () => ofGrammar(grammar)])),
  date: () => onShortText(isDate),
  "date-time": () => onShortText(isDateTime),
  time: () => onShortText(isTime),
  "iso-date-time": () => onShortText(isIsoDateTime),
  "iso-time": () => onShortText(isIsoTime),
  hostname: () => onShortText(isHostname),
  regex: () => onShortText(isRegex),
  byte: () => onText(isBase64),
  int32: () => onNumber((value) => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31),
  // The largest 64-bit integer and the first beyond it are one double.
  int64: () => onNumber((value) => Number.isInteger(value) && value >= -(2 ** 63) && value <= 2 ** 63),
};

/** Formats that every value fits. */
const free: readonly string[] = ["binary", "double", "float", "password"];

export const knownFormats: readonly string[] = [...Object.keys(makers), ...free];

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
  return Object.hasOwn(makers, name) ? makers[name]?.() : undefined;
}

function ofGrammar(grammar: string): CheckedFormat {
  const matcher = compilePattern(`^(?:${grammar})$`);
  return { type: "string", fits: (value, meter) => matcher.test(String(value), meter) };
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/u.test(text);
}

function onShortText(test: (text: string) => boolean): CheckedFormat {
  return onText((text) => text.length <= maxCheckedLength && test(text));
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
