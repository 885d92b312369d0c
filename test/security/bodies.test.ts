// Bodies, schemas and lists that are made to cost more than they should, against a replica of its
// own over real Redis JSON.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AttackedReplica, startAttacked } from "../support/fleet/attacked-replica.ts";
import type { Reply } from "../support/http/http-client.ts";
import { apikey, project, withKey, withLimits, withResource, withRootKey } from "../support/http/projects.ts";
import { openRaw } from "../support/http/raw-http.ts";
import { expectProblem } from "../support/http/replies.ts";

const mebibyte = 1024 * 1024;
const bombs = ["^(a+)+$", "^(a|a)*$", "^([a-zA-Z0-9]+\\s?)*$", "^(.*)*=.*$", "(x+x+)+y", "^(((a{0,9}){0,9}){0,9})$"];
const formats = ["email", "uri", "uri-reference", "date-time", "hostname", "ipv6", "uuid", "json-pointer", "regex"];

const loud = project(
  "loud",
  withKey("loud"),
  withLimits({ maxBodyBytes: 8 * mebibyte, maxDocumentBytes: 8 * mebibyte }),
  withRootKey("doc"),
  withResource("anything"),
  withResource("unique", {
    schema: { type: "object", properties: { all: { type: "array", maxItems: 1_000, uniqueItems: true } } },
  }),
  withResource("patterns", {
    schema: {
      type: "object",
      properties: Object.fromEntries(bombs.map((pattern, index) => [`p${index}`, { type: "string", pattern }])),
    },
  }),
  withResource("formats", {
    schema: {
      type: "object",
      properties: Object.fromEntries(formats.map((format) => [format, { type: "string", format }])),
    },
  }),
  withResource("trees", {
    schema: {
      $defs: {
        n: {
          properties: { c: { anyOf: [{ $ref: "#/$defs/n" }, { $ref: "#/$defs/n" }] } },
          required: ["x"],
        },
      },
      properties: { v: { $ref: "#/$defs/n" } },
    },
  }),
);

/** Each can't be used: the resource must not be there, and nothing else may suffer. */
const hostileSchemas: Readonly<Record<string, object>> = {
  "a $ref to itself": { $ref: "#" },
  "a loop of two $refs": { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" },
  "a loop through allOf": { $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } }, allOf: [{ $ref: "#/$defs/a" }] },
  "a $ref to another host": { $ref: "http://127.0.0.1:1/schema.json" },
  "a $ref to a file": { $ref: "file:///etc/passwd" },
  "a $ref to the prototype": { $ref: "#/__proto__/constructor" },
  "a million steps of a pattern": { properties: { a: { type: "string", pattern: "((a{1,1000}){1,1000}){1,1000}" } } },
  "ten thousand schemas": { properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`p${n}`, {}])) },
  "doubling definitions": {
    $defs: Object.fromEntries([...Array.from({ length: 40 }, (_, n) => [`d${n}`, twice(n + 1)] as const), ["d40", {}]]),
    $ref: "#/$defs/d0",
  },
};

function twice(n: number): object {
  return { allOf: [{ $ref: `#/$defs/d${n}` }, { $ref: `#/$defs/d${n}` }] };
}

let attacked: AttackedReplica;

beforeAll(async () => {
  attacked = await startAttacked(loud);
});

afterAll(() => attacked.stop());

const as = apikey("loud");
const post = (resource: string, body: string | object) =>
  attacked.send("loud", `/api/${resource}`, { method: "POST", body, as });
const put = (path: string, body: string | Uint8Array) => attacked.send("loud", path, { method: "PUT", body, as });

function expectCode(reply: Reply, code: string): void {
  expect(reply.code).toBe(code);
  expectProblem(reply, code);
}

describe("a body that is", () => {
  it.each([
    ["nested 4,000,000 levels deep", "[".repeat(4 * mebibyte), "too_deep"],
    ["nested deep in objects", '{"a":'.repeat(mebibyte), "too_deep"],
    ["nested deep and closed", `${"[".repeat(2 * mebibyte)}${"]".repeat(2 * mebibyte)}`, "too_deep"],
    ["one endless string", `"${"x".repeat(6 * mebibyte)}`, "malformed_json"],
    ["one number of a million digits", "1".repeat(mebibyte), "number_out_of_range"],
    ["one exponent of a million digits", `1e${"9".repeat(mebibyte)}`, "number_out_of_range"],
    ["one name a hundred thousand times", `{${'"a":1,'.repeat(100_000)}"a":1}`, "duplicate_member"],
    ["a million escapes of half a pair", `"${"\\ud800".repeat(1_000_000)}"`, "malformed_json"],
    ["white space without an end", " ".repeat(8 * mebibyte), "malformed_json"],
    ["NULs", "\0".repeat(mebibyte), "malformed_json"],
  ])("%s is refused", async (_what, body, code) => {
    await attacked.survives(async () => {
      const replies = await Promise.all(Array.from({ length: 2 }, () => put("/json/doc/a", body)));
      for (const reply of replies) expectCode(reply, code);
    });
    expect((await attacked.send("loud", "/json/doc/a")).code).toBe("not_found");
  });

  it("an array of a million elements, or an object of 200,000 members, is stored and comes back, or is refused whole", async () => {
    await attacked.survives(async () => {
      const bodies = [
        `[${"1,".repeat(1_000_000)}1]`,
        `[${"[],".repeat(1_000_000)}[]]`,
        `{${Array.from({ length: 200_000 }, (_, n) => `"k${n}":${n}`).join()}}`,
      ];
      for (const body of bodies) {
        const reply = await put("/json/doc/a", body);
        if (reply.status >= 300) expect(["outcome_unknown", "document_too_large"]).toContain(reply.code);
        else expect((await attacked.send("loud", "/json/doc/a")).text).toBe(body);
        await attacked.send("loud", "/json/doc/a", { method: "DELETE", as });
      }
    });
  });

  it("twenty million values wide is refused by its length before it is sent", async () => {
    await attacked.survives(async () => {
      const connection = openRaw(attacked.replica.origin);
      const head = `PUT /default/loud/json/doc/a HTTP/1.1\r\nHost: a\r\nAuthorization: ${as}\r\n`;
      connection.write(`${head}Content-Length: 20000003\r\n\r\n[`);
      await connection.arrived('"code":"body_too_large"');
      connection.destroy();
    });
  });
});

describe("a value that is made against its schema", () => {
  it("with 100,000 elements that must be unique is refused", async () => {
    await attacked.survives(async () => {
      const elements = Array.from({ length: 100_000 }, (_, n) => ({ a: [n, { b: n }] }));
      expectCode(await post("unique", { all: elements }), "validation_failed");
      const texts = Array.from({ length: 100_000 }, () => "x".repeat(40));
      expectCode(await post("unique", { all: texts }), "validation_failed");
    });
  });

  it.each(bombs.map((pattern, index) => [pattern, `p${index}`]))(
    "makes %s backtrack, in vain",
    async (_pattern, name) => {
      await attacked.survives(async () => {
        for (const text of [`${"a".repeat(100_000)}!`, "x".repeat(100_000), `${"a ".repeat(50_000)}!`]) {
          const reply = await post("patterns", { [name]: text });
          expect([201, 400]).toContain(reply.status);
        }
      });
    },
  );

  it.each(formats)("makes format %s look long, in vain", async (format) => {
    await attacked.survives(async () => {
      for (const text of [
        "a@".repeat(100_000),
        "0".repeat(200_000),
        ":".repeat(200_000),
        `${"a.".repeat(100_000)}!`,
        "(".repeat(100_000),
      ]) {
        const reply = await post("formats", { [format]: text });
        expect([201, 400]).toContain(reply.status);
      }
    });
  });

  it("tries every branch twice through 60 levels is refused for the work it makes", async () => {
    await attacked.survives(async () => {
      expectCode(await post("trees", `{"v":${'{"x":1,"c":'.repeat(60)}{}${"}".repeat(61)}`), "validation_failed");
    });
  });
});

describe("a schema that is hostile", () => {
  it.each(Object.entries(hostileSchemas))(
    "by %s is not served, whoever published it, and nothing else suffers",
    async (_what, schema) => {
      await attacked.survives(async () => {
        const name = "hostile";
        await attacked.publish(
          project(name, withKey(name), withResource("bad", { schema: { ...schema } }), withRootKey("doc")),
        );
        await attacked.served(name);
        const reply = await attacked.send(name, "/api/bad", {
          method: "POST",
          body: { a: "a".repeat(1_000) },
          as: apikey(name),
        });
        expect([reply.status, reply.code]).toEqual([404, "unknown_resource"]);
      });
    },
  );
});

describe("lists", () => {
  it("of large objects, sorted, filtered and by long pages, forty at once, take turns", async () => {
    for (let made = 0; made < 60; made += 1) {
      expect((await post("anything", { n: made, pad: "x".repeat(300_000) })).status).toBe(201);
    }
    await attacked.survives(async () => {
      const queries = ["_sort=-n", "_limit=50", "_limit=50&_sort=n", "_limit=60&_sort=pad"];
      const ask = (index: number) => attacked.send("loud", `/api/anything?${queries[index % 4]}`, { as });
      for (const reply of await Promise.all(Array.from({ length: 40 }, (_, index) => ask(index)))) {
        if (reply.status === 200) expect(reply.json()).toMatchObject({ count: 60 });
        else expect(["query_busy", "project_busy", "query_too_expensive", "sort_not_indexed"]).toContain(reply.code);
      }
    });
  });
});

it("nothing is kept of bodies that were refused", async () => {
  await attacked.survives(() =>
    attacked.keepsNothingOf(async () => {
      const bodies = ["[".repeat(mebibyte), `{"a":"${"x".repeat(mebibyte)}"`, `[${"1,".repeat(500_000)}`];
      await Promise.all(bodies.flatMap((body) => [put("/json/doc/a", body), put("/json/doc/b", body)]));
    }),
  );
});
