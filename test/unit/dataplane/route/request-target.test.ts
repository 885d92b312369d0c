import type { FastifyRequest } from "fastify";
import { describe, expect, it } from "vitest";
import { hostName, type RequestShape, requestShape } from "../../../../dataplane/route/request-target.ts";

describe("the host that a request names", () => {
  it.each([
    ["api.example.org", "api.example.org"],
    ["API.Example.ORG:8080", "api.example.org"],
    ["api.example.org.", "api.example.org"],
    ["api.example.org.:8080", "api.example.org"],
    ["api.example.org..", "api.example.org."],
    ["[::1]", "[::1]"],
    ["[::1]:80", "[::1]"],
    ["", ""],
  ])("%s is %s", (host, name) => {
    expect(hostName(host)).toBe(name);
  });
});

interface Asked {
  readonly method?: string;
  readonly host?: string;
  readonly forwardedScheme?: string;
  readonly authorization?: string;
  /** By host name. */
  readonly holders?: Readonly<Record<string, string>>;
  readonly publicPath?: readonly string[];
}

function shape(target: string, asked: Asked = {}): RequestShape | undefined {
  const { method = "GET", host = "plane.test", forwardedScheme, authorization, holders = {} } = asked;
  const headers = { ...(authorization !== undefined && { authorization }), "x-forwarded-proto": forwardedScheme };
  const request = { method, host, headers } as unknown as FastifyRequest;
  return requestShape({ hostOwner: (name) => holders[name] }, asked.publicPath ?? [], request, target);
}

const key = (target: string, asked: Asked = {}): string => {
  const found = shape(target, asked);
  if (found === undefined) throw new Error(`${target} has no shape`);
  return found.key;
};

describe("requests whose plan is one", () => {
  it.each([
    ["two objects of a resource", "/n/p/api/books/1", "/n/p/api/books/2"],
    ["an object, and one with a slash behind it", "/n/p/api/books/1", "/n/p/api/books/2/"],
    ["an object whose id has a slash in it", "/n/p/api/books/1", "/n/p/api/books/%2F"],
    ["two paths below a root key", "/n/p/json/flags/a", "/n/p/json/flags/b/c%2Fd/0"],
    ["a collection with a slash behind it", "/n/p/api/books", "/n/p/api/books/"],
    ["a root key with a slash behind it", "/n/p/json/flags", "/n/p/json/flags/"],
  ])("%s have one key", (_, one, other) => {
    expect(key(one)).toBe(key(other));
  });

  it("say what they name below", () => {
    expect(shape("/n/p/api/books/1/?x=y")).toMatchObject({ subPath: ["1"], baseSegments: 2, queryLength: 4 });
    expect(shape("/n/p/json/flags/b/c%2Fd/0")?.subPath).toEqual(["b", "c/d", "0"]);
    expect(shape("/n/p/json/flags/")?.subPath).toEqual([]);
  });
});

describe("requests whose plans differ have different keys:", () => {
  const credential = { authorization: "apikey x" };
  it.each<readonly [string, readonly [string, Asked?], readonly [string, Asked?]]>([
    ["methods", ["/n/p/api/books", { method: "GET" }], ["/n/p/api/books", { method: "HEAD" }]],
    ["a collection and an object", ["/n/p/api/books"], ["/n/p/api/books/1"]],
    ["a root key and what is in it", ["/n/p/json/flags"], ["/n/p/json/flags/a"]],
    ["resources", ["/n/p/api/books/1"], ["/n/p/api/films/1"]],
    ["projects", ["/n/p/api/books/1"], ["/n/q/api/books/1"]],
    ["a resource and a root key", ["/n/p/api/books"], ["/n/p/json/books"]],
    ["queries", ["/n/p/api/books?_limit=1"], ["/n/p/api/books?_limit=2"]],
    ["a query and none", ["/n/p/api/books?_limit=1"], ["/n/p/api/books"]],
    ["hosts", ["/n/p/api/books", { host: "a.test" }], ["/n/p/api/books", { host: "A.test" }]],
    ["ports", ["/n/p/api/books", { host: "a.test" }], ["/n/p/api/books", { host: "a.test:80" }]],
    ["schemes", ["/n/p/api/books", {}], ["/n/p/api/books", { forwardedScheme: "http" }]],
    ["callers", ["/n/p/api/books", credential], ["/n/p/api/books", { authorization: "apikey y" }]],
    ["a credential and none", ["/n/p/api/books", credential], ["/n/p/api/books"]],
    ["an empty header and none", ["/n/p/api/books", { authorization: "" }], ["/n/p/api/books"]],
    [
      "a host that one project held and another one holds",
      ["/api/books", { holders: { "plane.test": "n/p" } }],
      ["/api/books", { holders: { "plane.test": "n/q" } }],
    ],
    [
      "a host that nobody holds and one that is held",
      ["/json/p/json/flags/a"],
      ["/json/p/json/flags/a", { holders: { "plane.test": "n/p" } }],
    ],
  ])("%s", (_, one, other) => {
    expect(key(...one)).not.toBe(key(...other));
  });
});

it("what names the project decides where its own path begins", () => {
  const publicPath = ["json", "v1"];
  expect(shape("/json/v1/n/p/json/flags/a", { publicPath })).toMatchObject({ baseSegments: 4, subPath: ["a"] });
  expect(shape("/n/p/json/flags/a", { publicPath })).toMatchObject({ baseSegments: 2, subPath: ["a"] });
  expect(shape("/json/p/json/flags/a")).toMatchObject({ baseSegments: 2, subPath: ["a"] });
  const held = { holders: { "plane.test": "n/p" } };
  expect(shape("/json/p/json/flags/a", held)).toMatchObject({ baseSegments: 0, subPath: ["json", "flags", "a"] });
  expect(shape("/api/books/1", { ...held, host: "PLANE.test.:80" })).toMatchObject({ baseSegments: 0, subPath: ["1"] });
});

describe("these have no key:", () => {
  it.each([
    ["a path that is refused", "/n/p/json/flags/a//b"],
    ["one that can't be decoded", "/n/p/json/flags/%zz"],
    ["one with NUL", "/n/p/api/books/%00"],
    ["a segment that is too long", `/n/p/json/flags/${"x".repeat(1_025)}`],
    ["a path below an object", "/n/p/api/books/1/x"],
    ["two slashes at the end", "/n/p/api/books//"],
    ["what is no stored data", "/n/p/sessions"],
    ["a project alone", "/n/p"],
    ["no project", "/"],
    ["a first segment that is encoded", "/n/p/%61pi/books"],
    ["an absolute target", "http://plane.test/n/p/api/books"],
    ["an asterisk", "*"],
    ["a query that is very long", `/n/p/api/books?${"x".repeat(4_096)}`],
  ])("%s", (_, target) => {
    expect(shape(target)).toBeUndefined();
  });

  it("a request without a host, and one with a credential that is very long", () => {
    expect(shape("/n/p/api/books", { host: "" })).toBeUndefined();
    expect(shape("/n/p/api/books", { authorization: "x".repeat(4_096) })).toBeUndefined();
  });
});
