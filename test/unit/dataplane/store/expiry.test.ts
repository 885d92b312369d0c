import { expect, test } from "vitest";
import type { ExpiryConfig } from "../../../../core/config/types.ts";
import { valueAt } from "../../../../core/json/members.ts";
import { encodedTime, expiryTime, hasExpired } from "../../../../dataplane/store/expiry.ts";

const byField: ExpiryConfig = { field: { name: "until", path: ["until"] } };

function timeOf(until: string, expiry: ExpiryConfig = byField): number | undefined {
  const text = `{"id":"1","until":${until},"_metadata":{"created":1700000000}}`;
  return expiryTime(expiry, (path) => valueAt(text, path));
}

test.each([
  ["a time in UTC", '"2030-01-02T03:04:05Z"', Date.UTC(2030, 0, 2, 3, 4, 5)],
  ["an offset", '"2030-01-02T03:04:05+01:30"', Date.UTC(2030, 0, 2, 1, 34, 5)],
  ["fractions, down to milliseconds", '"2030-01-02T03:04:05.123999Z"', Date.UTC(2030, 0, 2, 3, 4, 5, 123)],
  ["small letters, and a space", '"2030-01-02 03:04:05z"', Date.UTC(2030, 0, 2, 3, 4, 5)],
  ["a leap second", '"2016-12-31T23:59:60Z"', Date.UTC(2017, 0, 1)],
  ["Unix seconds", "1700000001", 1_700_000_001_000],
  ["Unix seconds with a fraction", "1700000001.5", 1_700_000_001_500],
  ["a time before 1970", "-5", 0],
  ["the end of all times", "1e300", 999_999_999_999_999],
  ["null", "null", undefined],
  ["a text that is no time", '"soon"', undefined],
  ["a date", '"2030-01-02"', undefined],
  ["another value", "[1]", undefined],
])("an object expires by %s", (_what, until, time) => {
  expect(timeOf(until)).toBe(time);
});

test("a time after creation counts from _metadata.created", () => {
  expect(timeOf("1", { afterSeconds: 90 })).toBe(1_700_000_090_000);
});

test("an object has expired from its millisecond on", () => {
  const text = '{"until":2}';
  expect([1_999, 2_000, 2_001].map((now) => hasExpired(byField, text, now))).toEqual([false, true, true]);
});

test("encoded times sort as the times do", () => {
  const times = [0, 999, 1_700_000_000_000, 999_999_999_999_999];
  expect(times.map(encodedTime).toSorted()).toEqual(times.map(encodedTime));
});
