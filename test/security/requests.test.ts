// Requests that mean one thing to a proxy and another to us, or would like to: heads, names, paths
// and what reaches the log of a replica over real Redis JSON.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorCatalogue } from "../../core/errors/catalogue.ts";
import { type AttackedReplica, startAttacked } from "../support/fleet/attacked-replica.ts";
import { apikey, project, withHosts, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import { openRaw, parseReplies } from "../support/http/raw-http.ts";
import { eventually } from "../support/time/eventually.ts";
import { openCrowd } from "./many-sockets.ts";

const loud = project("loud", withHosts("loud.test"), withKey("loud"), withRootKey("doc"), withResource("things"));
const as = apikey("loud");

let attacked: AttackedReplica;

beforeAll(async () => {
  attacked = await startAttacked(loud);
});

afterAll(() => attacked.stop());

/** The statuses of what is answered until the server closes the connection. */
async function statuses(bytes: string | Uint8Array): Promise<readonly number[]> {
  const connection = openRaw(attacked.replica.origin);
  connection.write(bytes);
  return parseReplies(await connection.closed()).map(({ status }) => status);
}

const put = (key: string, lines: string, body: string) =>
  `PUT /default/loud/json/doc/${key} HTTP/1.1\r\nHost: a\r\nAuthorization: ${as}\r\n${lines}\r\n\r\n${body}`;
/** A write with the other tenant's words, hidden in a body. */
const hidden = put("smuggled", "Content-Length: 1", "1");

const smuggling: Readonly<Record<string, string>> = {
  "a length and an encoding (CL.TE)": put("k", "Content-Length: 6\r\nTransfer-Encoding: chunked", `0\r\n\r\n${hidden}`),
  "an encoding and a length (TE.CL)": put(
    "k",
    "Transfer-Encoding: chunked\r\nContent-Length: 4",
    `5c\r\n${hidden}\r\n0\r\n\r\n`,
  ),
  "two encodings, one of them hidden (TE.TE)": put(
    "k",
    "Transfer-Encoding: chunked\r\nTransfer-encoding: cow",
    `0\r\n\r\n${hidden}`,
  ),
  "a tab before the encoding": put("k", "Transfer-Encoding:\tchunked\r\nContent-Length: 3", `0\r\n\r\n${hidden}`),
  "a line folded into an encoding": put("k", "X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 1", `1${hidden}`),
  "two lengths": put("k", "Content-Length: 1\r\nContent-Length: 200", `1${hidden}`),
  "a chunk with a length beyond all bounds": put(
    "k",
    "Transfer-Encoding: chunked",
    `fffffffffffffffff\r\n1\r\n0\r\n\r\n${hidden}`,
  ),
  "a chunk with a negative length": put("k", "Transfer-Encoding: chunked", `-1\r\n1\r\n0\r\n\r\n${hidden}`),
  "a chunk whose length ends in a bare line feed": put("k", "Transfer-Encoding: chunked", `1\n1\r\n0\r\n\r\n${hidden}`),
};

describe("a request that is two", () => {
  it.each(Object.entries(smuggling))("by %s is refused once, and neither is carried out", async (_what, bytes) => {
    await attacked.survives(async () => {
      expect(await statuses(bytes)).toEqual([400]);
    });
    for (const key of ["k", "smuggled"]) {
      expect((await attacked.send("loud", `/json/doc/${key}`)).code).toBe("not_found");
    }
  });

  it("by two Host headers, or a Host in the target that differs, never reaches the other tenant", async () => {
    await attacked.survives(async () => {
      const get = (target: string, lines: string) => `GET ${target} HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`;
      expect(await statuses(get("/json/doc", "Host: loud.test\r\n"))).toEqual([200]);
      expect(await statuses(get("/json/doc", "Host: loud.test\r\nHost: quiet.test\r\n"))).toEqual([400]);
      expect(await statuses(get("/default/quiet/json/doc", "Host: loud.test\r\n"))).toEqual([404]);
      expect(await statuses(get("/json/doc", "Host: quiet.test\r\nX-Forwarded-Host: loud.test\r\n"))).toEqual([404]);
      expect(await statuses(get("/json/doc", "Host: loud.test, quiet.test\r\n"))).toEqual([400]);
    });
  });

  it("by two Authorization headers is nobody's", async () => {
    await attacked.survives(async () => {
      for (const keys of [
        [as, apikey("quiet")],
        [apikey("quiet"), as],
        [as, as],
      ]) {
        const lines = keys.map((key) => `Authorization: ${key}\r\n`).join("");
        const bytes = `GET /default/quiet/api/notes HTTP/1.1\r\nHost: a\r\n${lines}Connection: close\r\n\r\n`;
        expect(await statuses(bytes)).toEqual([401]);
      }
    });
  });
});

describe("heads", () => {
  it("of 32 KiB and more, on 500 connections at once, are refused and kept nowhere", async () => {
    await attacked.survives(() =>
      attacked.keepsNothingOf(async () => {
        const hello = `GET /default/loud/json/doc HTTP/1.1\r\nHost: a\r\nX: ${"y".repeat(64 * 1024)}`;
        const crowd = await openCrowd(attacked.replica.origin, 500, { hello });
        const refused = { "HTTP/1.1 431 Request Header Fields Too Large": 500 };
        await eventually(() => expect(crowd.statusLines()).toEqual(refused));
        crowd.leave();
      }),
    );
  });
});

const prototypeNames = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "__defineGetter__"];

describe("names of the prototype", () => {
  it.each(prototypeNames)("%s is data in a body, a key in a path, and nobody's name", async (name) => {
    await attacked.survives(async () => {
      const body = `{"${name}":{"polluted":true,"admin":true}}`;
      const made = await attacked.send("loud", "/api/things", { method: "POST", body, as });
      expect(made.status).toBe(201);
      expect(made.text).toContain(body.slice(1, -1));
      const stored = await attacked.send("loud", `/json/doc/${name}`, { method: "PUT", body: '{"polluted":1}', as });
      expect(stored.text).toBe('{"polluted":1}');
      expect((await attacked.send("loud", "/json/doc/polluted")).status).toBe(404);
      for (const path of [`/api/${name}`, `/json/${name}`, `/${name}`, `/sessions/${name}`]) {
        expect([401, 404]).toContain((await attacked.send("loud", path)).status);
      }
      expect((await attacked.send("loud", `/api/things?${name}=1`, { as })).code).toBe("invalid_parameter");
      expect((await attacked.send("loud", `/api/things?_sort=${name}`, { as })).status).toBeLessThan(500);
      expect((await attacked.replica.send(`/${name}/${name}/json/doc`)).code).toBe("unknown_project");
      expect((await attacked.send("quiet", "/json/doc")).text).toBe("{}");
    });
  });
});

const unusualPaths = [
  "/../../../../etc/passwd",
  "/..%2f..%2fquiet/json/doc",
  "/%2e%2e/quiet/json/doc",
  "/..;/quiet/json/doc",
  "/json/doc/%00",
  "/json/doc/%c0%ae%c0%ae",
  "/json/doc/%",
  "/json/doc//",
  "/json/doc/%ff%fe",
  "//default/quiet/json/doc",
  "/json/doc/{jsonplane}:secrets",
  "/json/doc/$..*",
  "/json/doc/%5B%22a%22%5D",
  "/api/things/*",
  "/api/things/%2e%2e%2f%2e%2e",
  "/api/things?_sort=%24..a",
  "/api/things?a=%22%5D)%3Breturn%20redis.call(%27FLUSHALL%27)",
  `/json/doc/${"a/".repeat(2_000)}`,
  `/${"%".repeat(4_000)}`,
  "/json/doc?\u0001",
].filter((path) => !/[\0-\x20]/.test(path));

describe("paths", () => {
  it.each(unusualPaths.map((path) => [path.slice(0, 60), path]))(
    "%s leads to nothing of anybody else",
    async (_name, path) => {
      await attacked.survives(async () => {
        const secret = "only for quiet readers";
        const quietly = { method: "PUT", body: JSON.stringify(secret), as: apikey("quiet") };
        expect((await attacked.send("quiet", "/json/doc/secret", quietly)).status).toBeLessThan(300);
        for (const method of ["GET", "PUT", "POST", "DELETE", "OPTIONS", "PATCH"]) {
          const reply = await attacked.send("loud", path, { method, as, ...(method !== "GET" && { body: "1" }) });
          expect(reply.status).toBeLessThan(500);
          expect(reply.text).not.toContain(secret);
          if (reply.status >= 400) expect(Object.keys(errorCatalogue)).toContain(reply.code);
        }
        expect((await attacked.send("quiet", "/json/doc/secret")).text).toBe(JSON.stringify(secret));
        expect((await attacked.send("quiet", "/json/doc/secret", { ...quietly, method: "DELETE" })).status).toBe(200);
      });
    },
  );
});

describe("the log", () => {
  it("has one line of JSON for each request, whatever stands in paths, ids, names and headers", async () => {
    const before = attacked.replica.log().length;
    const words = [
      "%0d%0a",
      "%0a%7B%22level%22%3A%22error%22%7D",
      "%1b%5B31m",
      "%E2%80%A8",
      "%C2%85",
      "%00",
      "%7F",
      "%08",
    ];
    await attacked.survives(async () => {
      for (const word of words) {
        await attacked.send("loud", `/json/doc/${word}`);
        await attacked.send("loud", `/api/things/${word}`, { as });
        await attacked.send("loud", `/sessions/${word}`, { as });
        await attacked.replica.send(`/${word}/${word}/json/doc`);
        const credentials = Buffer.from(decodeURIComponent(word.replace("%00", "")), "utf8").toString("base64");
        await attacked.send("loud", "/sessions", { method: "POST", as: `Basic ${credentials}` });
      }
      const bytes = Buffer.from("GET /\x1b[31m HTTP/1.1\r\nHost: a\r\nX-Request-Id: a\x0b\x07\r\n\r\n", "latin1");
      await statuses(bytes);
    });
    // What was asked last is written last, up to a tenth of a second later.
    await eventually(() => expect(attacked.replica.log().slice(before)).toMatch(/Malformed request refused.*\n/));
    const text = attacked.replica.log().slice(before);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be in a log.
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f\u0085\u2028\u2029]/);
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { level: string; message: string });
    expect(new Set(lines.map(({ level, message }) => `${level} ${message}`))).toEqual(
      new Set(["info Request", "info Malformed request refused"]),
    );
    expect(lines.length).toBeGreaterThan(words.length * 5);
  });
});
