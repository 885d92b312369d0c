import { describe, expect, it } from "vitest";
import { accepts, failuresOf } from "./compiled.ts";

const formats: Readonly<Record<string, { readonly good: readonly unknown[]; readonly bad: readonly unknown[] }>> = {
  date: {
    good: ["2024-02-29", "0000-02-29", 5, null],
    bad: ["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "24-01-01", ""],
  },
  time: {
    good: [
      "07:08:09Z",
      "07:08:09.5+01:00",
      "23:59:60Z",
      "00:59:60+01:00",
      "22:29:60.25-01:30",
      "00:59:59.999999999999999z",
    ],
    bad: [
      "07:08:09",
      "24:00:00Z",
      "7:8:9Z",
      "07:60:00Z",
      "07:08:61Z",
      "07:08:09+01",
      "07:08:09+0100",
      "07:08:09+24:00",
    ],
  },
  "date-time": {
    good: [
      "2024-05-06T07:08:09Z",
      "2024-05-06t07:08:09.123-02:30",
      "2024-05-06 07:08:09Z",
      "1998-12-31T15:59:60.123-08:00",
    ],
    bad: ["2024-05-06", "yesterday", "2024-05-06\n07:08:09Z", "2024-02-30T07:08:09Z", "2024-05-06T07:08:09"],
  },
  "iso-time": {
    good: ["07:08:09", "07:08:09+01", "07:08:09+0130", "23:59:60"],
    bad: ["07:08", "07:60:00", "25:00:00", "07:08:60"],
  },
  "iso-date-time": { good: ["2024-05-06T07:08:09", "2024-05-06 07:08:09"], bad: ["2024-05-06", "2024-05-06T24:00:00"] },
  duration: {
    good: ["P1Y2M3DT4H5M6S", "P2W", "PT1S", "P1M2D", "P3DT1M"],
    bad: ["P", "1D", "PT", "P1Y2D", "PT1H2S", "P1DT", "P1W2D", "P1D2M"],
  },
  email: {
    good: ["a@example.com", "a.b+c@x-y.example", '"a b@c"@example.com', "a@[192.0.2.1]", "a@[IPv6:2001:db8::1]"],
    bad: ["a", "a@", "@b", "a b@c", "a@b@c", "a@b", "a..b@c.example", "a@-b.example", "a@[300.0.2.1]"],
  },
  hostname: {
    good: ["example.com", "a-b.c", "localhost", "3com.example"],
    bad: ["-a", "a-", "a_b", "a..b", "example.", "", "a".repeat(64), `${"a.".repeat(126)}ab`],
  },
  ipv4: { good: ["127.0.0.1"], bad: ["127.0.0.256", "1.2.3", "01.2.3.4"] },
  ipv6: {
    good: ["::", "::1", "1::", "1:2:3:4:5:6:7:8", "2001:db8::ff00:42:8329", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4"],
    bad: [":::1", "1.2.3.4", "12345::", "1::2::3", "1:2:3:4:5:6:7", "::ffff:1.2.3.04", "fe80::1%eth0"],
  },
  uri: {
    good: ["https://example.com/a?b#c", "urn:isbn:1", "mailto:a@b.c", "http://u:p@[::1]:80/", "a://", "a:", "a:/b//c"],
    bad: [
      "/a",
      "a b",
      "//x",
      "http://a b",
      'http://a/"',
      "http://a:b/",
      "http://a@b@c/",
      "http:/[::1]",
      "http://[::g]",
      "a:%zz",
    ],
  },
  "uri-reference": {
    good: ["/a", "../b?c", "https://x.y", "#z", "", "./a:b", "//a:80"],
    bad: ["\\a", "a b", "1:b", '/"', "//a@b@c", "//a:b", "/[a]"],
  },
  "uri-template": {
    good: ["/a/{b}", "{?x,y*}", "{a.b}", "{+a.b.c:30}", "é'{x}"],
    bad: ["{", "{a", "}", "{.a.}", "{a..b}", "{a:0}", "a\u007f", "a b", "{}"],
  },
  uuid: {
    good: ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"],
    bad: ["2eb8aa08", "2eb8aa08-aa98-11ea-b4aa-73b441d1638g", "urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380"],
  },
  "json-pointer": { good: ["", "/a~1b/0"], bad: ["a", "/~2"] },
  "json-pointer-uri-fragment": { good: ["#/a", "#/%7Ea?"], bad: ["/a", "#a", "#/~2"] },
  "relative-json-pointer": { good: ["0", "1/a", "2#"], bad: ["/a", "01"] },
  regex: {
    good: ["^a+$", "(?=a)", "\\\\a", "[\\w-.]\\-", "\\p{L}\\cA"],
    bad: ["(", "a{2,1}", "\\a", "[\\Z]", "\\\\\\h"],
  },
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
