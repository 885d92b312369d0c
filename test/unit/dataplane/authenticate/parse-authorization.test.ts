import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  maxAuthorizationLength,
  maxUsernameBytes,
  parseAuthorization,
} from "../../../../dataplane/authenticate/parse-authorization.ts";

const base64 = (text: string | Buffer): string => Buffer.from(text).toString("base64");
const basicOf = (text: string | Buffer): string => `Basic ${base64(text)}`;
/** All but the last character of 64 bytes in base64url. */
const signature = "s".repeat(85);

describe("an Authorization header", () => {
  test("that is missing is absent", () => {
    expect(parseAuthorization(undefined)).toEqual({ kind: "absent" });
  });

  test.each(["apikey", "ApiKey", "APIKEY", "aPiKeY"])("names the scheme %s in any case", (scheme) => {
    expect(parseAuthorization(`${scheme} jp_abc`)).toEqual({ kind: "apikey", key: "jp_abc" });
  });

  test.each(["bearer", "Bearer", "BEARER"])("names the scheme %s in any case", (scheme) => {
    const token = `a.b-_.${signature}A`;
    expect(parseAuthorization(`${scheme} ${token}`)).toEqual({ kind: "token", token, mayBeOwn: true });
  });

  test("whose token has a signature of another length brings none of this service's own", () => {
    const token = `a.b.${"s".repeat(340)}`;
    expect(parseAuthorization(`bearer ${token}`)).toEqual({ kind: "token", token, mayBeOwn: false });
  });

  test.each(["basic", "Basic", "BASIC"])("names the scheme %s in any case", (scheme) => {
    expect(parseAuthorization(`${scheme} ${base64("alice:secret")}`)).toEqual({
      kind: "basic",
      username: "alice",
      password: "secret",
    });
  });

  test("may have some spaces after the scheme, not thousands of them", () => {
    expect(parseAuthorization("apikey    k")).toEqual({ kind: "apikey", key: "k" });
    expect(parseAuthorization("apikey     k")).toEqual({ kind: "malformed", scheme: "apikey" });
  });

  test("spells a token's signature in one way only", () => {
    const accepted = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"].filter(
      (last) => parseAuthorization(`bearer a.b.${signature}${last}`).kind === "token",
    );
    expect(accepted).toEqual(["A", "Q", "g", "w"]);
  });

  test.each([
    ["", "foreign"],
    [" ", "foreign"],
    ["Digest username=x", "foreign"],
    ["Negotiate abc", "foreign"],
    ["apikeyx abc", "foreign"],
    ["apikey=abc", "foreign"],
    ["api key", "foreign"],
    ["bearer: a.b.c", "foreign"],
    [" bearer a.b.c", "foreign"],
    ["bearer\ta.b.c", "foreign"],
    ["ＢＥＡＲＥＲ a.b.c", "foreign"],
    ["apikey", "malformed"],
    ["apikey ", "malformed"],
    ["apikey a b", "malformed"],
    ["apikey clé", "malformed"],
    ["apikey a\u0000", "malformed"],
    ["apikey\u00a0abc", "foreign"],
    ["bearer", "malformed"],
    ["bearer abc", "malformed"],
    ["bearer a.b", "malformed"],
    ["bearer a.b.c.d", "malformed"],
    ["bearer a..c", "malformed"],
    ["bearer a.b.", "malformed"],
    ["bearer a.b.c=", "malformed"],
    ["bearer a.b.c, Basic eDp5", "malformed"],
    ["bearer a.b.c\n", "malformed"],
    ["basic", "malformed"],
  ])("%j is %s", (header, kind) => {
    expect(parseAuthorization(header).kind).toBe(kind);
  });

  test("says of which scheme a malformed one is", () => {
    expect(parseAuthorization("BEARER")).toEqual({ kind: "malformed", scheme: "bearer" });
    expect(parseAuthorization("Apikey")).toEqual({ kind: "malformed", scheme: "apikey" });
    expect(parseAuthorization("Basic !")).toEqual({ kind: "malformed", scheme: "basic" });
  });

  test("that brings another kind of token, or too long a one, says so", () => {
    const malformed = { kind: "malformed", scheme: "bearer" };
    for (const token of ["opaque", "a.b.c.d.e", "a.b.", "a.b"]) {
      expect(parseAuthorization(`bearer ${token}`)).toEqual({ ...malformed, fault: "no_compact_jws" });
    }
    const long = `bearer a.b.${"s".repeat(maxAuthorizationLength)}`;
    expect(parseAuthorization(long)).toEqual({ ...malformed, fault: "too_long" });
    expect(parseAuthorization("bearer opaque and more")).toEqual(malformed);
  });

  test("over the length bound is malformed, whatever it holds", () => {
    const megabyte = "x".repeat(1 << 20);
    expect(parseAuthorization(`apikey ${megabyte}`)).toEqual({ kind: "malformed", scheme: "apikey" });
    expect(parseAuthorization(basicOf(`alice:${megabyte}`))).toEqual({ kind: "malformed", scheme: "basic" });
    expect(parseAuthorization(megabyte)).toEqual({ kind: "foreign" });
    expect(parseAuthorization(`bearer${" ".repeat(1 << 20)}a.b.c`).kind).toBe("malformed");
    expect(parseAuthorization(`apikey ${"x".repeat(maxAuthorizationLength - 7)}`).kind).toBe("apikey");
    expect(parseAuthorization(`apikey ${"x".repeat(maxAuthorizationLength - 6)}`).kind).toBe("malformed");
  });

  test("never throws", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("apikey ", "bearer ", "basic ", ""),
        fc.string({ unit: "binary-ascii" }),
        (scheme, rest) => {
          expect(() => parseAuthorization(scheme + rest)).not.toThrow();
        },
      ),
    );
  });
});

describe("a Basic header", () => {
  test("carries every user name and password that RFC 7617 allows", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((name) => !/[:\p{Cc}]/u.test(name)),
        fc.string({ unit: "grapheme", maxLength: 50 }),
        (username, password) => {
          const [user, pass] = [username.toWellFormed(), password.toWellFormed()];
          expect(parseAuthorization(basicOf(`${user}:${pass}`))).toEqual({
            kind: "basic",
            username: user,
            password: pass,
          });
        },
      ),
    );
  });

  test.each([
    ["colons in the password", "alice:a:b::c", "a:b::c"],
    ["newlines in the password", "alice:se\ncret\n", "se\ncret\n"],
    ["an empty password", "alice:", ""],
    ["a byte order mark in the password", "alice:\ufeffx", "\ufeffx"],
  ])("may have %s", (_, text, password) => {
    expect(parseAuthorization(basicOf(text))).toEqual({ kind: "basic", username: "alice", password });
  });

  test("may come without its padding", () => {
    expect(parseAuthorization("Basic YWxpY2U6cHc")).toEqual({ kind: "basic", username: "alice", password: "pw" });
    expect(parseAuthorization("Basic YWxpY2U6cHc=").kind).toBe("basic");
  });

  test.each([
    ["no colon", basicOf("alice")],
    ["no user name", basicOf(":secret")],
    ["a newline in the user name", basicOf("ali\nce:secret")],
    ["a NUL in the user name", basicOf("ali\u0000ce:secret")],
    ["bytes that are no UTF-8", basicOf(Buffer.from([0x61, 0xe9, 0x3a, 0x62]))],
    ["an overlong UTF-8 sequence", basicOf(Buffer.from([0x61, 0xc0, 0xba, 0x3a, 0x62]))],
    ["text that is no base64", "Basic alice:secret"],
    ["the URL-safe alphabet", `Basic ${Buffer.from("a:\u00ff\u00fe?>").toString("base64url")}`],
    ["a letter too many", "Basic YWxpY2U6c"],
    ["bits after the last byte", "Basic YWxpY2U6cHd="],
    ["padding in the middle", "Basic YWxp=Y2U6cHc"],
    ["a user name over the bound", basicOf(`${"x".repeat(maxUsernameBytes + 1)}:pw`)],
    ["a password over the bound", basicOf(`alice:${"x".repeat(1026)}`)],
    ["a password over the bound in bytes", basicOf(`alice:${"é".repeat(513)}`)],
  ])("with %s is malformed", (_, header) => {
    expect(parseAuthorization(header)).toEqual({ kind: "malformed", scheme: "basic" });
  });
});
