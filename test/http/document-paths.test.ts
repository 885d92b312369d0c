// Keys that no path language likes, digits that could be keys or indices, and every way to spell a
// segment.

import { describe, expect, it } from "vitest";
import { apikey, project, withKey, withRootKey } from "../support/http/projects.ts";
import { describeServed } from "../support/http/served.ts";

const as = apikey("writer");
const shop = project("shop", withKey("writer"), withRootKey("doc"), withRootKey("list", { initialValue: "[]" }));

const unusualKeys = {
  quotes: 'a"b',
  apostrophes: "a'b",
  "both quotes": `a"b'c`,
  "a backslash": "a\\b",
  "a backslash and both quotes": `\\"'\\`,
  "a trailing backslash": "a\\",
  slashes: "a/b//c",
  "one slash": "/",
  dots: "a.b..c",
  "only a dot": ".",
  "two dots": "..",
  brackets: "a[0]['b'][\"c\"]",
  "a JSON path": '$["k"].a[*]..b[?(@.x>1)]',
  "a dollar": "$",
  "a star": "*",
  "an at sign": "@",
  "a hyphen": "-",
  "a negative number": "-1",
  "a number": "0",
  "a long number": "12345678901234567890",
  "a number with a leading zero": "007",
  "a fraction": "1.5",
  spaces: " a  b ",
  "one space": " ",
  "line breaks and tabs": "a\nb\r\tc",
  "control characters": "\u0001\u001f\u007f",
  percent: "100%25%",
  "plus and ampersand": "a+b&c=d;e",
  "question mark and hash": "a?b#c",
  "accents, composed": "\u00e9",
  "accents, decomposed": "e\u0301",
  "emoji of several code points": "👩‍👩‍👧 🏳️‍🌈",
  "right-to-left marks": "\u202eabc\u200f",
  "line and paragraph separators": "\u2028\u2029",
  "a byte order mark": "\ufeffa",
  "the last code point": "\u{10ffff}",
  __proto__: "__proto__",
  constructor: "constructor",
  toString: "toString",
  hasOwnProperty: "hasOwnProperty",
  "a brace": "{}",
  "a hash tag of Redis": "{jsonplane}:x",
  "markup and a script": "<script>alert(1)</script>",
  "an SQL end": "'; DROP TABLE documents; --",
  "true, false, null": "null",
  "1,024 bytes": "ü".repeat(512),
} as const;

/** Everything encoded that RFC 3986 does not let stand for itself. */
const encoded = (key: string) => encodeURIComponent(key).replaceAll("'", "%27").replaceAll("*", "%2A");

describeServed("odd keys", (serve) => {
  it.each(Object.entries(unusualKeys))(
    "%s: added, read, refused twice, replaced, nested and removed",
    async (_what, key) => {
      const served = await serve(shop);
      const at = (path: string, method = "GET", body?: unknown) => served.send(path, { method, body, as });
      const name = JSON.stringify(key);
      const path = `/json/doc/${encoded(key)}`;

      expect((await at("/json/doc/before", "PUT", "0")).status).toBe(201);
      expect((await at(path)).code).toBe("not_found");
      expect((await at(`${path}/below`, "PUT", "1")).code).toBe("parent_not_found");
      const added = await at(path, "POST", '{"in":[1]}');
      expect([added.status, added.text]).toEqual([201, '{"in":[1]}']);
      expect((await at(path, "POST", "1")).code).toBe("key_exists");
      expect((await at("/json/doc")).text).toBe(`{"before":0,${name}:{"in":[1]}}`);
      expect((await at(`${path}/in/0`)).text).toBe("1");

      expect((await at(`${path}/in/0`, "POST", "0")).status).toBe(201);
      expect((await at(`${path}/${encoded(key)}`, "PUT", "true")).status).toBe(201);
      expect((await at(`${path}/${encoded(key)}`, "PUT", "false")).status).toBe(200);
      expect((await at("/json/doc")).text).toBe(`{"before":0,${name}:{"in":[0,1],${name}:false}}`);
      expect((await at(`${path}/${encoded(key)}`, "DELETE")).status).toBe(200);
      expect((await at(path)).text).toBe('{"in":[0,1]}');

      const replaced = await at(path, "PUT", '"x"');
      expect([replaced.status, replaced.text]).toEqual([200, '"x"']);
      expect((await at(path, "DELETE")).text).toBe("{}");
      expect((await at(path, "DELETE")).code).toBe("not_found");
      expect((await at("/json/doc")).text).toBe('{"before":0}');
    },
  );

  it("are kept apart, all in one object", async () => {
    const served = await serve(shop);
    for (const [what, key] of Object.entries(unusualKeys)) {
      await served.send(`/json/doc/${encoded(key)}`, { method: "POST", body: JSON.stringify(what), as });
    }
    const expected = Object.entries(unusualKeys).map(([what, key]) => `${JSON.stringify(key)}:${JSON.stringify(what)}`);
    expect((await served.send("/json/doc")).text).toBe(`{${expected.join(",")}}`);
    for (const [what, key] of Object.entries(unusualKeys)) {
      expect((await served.send(`/json/doc/${encoded(key)}`)).text).toBe(JSON.stringify(what));
    }
  });

  it("that a body brings along are reached by paths, the empty key only as a part of its parent", async () => {
    const served = await serve(shop);
    const text = '{"":{"a":1},"a\\"b":{"":2},"10":3}';
    await served.send("/json/doc", { method: "PUT", body: text, as });
    expect((await served.send("/json/doc")).text).toBe(text);
    expect((await served.send("/json/doc/a%22b")).text).toBe('{"":2}');
    expect((await served.send("/json/doc/10")).text).toBe("3");
    expect((await served.send("/json/doc//a")).code).toBe("invalid_path");
  });

  it("that no path can name, the empty one and those with a NUL, are read and changed in the value around them", async () => {
    const served = await serve(shop);
    const text = '{"":{"":1},"a\\u0000b":2}';
    await served.send("/json/doc/in", { method: "PUT", body: text, as });
    const patch = async (contentType: string, body: string) => {
      const headers = { "content-type": `application/${contentType}` };
      return (await served.send("/json/doc/in", { method: "PATCH", body, headers, as })).text;
    };
    for (const path of ["/json/doc/in//", "/json/doc/in/a%00b"]) {
      const refusal = await served.send(path);
      expect([refusal.code, refusal.text]).toEqual([
        "invalid_path",
        expect.stringContaining("object that contains it"),
      ]);
    }
    expect((await served.send("/json/doc/in")).text).toBe(text);
    expect(await patch("merge-patch+json", '{"":{"":[3]},"\\u0000":null}')).toBe('{"":{"":[3]},"a\\u0000b":2}');
    const operations = [
      { op: "add", path: "///-", value: 4 },
      { op: "remove", path: "/a\u0000b" },
    ];
    expect(await patch("json-patch+json", JSON.stringify(operations))).toBe('{"":{"":[3,4]}}');
    expect(await patch("merge-patch+json", '{"":null}')).toBe("{}");
  });
});

describeServed("digits", (serve) => {
  const text = '{"0":"key","list":["zero",{"0":"inner key","1":["deep"]}],"1":{"0":["a","b"]}}';
  const digits = project("p", withKey("writer"), withRootKey("doc", { initialValue: text }));

  it("are keys under an object and indices under an array, segment by segment", async () => {
    const served = await serve(digits);
    const parts = {
      "0": '"key"',
      "list/0": '"zero"',
      "list/1/0": '"inner key"',
      "list/1/1/0": '"deep"',
      "1/0/1": '"b"',
    };
    const read = async () => {
      for (const [path, part] of Object.entries(parts)) {
        expect([path, (await served.send(`/json/doc/${path}`)).text]).toEqual([path, part]);
      }
    };
    await read();
    await served.send("/json/doc", { method: "PUT", body: text, as });
    await read();
  });

  it("add keys to an object in every spelling, and elements to an array only as indices", async () => {
    const served = await serve(
      project("p", withKey("writer"), withRootKey("doc", { initialValue: '{"o":{},"a":[]}' })),
    );
    for (const key of ["0", "00", "01", "-1", "1.0", "-", "1e1"]) {
      expect((await served.send(`/json/doc/o/${key}`, { method: "POST", body: "1", as })).status).toBe(201);
    }
    expect((await served.send("/json/doc/o")).text).toBe('{"0":1,"00":1,"01":1,"-1":1,"1.0":1,"-":1,"1e1":1}');
    expect((await served.send("/json/doc/a/0", { method: "POST", body: "1", as })).status).toBe(201);
    expect((await served.send("/json/doc/a/00", { method: "POST", body: "1", as })).code).toBe("invalid_index");
    expect((await served.send("/json/doc/a")).text).toBe("[1]");
  });

  it("follow the container when its type changes", async () => {
    const served = await serve(project("p", withKey("writer"), withRootKey("doc", { initialValue: '{"x":["a"]}' })));
    expect((await served.send("/json/doc/x/0")).text).toBe('"a"');
    await served.send("/json/doc/x", { method: "PUT", body: '{"0":"b"}', as });
    expect((await served.send("/json/doc/x/0")).text).toBe('"b"');
    expect((await served.send("/json/doc/x/0", { method: "POST", body: "1", as })).code).toBe("key_exists");
    expect((await served.send("/json/doc/x/7", { method: "PUT", body: "1", as })).status).toBe(201);
  });

  it("with a thousand digits are an index past the end, and a key", async () => {
    const served = await serve(shop);
    const many = "9".repeat(1000);
    expect((await served.send(`/json/list/${many}`)).code).toBe("not_found");
    expect((await served.send(`/json/list/${many}`, { method: "POST", body: "1", as })).code).toBe(
      "index_out_of_range",
    );
    expect((await served.send(`/json/list/${many}`, { method: "PUT", body: "1", as })).code).toBe("index_not_found");
    expect((await served.send(`/json/list/${many}`, { method: "DELETE", as })).code).toBe("not_found");
    expect((await served.send(`/json/doc/${many}`, { method: "POST", body: "1", as })).status).toBe(201);
  });
});

describeServed("encodings of a segment", (serve) => {
  it("name one and the same key: any case of hex digits, any character encoded or not", async () => {
    const served = await serve(shop);
    await served.send("/json/doc/a-b_c~d", { method: "PUT", body: '"here"', as });
    for (const path of ["/json/doc/%61-b_c~d", "/json/doc/a%2Db%5fc%7Ed", "/json/doc/a%2db%5Fc%7ed"]) {
      expect([path, (await served.send(path)).text]).toEqual([path, '"here"']);
    }
    expect((await served.send("/json/%64oc/a-b_c~d")).text).toBe('"here"');
  });

  it("are decoded once: %2561 is the key %61", async () => {
    const served = await serve(shop);
    await served.send("/json/doc/%2561", { method: "PUT", body: "1", as });
    expect((await served.send("/json/doc")).text).toBe('{"%61":1}');
    expect((await served.send("/json/doc/a")).code).toBe("not_found");
  });

  describe("are refused with 400 invalid_path, on reads and writes, and nothing is stored", () => {
    it.each([
      ["a percent sign alone", "%"],
      ["one hex digit", "a%2"],
      ["no hex digits", "%zz"],
      ["a broken sequence after a good one", "%20%"],
      ["a NUL", "%00"],
      ["a NUL among others", "a%00b"],
      ["an overlong slash", "%c0%af"],
      ["an overlong NUL", "%c0%80"],
      ["half a surrogate pair", "%ed%a0%80"],
      ["a pair of surrogates, CESU-8", "%ed%a0%bd%ed%b8%80"],
      ["a code point beyond Unicode", "%f4%90%80%80"],
      ["a cut sequence", "%e2%82"],
      ["a continuation byte alone", "%80"],
      ["Latin-1", "%e9"],
      ["UTF-16", "%ff%fe"],
      ["the %u form", "%u0041"],
    ])("%s", async (_what, segment) => {
      const served = await serve(shop);
      for (const [method, path] of [
        ["GET", `/json/doc/${segment}`],
        ["PUT", `/json/doc/${segment}`],
        ["POST", `/json/doc/a/${segment}`],
        ["DELETE", `/json/doc/${segment}/a`],
      ] as const) {
        const reply = await served.send(path, { method, as, ...(method !== "GET" && { body: "1" }) });
        expect([method, reply.status, reply.code]).toEqual([method, 400, "invalid_path"]);
      }
      expect((await served.send("/json/doc")).text).toBe("{}");
    });
  });

  it("refuses an empty inner segment wherever it stands", async () => {
    const served = await serve(shop);
    for (const path of ["/json//doc", "/json/doc//", "/json/doc//a", "/json/doc/a//b", "/json/doc/a//"]) {
      const reply = await served.send(path);
      expect([path, reply.status, reply.code]).toEqual([path, 400, "invalid_path"]);
    }
  });

  it("names the same place with one trailing slash, for every method", async () => {
    const served = await serve(shop);
    const at = (path: string, method: string) =>
      served.send(path, { method, as, ...(method !== "GET" && { body: "1" }) });
    expect((await at("/json/doc/k/", "PUT")).status).toBe(201);
    expect((await at("/json/doc/k/", "GET")).text).toBe("1");
    expect((await at("/json/doc/k/", "POST")).code).toBe("key_exists");
    expect((await at("/json/list/-/", "POST")).status).toBe(201);
    expect((await at("/json/doc/k/", "DELETE")).status).toBe(200);
    expect((await served.send("/json/doc")).text).toBe("{}");
  });

  it("leaves what follows a question mark out of the key, however it looks", async () => {
    const served = await serve(shop);
    for (const query of ["?", "?a=1", "?/b/c", "?%zz", "?a=%00", "??"]) {
      const reply = await served.send(`/json/doc/k${query}`, { method: "PUT", body: "1", as });
      expect([query, reply.status < 300]).toEqual([query, true]);
    }
    expect((await served.send("/json/doc")).text).toBe('{"k":1}');
  });

  it("says in a problem where it occurred, as the client wrote it", async () => {
    const served = await serve(shop);
    const reply = await served.send("/json/doc/%E2%82%AC?x=1");
    expect(reply.json().instance).toBe(`${served.base}/json/doc/%E2%82%AC`);
  });
});

describeServed("a path of more segments than values nest levels", (serve) => {
  const zeros = (count: number) => `/json/doc${"/0".repeat(count)}`;

  it("leads nowhere, and the store is not asked: it looks at a path step by step", async () => {
    const served = await serve(shop);
    expect((await served.send("/json/doc", { method: "PUT", as, body: {} })).status).toBe(200);
    const asked = async () =>
      (await served.plane.metrics.registry.metrics())
        .split("\n")
        .filter((line) => /^jsonplane_store_duration_seconds_count\{/.test(line));
    const before = await asked();
    const merge = { "content-type": "application/merge-patch+json" };
    for (const [method, sent] of [
      ["GET", {}],
      ["HEAD", {}],
      ["DELETE", { as }],
      ["DELETE", { as, headers: { "if-match": '"a"' } }],
    ] as const) {
      for (const count of [65, 120]) {
        expect([method, count, (await served.send(zeros(count), { method, ...sent })).status]).toEqual([
          method,
          count,
          404,
        ]);
      }
    }
    expect(await asked()).toEqual(before);
    for (const headers of [{ "if-match": "*" }, merge]) {
      const method = headers === merge ? "PATCH" : "PUT";
      expect((await served.send(zeros(120), { method, as, headers, body: {} })).code).toBe("too_deep");
    }
  });

  it("of 64 segments still leads to a value", async () => {
    const served = await serve(shop);
    const body = `${'{"0":'.repeat(64)}1${"}".repeat(64)}`;
    expect((await served.send("/json/doc", { method: "PUT", as, body })).status).toBe(200);
    expect((await served.send(zeros(64))).text).toBe("1");
  });
});
