import { describe, expect, it } from "vitest";
import { allowedMethods, requireOperation, route } from "../../../../dataplane/route/route.ts";

describe("routing below a project's base", () => {
  it.each([
    [["api", "books"], { kind: "collection", resource: "books" }],
    [["api", "books", "1"], { kind: "object", resource: "books", id: "1" }],
    [["json", "flags"], { kind: "document", rootKey: "flags", path: [] }],
    [["json", "flags", "a", "0"], { kind: "document", rootKey: "flags", path: ["a", "0"] }],
    [["sessions"], { kind: "sessions" }],
    [["sessions", "refresh"], { kind: "refresh" }],
    [["sessions", "s-1"], { kind: "session", id: "s-1" }],
    [["whoami"], { kind: "whoami" }],
    [[".well-known", "jwks.json"], { kind: "keys" }],
    [["openapi.json"], { kind: "openapi" }],
    [["docs"], { kind: "docs" }],
    [["docs", "page.js"], { kind: "docs", file: "page.js" }],
    [["docs", "openapi.json"], { kind: "docs", file: "openapi.json" }],
    [["console"], { kind: "console" }],
    [["console", "page.js"], { kind: "console", file: "page.js" }],
    [["console", "openapi.json"], { kind: "consoleDescription" }],
  ])("reads %j", (segments, target) => {
    expect(route(segments)).toEqual(target);
  });

  it.each([
    [["api"]],
    [["json"]],
    [["api", "a", "b", "c"]],
    [["sessions", "a", "b"]],
    [["users"]],
    [["whoami", "a"]],
    [["openapi.json", "a"]],
    [["docs", "a", "b"]],
    [["console", "openapi.json", "a"]],
    [[".well-known"]],
  ])("refuses %j", (segments) => {
    expect(() => route(segments)).toThrow(expect.objectContaining({ code: "unknown_path" }));
  });

  it("offers a root key's whole value to GET, HEAD, PUT and PATCH, and what is inside it to POST and DELETE too", () => {
    expect(allowedMethods({ kind: "document", rootKey: "a", path: [] })).toEqual([
      "GET",
      "HEAD",
      "PUT",
      "PATCH",
      "OPTIONS",
    ]);
    expect(allowedMethods({ kind: "document", rootKey: "a", path: ["b"] })).toEqual([
      "GET",
      "HEAD",
      "POST",
      "PUT",
      "PATCH",
      "DELETE",
      "OPTIONS",
    ]);
  });

  it("takes HEAD for GET and knows no method by way of an inherited member", () => {
    expect(requireOperation({ kind: "collection", resource: "a" }, "HEAD")).toBe("read");
    expect(() => requireOperation({ kind: "collection", resource: "a" }, "constructor")).toThrow(/not allowed/);
    expect(() => requireOperation({ kind: "collection", resource: "a" }, "DELETE")).toThrow(/not allowed/);
  });
});
