import { describe, expect, test } from "vitest";
import { readPlainScalar } from "../../../../cli/manifests/convert-document.ts";
import type { Json } from "../../../../core/config/types.ts";

// Each value is what sigs.k8s.io/yaml 1.6 (go-yaml 2) made of the text; seen by running it on these
// texts and 6,000 others.
const readings: readonly (readonly [string, Json])[] = [
  ["", null],
  ["~", null],
  ["null", null],
  ["Null", null],
  ["true", true],
  ["TRUE", true],
  ["False", false],
  ["tRUE", "tRUE"],
  ["yes", true],
  ["Yes", true],
  ["y", true],
  ["N", false],
  ["on", true],
  ["Off", false],
  ["oN", "oN"],
  ["0", 0],
  ["-0", 0],
  ["-0.0", 0],
  ["+5", 5],
  ["0777", 511],
  ["-0777", -511],
  ["0o17", 15],
  ["08", 8],
  ["0b11", 3],
  ["-0b1", -1],
  ["0x1F", 31],
  ["0xg", "0xg"],
  ["1_000", 1000],
  ["1__0", 10],
  ["_1", "_1"],
  ["1.", 1],
  [".5", 0.5],
  ["._5", "._5"],
  ["1.0", 1],
  ["1e3", 1000],
  ["-1E-3", -0.001],
  ["1_0.5", 10.5],
  ["e1", "e1"],
  ["9007199254740991", 9007199254740991],
  ["9223372036854775807", 2 ** 63],
  ["-9223372036854775808", -(2 ** 63)],
  ["18446744073709551616", 2 ** 64],
  ["2030-12-31", "2030-12-31"],
  ["2030-12-31T23:59:59Z", "2030-12-31T23:59:59Z"],
  ["12:30", "12:30"],
  ["12:30:45", "12:30:45"],
  ["5m", "5m"],
  ["1.2.3", "1.2.3"],
  ["<<", "<<"],
  ["=", "="],
  ["-", "-"],
  ["0xFFFFFFFFFFFFFFFFF", "0xFFFFFFFFFFFFFFFFF"],
];

describe("an unquoted scalar is read as kubectl reads it", () => {
  for (const [text, value] of readings) {
    test(`${JSON.stringify(text)} is ${JSON.stringify(value)}`, () => {
      expect(readPlainScalar(text)).toMatchObject({ ok: true, value });
    });
  }
});

describe("an unquoted scalar is refused", () => {
  for (const text of [".inf", "-.INF", "+.Inf", ".nan", ".NaN"]) {
    test(`${text}, because JSON has no such number`, () => {
      expect(readPlainScalar(text)).toMatchObject({ ok: false, message: expect.stringContaining("in quotes") });
    });
  }
  test("1e400, because it is too large for a number", () => {
    expect(readPlainScalar("1e400")).toMatchObject({ ok: false, message: expect.stringContaining("too large") });
  });
});

describe("an unquoted scalar is told as surprising", () => {
  for (const text of ["yes", "n", "Off", "0777", "0o17", "0b11", "1_000", "+5", "08"]) {
    test(`${text}, which others read in another way`, () => {
      expect(readPlainScalar(text)).toMatchObject({ surprising: true });
    });
  }
  for (const text of ["true", "False", "null", "~", "0", "-5", "0x1F", "1.0", "1e3", "2030-12-31", "text"]) {
    test(`${text} is not, because all agree`, () => {
      expect(readPlainScalar(text)).toMatchObject({ surprising: false });
    });
  }
});
