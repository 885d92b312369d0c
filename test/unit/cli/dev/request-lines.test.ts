import { describe, expect, it } from "vitest";
import { createRequestLines, requestLinesFor, type ShownRequest } from "../../../../cli/dev/report/request-lines.ts";
import type { Caller } from "../../../../dataplane/authenticate/caller.ts";
import { manualTime } from "../../../support/time/manual-time.ts";
import { compiled } from "../../core/schema/compiled.ts";

const ada: Caller = { kind: "user", name: "ada", role: "Users", access: "Write", sessionId: "hidden-session" };
const robot: Caller = {
  kind: "apikey",
  name: "robot",
  description: "hidden description",
  role: "Users",
  access: "Read",
};

function shown(method: string, rawUrl: string, caller?: Caller): ShownRequest {
  const proof = caller && { caller, logMembers: "", validFrom: 0, validUntil: 0 };
  return { request: { method, headers: {} }, rawUrl, ...(proof !== undefined && { proof }) };
}

function lines(hasColors = false) {
  const written: string[] = [];
  const time = manualTime();
  const requests = createRequestLines({ write: (text) => void written.push(text), hasColors, timers: time.timers });
  return { written, time, requests };
}

function lineOf(request: ShownRequest, status = 200, seconds = 0.0123, code?: string): string {
  const { written, requests } = lines();
  requests.show(request, { status, seconds, code });
  requests.flush();
  return written.join("");
}

describe("a request at the terminal", () => {
  it.each<[string, string, string]>([
    ["of a user", lineOf(shown("GET", "/a/b/api/c", ada)), "GET    /a/b/api/c  200  12 ms  user ada\n"],
    [
      "of a key",
      lineOf(shown("POST", "/a/b/api/c", robot), 201, 0.0012),
      "POST   /a/b/api/c  201  1.2 ms  key robot\n",
    ],
    [
      "of nobody in particular",
      lineOf(shown("GET", "/a/b/json/c", { kind: "anonymous" }), 200, 1.55),
      "GET    /a/b/json/c  200  1.6 s  anonymous\n",
    ],
    [
      "that is refused",
      lineOf(shown("DELETE", "/a/b/api/c/1"), 401, 0.001, "invalid_credentials"),
      "DELETE /a/b/api/c/1  401 invalid_credentials  1.0 ms  not authenticated\n",
    ],
  ])("%s is one line: method, path, status, time and caller", (_, line, expected) => {
    expect(line).toBe(expected);
  });

  it("of a page whose origin the project does not allow says so, and of other pages nothing", () => {
    const config = { cors: { allowedOrigins: ["http://localhost:5173"] } };
    const resources = new Map();
    const from = (origin: string, host = "127.0.0.1:8080"): string => {
      const request = { method: "OPTIONS", headers: { origin, host } };
      return lineOf({ ...shown("OPTIONS", "/a/b/api/c"), request, project: { config, resources } }, 204);
    };
    expect(from("http://localhost:5174")).toContain(
      "  origin http://localhost:5174 is not in spec.cors.allowedOrigins",
    );
    expect(from("http://localhost:5174\u001b[2J")).toContain("5174\\u001b[2J");
    expect(from("http://localhost:5173")).not.toContain("origin");
    expect(from("http://127.0.0.1:8080")).not.toContain("origin");
  });

  it("says why a token is refused, and nothing of other refusals", () => {
    const message = "The token's claim hd does not have the value that this project requires";
    const refused = (authorization: string, status: number, code: string): string => {
      const request = { method: "GET", headers: { authorization } };
      return lineOf({ ...shown("GET", "/a/b/api/c"), request, problem: { message } }, status, 0.001, code);
    };
    expect(refused("Bearer hunter2", 401, "invalid_credentials")).toBe(
      `GET    /a/b/api/c  401 invalid_credentials  1.0 ms  not authenticated  ${message}\n`,
    );
    expect(refused("Bearer hunter2", 400, "validation_failed")).not.toContain(message);
    expect(refused("ApiKey hunter2", 401, "invalid_credentials")).not.toContain(message);
  });

  const schema = compiled({
    type: "object",
    properties: {
      author: { type: "object", properties: { name: { type: "string" } } },
      pages: { type: "integer" },
      apiKey: { type: "string" },
      password: { type: "string" },
    },
  });
  const config = { cors: { allowedOrigins: ["*"] } };
  const ofBooks = (query: string): string => {
    const project = { config, resources: new Map([["books", { schema }]]) };
    return /\?(\S+) /.exec(lineOf({ ...shown("GET", `/a/b/api/books?${query}`, ada), project }))?.[1] ?? "";
  };

  it("shows the query of a list as it was sent, with names decoded", () => {
    const query = "_sort=-pages&_limit=5&author.name=Jane+Austen&pages%3Agt=500";
    expect(ofBooks(query)).toBe(query.replace("%3A", ":"));
  });

  it.each([
    ["access_token=hunter2", "access_token=…"],
    ["_limit=5&key=hunter2&x=hunter2", "_limit=5&key=…&x=…"],
    ["apiKey=hunter2&password:like=hunter2", "apiKey=…&password:like=…"],
    ["hunter2", "…"],
    ["hunter%=1&hunter2hunter2hunter2hunter2hunter2hunter2=1", "…&…"],
  ])("shows no value of %s, which may be a secret", (query, expected) => {
    expect(ofBooks(query)).toBe(expected);
  });

  it("shows no value where there is no such resource, and no password in front of the path", () => {
    const every = [
      lineOf(shown("GET", "/a/b/api/c?_sort=hunter3", ada)),
      lineOf(shown("GET", "http://ada:hunter2@host/a/b/api/c?hunter3", ada)),
      lineOf(shown("GET", "/a?hunter2", ada)),
      lineOf(shown("GET", "http://ada:hunter2@host", robot)),
      lineOf(shown("GET", "/a#hunter2", robot)),
    ].join("");
    expect(every).toContain(" /a/b/api/c?_sort=…  ");
    expect(every).not.toMatch(/hunter|hidden/);
  });

  it("can't command the terminal, and is short", () => {
    expect(lineOf(shown("GET", "/a\u009b31m\u001b[2J/\u202eb", ada))).toContain(" /a\\u009b31m\\u001b[2J/\\u202eb  ");
    const long = lineOf(shown("GET", `/${"x".repeat(5_000)}`, ada));
    expect(long.length).toBeLessThan(150);
    expect(long).toContain("xxx…  200");
  });

  it("has the colour of its status where there are colours", () => {
    const colour = (status: number) => {
      const { written, requests } = lines(true);
      requests.show(shown("GET", "/", ada), { status, seconds: 0, code: undefined });
      requests.flush();
      return written.join("").split("\u001b[")[1]?.split("m")[0];
    };
    expect([200, 304, 404, 503].map(colour)).toEqual(["32", "36", "33", "31"]);
    expect(lineOf(shown("GET", "/", ada))).not.toContain("\u001b");
  });

  it("is written within a moment; a burst is cut short and counted", async () => {
    const { written, time, requests } = lines();
    for (let count = 0; count < 1_000; count++)
      requests.show(shown("GET", "/", ada), { status: 200, seconds: 0, code: undefined });
    expect(written).toEqual([]);
    await time.advance(100);
    const printed = written.join("").split("\n");
    expect(printed).toHaveLength(42);
    expect(printed.slice(-2)).toEqual(["… and 960 more requests", ""]);
    requests.show(shown("GET", "/", ada), { status: 200, seconds: 0, code: undefined });
    await time.advance(100);
    expect(written).toHaveLength(2);
  });
});

describe("requests are shown", () => {
  const { timers } = manualTime();
  const write = () => true;

  it("at a terminal and in a pipe", () => {
    expect(requestLinesFor({ write, hasColors: () => true }, "warn", timers)).toBeDefined();
    expect(requestLinesFor({ write }, "warn", timers)).toBeDefined();
  });

  it("unless not even warnings are wanted, or the log has them", () => {
    for (const level of ["silent", "error", "info", "debug"] as const)
      expect(requestLinesFor({ write }, level, timers)).toBeUndefined();
  });
});
