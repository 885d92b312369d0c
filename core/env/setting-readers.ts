// How texts of settings are read: each reader returns the value, or throws InvalidSetting, which
// says what to write instead.

import { isIP } from "node:net";
import { durationSeconds } from "../config/duration.ts";
import { dnsLabel, projectKey } from "../manifests/metadata.ts";
import { type Kind, kinds } from "../manifests/object.ts";
import { redisUrlFault } from "../redis/redis-url.ts";
import { unixMilliseconds } from "../rfc3339.ts";
import { InvalidSetting, type Setting } from "./read-settings.ts";

function notA(what: string, text: string): InvalidSetting {
  return new InvalidSetting(`must be ${what}, not ${JSON.stringify(text)}`);
}

/** Off unless it is given, or its variable says true. */
export function switchSetting(flag: string, help: string) {
  return {
    flag,
    placeholder: "",
    isSwitch: true,
    help,
    fallback: "false",
    read: readSwitch,
  } as const satisfies Setting<boolean>;
}

function readSwitch(text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw notA("true or false", text);
}

/** `what` completes "must be …, not …", here and below. */
export function matching(pattern: RegExp, what: string): (text: string) => string {
  return (text) => {
    if (pattern.test(text)) return text;
    throw notA(what, text);
  };
}

export function oneOf<const Name extends string>(names: readonly Name[]): (text: string) => Name {
  return (text) => {
    const found = names.find((name) => name === text);
    if (found !== undefined) return found;
    throw notA(names.length > 2 ? `one of ${names.join(", ")}` : names.join(" or "), text);
  };
}

/** In seconds, as the bounds are. */
export function durationBetween(min: number, max: number, bounds: string): (text: string) => number {
  return (text) => {
    const seconds = durationSeconds(text);
    if (seconds !== undefined && seconds >= min && seconds <= max) return seconds;
    throw notA(`a duration ${bounds}`, text);
  };
}

export const readNamespace = matching(dnsLabel, "the name of a namespace, such as shop-2");

export function readKind(text: string): Kind {
  const wanted = text.toLowerCase();
  const found = kinds.find((known) => [known.toLowerCase(), `${known.toLowerCase()}s`].includes(wanted));
  if (found !== undefined) return found;
  throw notA(`one of ${kinds.join(", ")}`, text);
}

export function listOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

export function readCount(text: string): number {
  const number = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0;
  if (number >= 1) return number;
  throw notA("a whole number of at least 1", text);
}

export function readText(text: string): string {
  if (text === "") throw new InvalidSetting("must not be empty");
  return text;
}

export function readHost(text: string): string {
  if (isIP(text) !== 0 || /^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$/.test(text)) return text;
  throw notA("an address such as 127.0.0.1, ::1 or 0.0.0.0", text);
}

/** One final line break is dropped, as of a password's Secret: editors and `echo` add one. */
export function readRedisUrl(text: string): string {
  const url = text.replace(/\r?\n$/, "");
  const fault = redisUrlFault(url);
  if (fault === undefined) return url;
  throw new InvalidSetting(`can't be used: ${fault}`);
}

export function readPort(text: string): number {
  const number = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (number <= 65_535) return number;
  throw notA("a port from 0 to 65535", text);
}

export function readPublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url !== undefined && ["http:", "https:"].includes(url.protocol) && url.search + url.hash === "";
  if (url !== undefined && plain && url.username + url.password === "") return url.href.replace(/\/+$/, "");
  throw new InvalidSetting("must be a URL such as https://api.example.org, without user, query or fragment");
}

export function readNetworks(text: string): readonly string[] {
  const networks = listOf(text);
  const wrong = networks.find((network) => !isNetwork(network));
  if (wrong === undefined) return networks;
  throw new InvalidSetting(
    `must list addresses or networks such as 10.0.0.0/8 or ::1; ${JSON.stringify(wrong)} is neither`,
  );
}

function isNetwork(text: string): boolean {
  const [address = "", prefix, ...more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return prefix === undefined || (/^[0-9]{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

export function readProjectPatterns(text: string): readonly string[] {
  const patterns = listOf(text);
  const wrong = patterns.find((pattern) => !isProjectPattern(pattern));
  if (patterns.length > 0 && wrong === undefined) return patterns;
  throw notA("a list such as default/shop, default/* or *", wrong ?? text);
}

function isProjectPattern(text: string): boolean {
  return text === "*" || projectKey.test(text) || (text.endsWith("/*") && dnsLabel.test(text.slice(0, -2)));
}

export function readTime(text: string): number {
  const time = unixMilliseconds(text);
  if (time !== undefined) return time;
  throw notA("a time such as 2026-11-30T12:00:00Z", text);
}
