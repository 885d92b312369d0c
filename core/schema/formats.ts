// The formats that are checked, each in linear time: grammars run on the linear matcher, functions
// on short texts. Formats not listed are annotations.

import { nearest } from "../nearest.ts";
import type { Meter } from "./meter.ts";
import { compilePattern } from "./pattern/matcher.ts";

const maxHostname = 253;
const label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const hostname = new RegExp(`^${label}(?:\\.${label})*$`);

/** RFC 1123 §2.1. Labels that begin with `xn--` are not decoded. */
function isHostname(text: string): boolean {
  return text.length <= maxHostname && hostname.test(text);
}

/** ECMA-262's escapes by letters and digits; without flag `u`, others stand for themselves. */
const otherEscape = /\\(?![bBcdDfknpPrsStuvwWx\d])[\p{ID_Continue}]/u;

function isRegex(text: string): boolean {
  if (otherEscape.test(text.replaceAll("\\\\", ""))) return false;
  try {
    new RegExp(text);
    return true;
  } catch {
    // Nothing but a SyntaxError is thrown here.
    return false;
  }
}

const fullDate = /^(\d{4})-(\d\d)-(\d\d)$/;
const partialTime = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?/;

export function isDate(text: string): boolean {
  const parts = fullDate.exec(text);
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

/** Years of 400 are alike; the constructor of Date takes those before 100 for those after 1900. */
function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

const rfc3339Offset = /^(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const isoOffset = /^(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?$/;

export const isTime = (text: string): boolean => isTimeWith(rfc3339Offset, text);
const isIsoTime = (text: string): boolean => isTimeWith(isoOffset, text);
export const isDateTime = (text: string): boolean => isDateAndTime(text, isTime);
const isIsoDateTime = (text: string): boolean => isDateAndTime(text, isIsoTime);

function isTimeWith(offset: RegExp, text: string): boolean {
  const time = partialTime.exec(text);
  const zone = time && offset.exec(text.slice(time[0].length));
  if (!zone) return false;
  const [hour, minute, second] = time.slice(1).map(Number) as [number, number, number];
  const [, sign, ...offsetParts] = zone;
  const [hours, minutes] = offsetParts.map((part = "0") => Number(part)) as [number, number];
  if (hour > 23 || minute > 59 || second > 60 || hours > 23 || minutes > 59) return false;
  const ahead = (sign === "-" ? -1 : 1) * (60 * hours + minutes);
  return second < 60 || isLastOfDay(60 * hour + minute - ahead);
}

const minutesOfDay = 24 * 60;

/** Leap seconds follow 23:59:59 of UTC. */
function isLastOfDay(minute: number): boolean {
  return (minute + minutesOfDay) % minutesOfDay === minutesOfDay - 1;
}

/** RFC 3339 §5.6 lets a space stand for the T. */
function isDateAndTime(text: string, isTimePart: (time: string) => boolean): boolean {
  return isDate(text.slice(0, 10)) && /^[Tt ]/.test(text.slice(10)) && isTimePart(text.slice(11));
}

const hexDigit = "[0-9A-Fa-f]";
const percentEncoded = `%${hexDigit}{2}`;

// RFC 3986, appendix A
const unreserved = "A-Za-z0-9\\-._~";
const subDelimiters = "!$&'()*+,;=";
const plainCharacter = `[${unreserved}${subDelimiters}:@]`;
const pathCharacter = `(?:${plainCharacter}|${percentEncoded})`;
const queryOrFragment = `(?:[${unreserved}${subDelimiters}:@/?]|${percentEncoded})*`;
const segments = `(?:/${pathCharacter}*)*`;
const decimalOctet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const ipv4Address = `${decimalOctet}(?:\\.${decimalOctet}){3}`;
const ipv6Address = ipv6Grammar();
const registeredName = `(?:[${unreserved}${subDelimiters}]|${percentEncoded})*`;
const ipLiteral = `\\[(?:${ipv6Address}|[Vv]${hexDigit}+\\.[${unreserved}${subDelimiters}:]+)\\]`;
const userInfo = `(?:[${unreserved}${subDelimiters}:]|${percentEncoded})*@`;
const authority = `(?:${userInfo})?(?:${ipLiteral}|${registeredName})(?::\\d*)?`;
const scheme = "[A-Za-z][A-Za-z0-9+.\\-]*:";
const absolutePath = `/(?:${pathCharacter}+${segments})?`;
const rootlessPath = `${pathCharacter}+${segments}`;
/** Its first segment has no colon, which would end a scheme. */
const relativePath = `(?:[${unreserved}${subDelimiters}@]|${percentEncoded})+${segments}`;
const queryAndFragment = `(?:\\?${queryOrFragment})?(?:#${queryOrFragment})?`;

function ipv6Grammar(): string {
  const group = `${hexDigit}{1,4}`;
  const lastTwo = `(?:${group}:${group}|${ipv4Address})`;
  const upTo = (count: number): string => `(?:(?:${group}:){0,${count}}${group})?::`;
  const shortened = [4, 3, 2, 1, 0].map((after, before) => `${upTo(before)}(?:${group}:){${after}}${lastTwo}`);
  return `(?:${[
    `(?:${group}:){6}${lastTwo}`,
    `::(?:${group}:){5}${lastTwo}`,
    ...shortened,
    `${upTo(5)}${group}`,
    upTo(6),
  ].join("|")})`;
}

// RFC 6570, with the apostrophe that erratum 6937 allows in literals
const variableName = `(?:[A-Za-z0-9_]|${percentEncoded})(?:\\.?(?:[A-Za-z0-9_]|${percentEncoded}))*`;
const variable = `${variableName}(?::[1-9]\\d{0,3}|\\*)?`;
const templateExpression = `\\{[+#./;?&=,!@|]?${variable}(?:,${variable})*\\}`;
const templateLiteral = `[!#$&'()-;=?-\\[\\]_a-z~\\u{A0}-\\u{D7FF}\\u{E000}-\\u{10FFFF}]|${percentEncoded}`;

// RFC 5321 §4.1.2 and §4.1.3, with at least two labels in a domain
const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-]+";
const quotedString = '"(?:[ !#-\\[\\]-~]|\\\\[ -~])*"';
const mailLabel = "[A-Za-z0-9](?:[A-Za-z0-9\\-]*[A-Za-z0-9])?";
/** The full grammar of IPv6 would make the most common format the largest. */
const addressLiteral = `\\[(?:${ipv4Address}|[Ii][Pp][Vv]6:[0-9A-Fa-f:.]+)\\]`;

// RFC 3339, appendix A: a unit is followed by none but the next smaller one
const time = "T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)";
const days = "(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)";

// RFC 6901
const referenceTokens = "(?:/(?:[^~/]|~[01])*)*";
const fragmentTokens = `(?:/(?:[A-Za-z0-9\\-._${subDelimiters}:@?]|${percentEncoded}|~[01])*)*`;

const grammars = {
  duration: `P(?:${days}(?:${time})?|${time}|\\d+W)`,
  email: `(?:${atom}(?:\\.${atom})*|${quotedString})@(?:(?:${mailLabel}\\.)+${mailLabel}|${addressLiteral})`,
  ipv4: ipv4Address,
  ipv6: ipv6Address,
  "json-pointer": referenceTokens,
  "json-pointer-uri-fragment": `#${fragmentTokens}`,
  "relative-json-pointer": `(?:0|[1-9]\\d*)(?:#|${referenceTokens})`,
  uri: `${scheme}(?://${authority}${segments}|${absolutePath}|(?:${rootlessPath})?)${queryAndFragment}`,
  "uri-reference": `(?:(?:${scheme})?(?://${authority}${segments}|${absolutePath})|${scheme}(?:${rootlessPath})?|(?:${relativePath})?)${queryAndFragment}`,
  "uri-template": `(?:${templateLiteral}|${templateExpression})*`,
  // RFC 9562 §4
  uuid: `${hexDigit}{8}-(?:${hexDigit}{4}-){3}${hexDigit}{12}`,
} as const;

/** Longest text that is checked as a date, time, host name or expression. */
export const maxCheckedLength = 1024;

export interface CheckedFormat {
  /** What the format applies to; values of other types are always valid. */
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

/** Formats for which every value is valid. */
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
