// What is taken for a JSON body and what is refused as none, by type and by text.

import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { apikey, basic, project, withKey, withLimits, withResource, withRootKey } from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const as = apikey("writer");
const shop = project("shop", withKey("writer"), withRootKey("doc"), withResource("things"));

/** The same body to a root key and as an object; both must check it alike. */
async function outcomes(served: Served, body: string | Uint8Array, headers: Record<string, string> = {}) {
  const put = await served.send("/json/doc/k", { method: "PUT", body, as, headers });
  const post = await served.send("/api/things", { method: "POST", body, as, headers });
  return [put, post].map(({ status, code }) => code ?? status);
}

const refusedText = async (served: Served, body: string | Uint8Array) => {
  const reply = await served.send("/json/doc/k", { method: "PUT", body, as });
  expect([reply.status, (await served.send("/json/doc")).text]).toEqual([400, "{}"]);
  return reply;
};

describeServed("content types", (serve) => {
  it.each([
    undefined,
    "application/json",
    "application/json; charset=utf-8",
    "APPLICATION/JSON;charset=UTF-8",
    "application/vnd.api+json",
    "application/merge-patch+json",
    "image/svg+json",
    "application/x-www-form-urlencoded",
    "text/plain",
    "text/plain;charset=UTF-8",
    "",
  ])("%s is parsed as JSON", async (type) => {
    const served = await serve(shop);
    const headers = type === undefined ? undefined : { "content-type": type };
    expect(await outcomes(served, '{"a":1}', headers)).toEqual([201, 201]);
  });

  it.each([
    "application/xml",
    "text/html",
    "multipart/form-data; boundary=x",
    "application/octet-stream",
    "application/jsonp",
    "application/json-seq",
    "application/yaml",
    "json",
    "nonsense",
    ";;;",
    "application/",
    "/json",
    "application/json, text/plain",
    "application/json\tx",
  ])("%s is refused with 415, and nothing is stored", async (type) => {
    const served = await serve(shop);
    expect(await outcomes(served, '{"a":1}', { "content-type": type })).toEqual(
      Array(2).fill("unsupported_media_type"),
    );
    expect((await served.send("/json/doc")).text).toBe("{}");
  });

  it.each(["gzip", "br", "identity, gzip", "GZIP"])(
    "%s as a Content-Encoding is refused with 415, which says that none is taken",
    async (coding) => {
      const served = await serve(shop);
      const headers = { "content-encoding": coding };
      const reply = await served.send("/json/doc/k", { method: "PUT", body: gzipSync("1"), as, headers });
      expect([reply.status, reply.code, reply.headers["accept-encoding"]]).toEqual([
        415,
        "unsupported_media_type",
        "identity",
      ]);
      expect((await served.send("/json/doc")).text).toBe("{}");
    },
  );

  it.each(["identity", "Identity", ""])("%s as a Content-Encoding is none", async (coding) => {
    const served = await serve(shop);
    expect(await outcomes(served, '{"a":1}', { "content-encoding": coding })).toEqual([201, 201]);
  });

  it("do not come before what the path, the method and the caller are refused for", async () => {
    const served = await serve(shop);
    for (const type of ["image/png", "nonsense"]) {
      const headers = { "content-type": type };
      expect((await served.send("/nowhere", { method: "PUT", body: "1", headers })).code).toBe("unknown_path");
      expect((await served.send("/json/doc/a", { method: "PUT", body: "1", headers })).code).toBe(
        "authentication_required",
      );
      expect((await served.send("/json/doc", { method: "DELETE", body: "1", headers })).code).toBe(
        "method_not_allowed",
      );
    }
  });

  it("matter only where a body is read: GET and DELETE are fine with any, and with none", async () => {
    const served = await serve(shop);
    for (const type of ["application/json", "image/png", "nonsense"]) {
      await served.send("/json/doc/k", { method: "PUT", body: "1", as });
      const headers = { "content-type": type };
      expect((await served.send("/json/doc/k", { headers })).text).toBe("1");
      expect((await served.send("/json/doc/k", { headers, body: "ignored" })).text).toBe("1");
      expect((await served.send("/json/doc/k", { method: "DELETE", headers, as })).status).toBe(200);
      const login = { method: "POST", headers, body: "ignored", as: basic("nobody") };
      expect((await served.send("/sessions", login)).code).toBe("invalid_credentials");
    }
  });
});

describeServed("texts", (serve) => {
  it.each([
    ["nothing", ""],
    ["white space alone", " \n\t "],
    ["two values", "1 2"],
    ["trailing text", '{"a":1}x'],
    ["a second object", '{"a":1}{"b":2}'],
    ["a trailing comma", '{"a":1,}'],
    ["a trailing comma in an array", "[1,]"],
    ["single quotes", "{'a':1}"],
    ["a bare name", "{a:1}"],
    ["a comment", '{"a":1}//x'],
    ["NaN", "NaN"],
    ["Infinity", "-Infinity"],
    ["undefined", "undefined"],
    ["a hexadecimal number", "0x10"],
    ["a leading zero", "01"],
    ["a leading plus", "+1"],
    ["a leading point", ".5"],
    ["a trailing point", "5."],
    ["an empty exponent", "1e"],
    ["an unclosed string", '"abc'],
    ["a raw line break in a string", '"a\nb"'],
    ["a raw NUL in a string", '"a\0b"'],
    ["an unknown escape", '"\\x41"'],
    ["a short escape", '"\\u12"'],
    ["a form feed as white space", "\f1"],
    ["a no-break space", "\u00a01"],
    ["form data", "a=1&b=2"],
    ["markup", "<a>1</a>"],
    ["only an opening bracket", "["],
    ["only a quote", '"'],
    ["True", "True"],
    ["a missing value", '{"a":}'],
    ["a missing colon", '{"a" 1}'],
  ])("refuses %s", async (_what, text) => {
    const served = await serve(shop);
    const reply = await refusedText(served, text);
    expect(reply.code).toBe(text === "" ? "body_required" : "malformed_json");
  });

  it("says where the text goes wrong, without repeating it", async () => {
    const served = await serve(shop);
    const reply = await refusedText(served, '{\n  "secret": "hunter2",\n  "b": oops\n}');
    expect(reply.json().detail).toMatch(/line 3, column 8/);
    expect(reply.text).not.toContain("hunter2");
  });

  it.each([
    ["a byte order mark", Buffer.from('\ufeff{"a":1}')],
    ["UTF-16", Buffer.from('{"a":1}', "utf16le")],
    ["UTF-16 with its mark", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{"a":1}', "utf16le")])],
    ["Latin-1", Buffer.from('"caf\u00e9"', "latin1")],
    ["an overlong sequence", Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ["a raw lone surrogate", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ["a raw pair of surrogates", Buffer.from([0x22, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80, 0x22])],
    ["a cut sequence", Buffer.from([0x22, 0xe2, 0x82, 0x22])],
    ["an escaped high surrogate alone", Buffer.from('"\\ud83d"')],
    ["an escaped low surrogate alone", Buffer.from('"\\ude00x"')],
    ["escaped surrogates in the wrong order", Buffer.from('"\\ude00\\ud83d"')],
    ["an escaped lone surrogate in a name", Buffer.from('{"\\ud800":1}')],
    ["a code point beyond Unicode", Buffer.from([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22])],
  ])("refuses %s", async (_what, bytes) => {
    const served = await serve(shop);
    expect((await refusedText(served, bytes)).code).toBe("malformed_json");
  });

  it.each([
    ["two members of one name", '{"a":1,"a":1}'],
    ["two members spelled differently", '{"a":1,"\\u0061":2}'],
    ["two __proto__ members", '{"__proto__":1,"__proto__":2}'],
    ["two empty names", '{"":1,"":2}'],
    ["two among hundreds, deep down", `[[{"x":{${Array.from({ length: 500 }, (_, n) => `"k${n}":1`)},"k7":2}}]]`],
  ])("refuses %s with duplicate_member", async (_what, text) => {
    const served = await serve(shop);
    expect((await refusedText(served, text)).code).toBe("duplicate_member");
  });

  it.each([
    "123456789012345678901234567890",
    "18446744073709551616",
    "-9223372036854775809",
    "1e400",
    "-1e400",
    "1e309",
    "[0,[1e999999999]]",
    '{"a":99999999999999999999}',
    "9".repeat(400),
  ])("refuses %s with number_out_of_range", async (text) => {
    const served = await serve(shop);
    expect((await refusedText(served, text)).code).toBe("number_out_of_range");
  });

  it("keeps the numbers that can be kept: 64-bit integers to the digit, 1.0 as 1.0", async () => {
    const served = await serve(shop);
    const exact = "[18446744073709551615,-9223372036854775808,9007199254740993,1.0,0,0.1,1e-7]";
    await served.send("/json/doc/n", { method: "PUT", body: exact, as });
    expect((await served.send("/json/doc/n")).text).toBe(exact);
    const object = `{"n":${exact}}`;
    expect((await served.send("/api/things", { method: "POST", body: object, as })).text).toContain(
      object.slice(1, -1),
    );
  });

  it("refuses 65, 129 and 100,000 levels with too_deep, closed or not", async () => {
    const served = await serve(shop);
    for (const levels of [65, 129, 100_000]) {
      for (const text of ["[".repeat(levels) + "]".repeat(levels), '{"a":'.repeat(levels)]) {
        expect(await outcomes(served, text)).toEqual(["too_deep", "too_deep"]);
      }
    }
  });

  it("takes white space around and inside, and every scalar by itself", async () => {
    const served = await serve(shop);
    for (const [sent, stored] of [
      [' \r\n\t{ "a" : [ 1 , 2 ] }\n', '{"a":[1,2]}'],
      ["\n0\n", "0"],
      [' "x" ', '"x"'],
      ["null\n", "null"],
    ] as const) {
      expect((await served.send("/json/doc/k", { method: "PUT", body: sent, as })).text).toBe(stored);
    }
  });
});

describeServed("a body over the limit", (serve) => {
  const mebibyte = 1 << 20;
  const textOf = (bytes: number) => JSON.stringify("x".repeat(bytes - 2));

  describe("is 413", () => {
    it("from one byte over 1 MiB on, 10 MiB alike; at the limit it is taken", async () => {
      const served = await serve(shop);
      expect(await outcomes(served, `${" ".repeat(mebibyte - 2)}{}`)).toEqual([201, 201]);
      for (const length of [mebibyte + 1, 10 * mebibyte]) {
        expect(await outcomes(served, textOf(length))).toEqual(["body_too_large", "body_too_large"]);
      }
      expect((await served.send("/json/doc")).text).toBe('{"k":{}}');
    });

    it("that a project sets, and the detail names it", async () => {
      const served = await serve(project("p", withKey("writer"), withLimits({ maxBodyBytes: 10 }), withRootKey("doc")));
      expect((await served.send("/json/doc/k", { method: "PUT", body: textOf(10), as })).status).toBe(201);
      const reply = await served.send("/json/doc/k", { method: "PUT", body: textOf(11), as });
      expect([reply.status, reply.code, reply.json().detail]).toEqual([
        413,
        "body_too_large",
        expect.stringContaining("10 bytes here (spec.limits.maxBodyBytes of the Project)"),
      ]);
    });
  });
});
