import { describe, expect, it } from "vitest";
import { accepts, failuresOf } from "./compiled.ts";

const formats: Readonly<Record<string, { readonly good: readonly unknown[]; readonly bad: readonly unknown[] }>> = {
  date: { good: ["2024-02-29", 5, null], bad: ["2023-02-29", "2024-13-01", "24-01-01", ""] },
  time: { good: ["07:08:09Z", "23:59:60Z", "07:08:09.5+01:00"], bad: ["07:08:09", "24:00:00Z", "7:8:9Z"] },
  "date-time": { good: ["2024-05-06T07:08:09Z", "2024-05-06t07:08:09.123-02:30"], bad: ["2024-05-06", "yesterday"] },
  "iso-time": { good: ["07:08:09"], bad: ["07:08"] },
  "iso-date-time": { good: ["2024-05-06T07:08:09"], bad: ["2024-05-06"] },
  duration: { good: ["P1Y2M3DT4H5M6S", "P2W", "PT1S"], bad: ["P", "1D", "PT"] },
  email: { good: ["a@example.com", "a.b+c@x-y.example"], bad: ["a", "a@", "@b", "a b@c", "a@b@c"] },
  hostname: { good: ["example.com", "a-b.c", "localhost"], bad: ["-a", "a_b", "a..b", "a".repeat(64)] },
  ipv4: { good: ["127.0.0.1"], bad: ["127.0.0.256", "1.2.3", "01.2.3.4"] },
  ipv6: { good: ["::1", "2001:db8::ff00:42:8329", "::ffff:1.2.3.4"], bad: [":::1", "1.2.3.4", "12345::"] },
  uri: { good: ["https://example.com/a?b#c", "urn:isbn:1", "mailto:a@b.c"], bad: ["/a", "a b", "//x", "http://a b"] },
  "uri-reference": { good: ["/a", "../b?c", "https://x.y", "#z", ""], bad: ["\\a", "a b"] },
  "uri-template": { good: ["/a/{b}", "{?x,y*}"], bad: ["{", "{a", "}"] },
  uuid: { good: ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], bad: ["2eb8aa08", "2eb8aa08-aa98-11ea-b4aa-73b441d1638g"] },
  "json-pointer": { good: ["", "/a~1b/0"], bad: ["a", "/~2"] },
  "json-pointer-uri-fragment": { good: ["#/a"], bad: ["/a", "#a"] },
  "relative-json-pointer": { good: ["0", "1/a", "2#"], bad: ["/a", "01"] },
  regex: { good: ["^a+$", "(?=a)"], bad: ["(", "a{2,1}"] },
  byte: { good: ["", "YQ==", "YWI=", "YWJj"], bad: ["YQ=", "YQ", "Y===", "a b="] },
  int32: { good: [0, 2147483647, -2147483648, "a"], bad: [2147483648, 1.5] },
  int64: { good: [0, 2 ** 62, -(2 ** 63)], bad: [2 ** 64, 0.5] },
  float: { good: [1.5], bad: [] },
  double: { good: [1.5], bad: [] },
  password: { good: ["x"], bad: [] },
  binary: { good: ["x"], bad: [] },
  // Not known: an annotation.
  isbn: { good: ["x", 1], bad: [] },
  constructor: { good: ["x", 1], bad: [] },
};

describe("formats", () => {
  it.each(Object.entries(formats))("%s", (format, { good, bad }) => {
    for (const value of good) expect.soft(accepts({ format }, value), `accepts ${JSON.stringify(value)}`).toBe(true);
    for (const value of bad) expect.soft(accepts({ format }, value), `refuses ${JSON.stringify(value)}`).toBe(false);
  });

  it.each(Object.entries(formats).filter(([, { bad }]) => bad.length > 0))(
    "%s: what is refused is told what it must be",
    (format, { bad }) => {
      const [first] = bad;
      const [failure] = failuresOf({ properties: { v: { format } } }, { v: first });
      expect(failure).toMatchObject({
        pointer: "/v",
        keyword: "format",
        message: expect.stringMatching(/^Must be (a|an|base64)\b/),
      });
      expect(failure?.message).not.toContain("valid");
    },
  );

  it("upper case is as good as lower case where the format says so", () => {
    expect(accepts({ format: "uuid" }, "2EB8AA08-AA98-11EA-B4AA-73B441D16380")).toBe(true);
    expect(accepts({ format: "uri" }, "HTTPS://EXAMPLE.COM/%2F")).toBe(true);
    expect(accepts({ format: "ipv4" }, "１27.0.0.1")).toBe(false);
  });
});

const megabyte = 1024 * 1024;

/** Texts that send a backtracking matcher back and forth. */
const hostile: Readonly<Record<string, readonly string[]>> = {
  email: [`${"a.".repeat(megabyte / 2)}@`, `a@${"a.".repeat(megabyte / 2)}!`, `a@${"a-".repeat(megabyte / 2)}`],
  uri: [`http://${"a%20".repeat(megabyte / 4)} `, `a:${"/".repeat(megabyte)} `],
  "uri-reference": [`${"a:".repeat(megabyte / 2)} `, `//${"[".repeat(megabyte)}`],
  "uri-template": [`${"{a,".repeat(megabyte / 3)}`, `${"{a}".repeat(megabyte / 3)}{`],
  ipv6: ["1:".repeat(megabyte / 2), ":".repeat(megabyte)],
  "json-pointer": [`${"/a".repeat(megabyte / 2)}~`],
  hostname: ["a-".repeat(megabyte / 2), "a.".repeat(megabyte / 2)],
  duration: [`P${"1".repeat(megabyte)}`],
  "date-time": [`2024-05-06T07:08:09.${"9".repeat(megabyte)}x`, "T".repeat(megabyte)],
  byte: [`${"YWJj".repeat(megabyte / 4)}=!==`],
  regex: ["(".repeat(megabyte)],
};

describe("hostile texts of a megabyte are refused for what they are", () => {
  it.each(Object.entries(hostile))("%s", (format, texts) => {
    for (const text of texts) {
      expect.soft(failuresOf({ properties: { v: { format } } }, { v: text })).toMatchObject([{ keyword: "format" }]);
    }
  });

  it("a valid text of a megabyte passes where no length is set", () => {
    expect(accepts({ format: "uri" }, `https://example.com/${"a".repeat(megabyte)}`)).toBe(true);
    expect(accepts({ format: "byte" }, "YWJj".repeat(megabyte / 4))).toBe(true);
  });
});
