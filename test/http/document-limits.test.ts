// How deep, long and large a root key's value may be: the last value that is taken and the first
// that is refused.

import { expect, it } from "vitest";
import { apikey, project, withKey, withLimits, withRootKey } from "../support/http/projects.ts";
import { describeReplicas, describeServed, type Served } from "../support/http/served.ts";

const as = apikey("writer");
const mebibyte = 1 << 20;
const shop = project("shop", withKey("writer"), withRootKey("doc"));

const nested = (levels: number, inner = "1") => "[".repeat(levels) + inner + "]".repeat(levels);
const textOf = (bytes: number) => JSON.stringify("x".repeat(bytes - 2));

async function outcome(served: Served, method: string, path: string, body?: string) {
  const reply = await served.send(`/json/doc${path}`, { method, body, as });
  return reply.code ?? reply.status;
}

describeServed("depth", (serve) => {
  it("is 64 levels at most in a body, counted at the root", async () => {
    const served = await serve(shop);
    expect(await outcome(served, "PUT", "", nested(64))).toBe(200);
    expect((await served.send("/json/doc")).text).toBe(nested(64));
    expect(await outcome(served, "PUT", "", nested(65))).toBe("too_deep");
    expect(await outcome(served, "PUT", "", `${'{"a":'.repeat(65)}1${"}".repeat(65)}`)).toBe("too_deep");
    expect((await served.send("/json/doc")).text).toBe(nested(64));
  });

  it("counts the containers above the path as well, for PUT and POST, under keys, indices and odd keys", async () => {
    const served = await serve(shop);
    for (const [key, path] of [
      ["k", "/k"],
      ["o'\"", "/o%27%22"],
    ] as const) {
      expect(await outcome(served, "PUT", path, nested(60))).toBe(201);
      expect(await outcome(served, "PUT", `${path}/0/0`, nested(61))).toBe(200);
      expect(await outcome(served, "PUT", `${path}/0/0`, nested(62))).toBe("too_deep");
      expect(await outcome(served, "POST", `${path}/0/0/-`, nested(60))).toBe(201);
      expect(await outcome(served, "POST", `${path}/0/0/-`, nested(61))).toBe("too_deep");
      expect(await outcome(served, "POST", `${path}2`, nested(63))).toBe(201);
      expect(await outcome(served, "POST", `${path}3`, nested(64))).toBe("too_deep");
      expect(Object.keys((await served.send("/json/doc")).json())).toContain(key);
    }
  });

  it("lets a scalar stand at the deepest level, and reads it there", async () => {
    const served = await serve(shop);
    expect(await outcome(served, "PUT", "", nested(64))).toBe(200);
    expect((await served.send(`/json/doc${"/0".repeat(64)}`)).text).toBe("1");
    expect(await outcome(served, "PUT", "/0".repeat(64), "2")).toBe(200);
    expect(await outcome(served, "PUT", "/0".repeat(64), "[]")).toBe("too_deep");
    expect(await outcome(served, "DELETE", "/0".repeat(64))).toBe(200);
  });

  it("is refused with 400 and the place, 129 and 100,000 levels alike", async () => {
    const served = await serve(shop);
    for (const levels of [129, 100_000]) {
      const reply = await served.send("/json/doc", { method: "PUT", body: nested(levels), as });
      expect([reply.status, reply.code]).toEqual([400, "too_deep"]);
      expect(reply.json().detail).toContain("line 1, column 65");
    }
    expect(await outcome(served, "PUT", "", "[".repeat(100_000))).toBe("too_deep");
  });

  it("answers a path of more segments than any value has levels with 404, and of more than 128 with 414", async () => {
    const served = await serve(shop);
    const path = "/a".repeat(120);
    expect(await outcome(served, "GET", path)).toBe("not_found");
    expect(await outcome(served, "DELETE", path)).toBe("not_found");
    expect(["too_deep", "parent_not_found"]).toContain(await outcome(served, "PUT", path, "1"));
    expect(await outcome(served, "GET", "/a".repeat(129))).toBe("path_too_long");
  });
});

describeServed("length", (serve) => {
  it("of a segment is 1 KiB at most, in bytes of its decoded UTF-8", async () => {
    const served = await serve(shop);
    for (const [fits, tooLong] of [
      ["x".repeat(1024), "x".repeat(1025)],
      ["%C3%BC".repeat(512), "%C3%BC".repeat(513)],
      ["%78".repeat(1024), "%78".repeat(1025)],
    ] as const) {
      expect(await outcome(served, "PUT", `/${fits}`, "1")).toBe(fits.startsWith("%78") ? 200 : 201);
      expect(await outcome(served, "GET", `/${fits}`)).toBe(200);
      for (const path of [`/${tooLong}`, `/a/${tooLong}/b`]) {
        const reply = await served.send(`/json/doc${path}`, { method: "PUT", body: "1", as });
        expect([reply.status, reply.code]).toEqual([414, "path_too_long"]);
      }
    }
  });

  it("of a path is 8 KiB at most, the project's base included and the query not", async () => {
    const served = await serve(shop);
    const base = `${served.base}/json/doc/`;
    const path = `${"y".repeat(1000)}/`.repeat(9).slice(0, 8192 - base.length);
    expect(await outcome(served, "GET", `/${path}`)).toBe("not_found");
    expect(await outcome(served, "GET", `/${path}?${"q".repeat(8000)}`)).toBe("not_found");
    const reply = await served.send(`/json/doc/${path}y`);
    expect([reply.status, reply.code]).toEqual([414, "path_too_long"]);
  });
});

describeServed("size", (serve) => {
  it("of a value is 1 MiB by default: the last byte fits, the next is 413 document_too_large", async () => {
    const served = await serve(
      project("p", withKey("writer"), withLimits({ maxBodyBytes: 2 * mebibyte }), withRootKey("doc")),
    );
    expect(await outcome(served, "PUT", "", textOf(mebibyte))).toBe(200);
    expect((await served.send("/json/doc")).text).toHaveLength(mebibyte);
    expect(await outcome(served, "PUT", "", textOf(mebibyte + 1))).toBe("document_too_large");
    const reply = await served.send("/json/doc", { method: "PUT", body: textOf(mebibyte + 1), as });
    expect([reply.status, reply.json().detail]).toEqual([
      413,
      expect.stringContaining("1048576 bytes (spec.limits.maxDocumentBytes of the Project)"),
    ]);
    expect((await served.send("/json/doc")).text).toHaveLength(mebibyte);
  });

  it("counts the whole value, not the part: an insert that would pass the limit changes nothing", async () => {
    const served = await serve(shop);
    expect(await outcome(served, "PUT", "/half", textOf(mebibyte / 2))).toBe(201);
    expect(await outcome(served, "PUT", "/list", "[]")).toBe(201);
    const before = (await served.send("/json/doc")).text;
    expect(await outcome(served, "POST", "/other", textOf(mebibyte / 2))).toBe("document_too_large");
    expect(await outcome(served, "PUT", "/other", textOf(mebibyte / 2))).toBe("document_too_large");
    expect(await outcome(served, "POST", "/list/-", textOf(mebibyte / 2))).toBe("document_too_large");
    expect(await outcome(served, "PUT", "/o%27%22", textOf(mebibyte / 2))).toBe("document_too_large");
    expect((await served.send("/json/doc")).text).toBe(before);
    expect(await outcome(served, "DELETE", "/half")).toBe(200);
    expect(await outcome(served, "POST", "/other", textOf(mebibyte / 2))).toBe(201);
  });

  it("can be set to 8 MiB, and such a value is inserted into, read in part and in whole", async () => {
    const limits = withLimits({ maxDocumentBytes: 8 * mebibyte, maxBodyBytes: 9 * mebibyte });
    const served = await serve(project("p", withKey("writer"), limits, withRootKey("doc")));
    const large = textOf(8 * mebibyte - 100);
    expect(await outcome(served, "PUT", "", `{"large":${large}}`)).toBe(200);
    expect(await outcome(served, "PUT", "/small", "1")).toBe(201);
    expect((await served.send("/json/doc/small")).text).toBe("1");
    expect((await served.send("/json/doc")).text).toBe(`{"large":${large},"small":1}`);
    expect(await outcome(served, "POST", "/more", textOf(100))).toBe("document_too_large");
    expect(await outcome(served, "PUT", "", textOf(8 * mebibyte + 1))).toBe("document_too_large");
    expect(await outcome(served, "PUT", "", textOf(9 * mebibyte + 1))).toBe("body_too_large");
  });

  it("is known to the byte after hundreds of changes of every kind", async () => {
    const served = await serve(shop);
    await changeAtRandom(served);
    const { length } = Buffer.from((await served.send("/json/doc")).text);
    for (const spare of [0, 9]) served.change(withLimits({ maxDocumentBytes: length + spare }));
    // `,"z":12345` is ten bytes.
    expect(await outcome(served, "POST", "/z", "12345")).toBe("document_too_large");
    expect(await outcome(served, "POST", "/z", "1234")).toBe(201);
    expect(Buffer.from((await served.send("/json/doc")).text)).toHaveLength(length + 9);
  });

  it("above a limit that was lowered later is still read, and can shrink", async () => {
    const served = await serve(shop);
    expect(await outcome(served, "PUT", "", `{"a":${textOf(1000)},"b":1}`)).toBe(200);
    served.change(withLimits({ maxDocumentBytes: 100 }));
    expect((await served.send("/json/doc/b")).text).toBe("1");
    expect(await outcome(served, "POST", "/c", "1")).toBe("document_too_large");
    expect(await outcome(served, "DELETE", "/a")).toBe(200);
    expect(await outcome(served, "POST", "/c", "1")).toBe(201);
  });
});

describeReplicas("size", (serveTwice) => {
  it("is held under writes at one time, to any key of the value", async () => {
    const replicas = await serveTwice(
      project("shop", withKey("writer"), withLimits({ maxDocumentBytes: 4_200 }), withRootKey("doc")),
    );
    const [one] = replicas;
    const paths = Array.from({ length: 12 }, (_, at) => (at % 3 === 0 ? `/o%22${at}` : `/k${at}`));
    const outcomes = await Promise.all(
      paths.map((path, at) => outcome(replicas[at % 2] ?? one, at % 4 < 2 ? "PUT" : "POST", path, textOf(1_000))),
    );
    expect(outcomes.filter((each) => each === 201)).toHaveLength(4);
    expect(outcomes.filter((each) => each === "document_too_large")).toHaveLength(8);
    expect((await one.send("/json/doc")).text.length).toBeLessThanOrEqual(4_200);
  });
});

describeServed("root key names", (serve) => {
  it("beyond what a RootKey may be called lead nowhere", async () => {
    const served = await serve(shop);
    for (const name of ["a.b", "a%20b", "x".repeat(64), "%C3%BC", "a%2Fb", "%2E%2E", "Doc", "doc%20"]) {
      const reply = await served.send(`/json/${name}`);
      expect([name, reply.status, reply.code]).toEqual([name, 404, "unknown_root_key"]);
    }
  });

  it("have up to 63 letters of any case, digits, underscores and hyphens", async () => {
    const name = `${"aZ0_-".repeat(12)}abc`;
    const served = await serve(project("p", withRootKey(name, { initialValue: '"here"' })));
    expect((await served.send(`/json/${name}`)).text).toBe('"here"');
  });
});

/**
 * Adds, inserts, replaces and removes under keys whose names and values take one to twelve bytes
 * per character.
 */
async function changeAtRandom(served: Served): Promise<void> {
  const keys = ["a", "ü", '"', "\\", "'\"", "\u0001", "😀", "0", "-", "long".repeat(20)];
  const values = ["1", "null", '"é"', '"\\u0001"', "[]", '{"a":[1,2]}', "1.0", '"\\"\\\\"', "18446744073709551615"];
  let seed = 7;
  const pick = <T>(from: readonly T[]): T => {
    seed = (seed * 48_271) % 2_147_483_647;
    return from[seed % from.length] as T;
  };
  await outcome(served, "PUT", "", '{"list":[],"map":{}}');
  for (let n = 0; n < 300; n += 1) {
    const key = encodeURIComponent(pick(keys));
    const path = pick([`/${key}`, `/map/${key}`, "/list/0", "/list/1", "/list/-"]);
    await outcome(served, pick(["PUT", "PUT", "POST", "POST", "DELETE"]), path, pick(values));
  }
}
