// Bodies as bytes on a connection: in chunks, slow, too long, too short, held back, never finished.
// Nothing of them may harm the next request, and what the client reads is what happened.

import { expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { send } from "../support/http/http-client.ts";
import { apikey, changed, project, withKey, withLimits, withRootKey } from "../support/http/projects.ts";
import { openRaw, parseReplies, type RawReply, sendRaw } from "../support/http/raw-http.ts";
import { expectProblem } from "../support/http/replies.ts";
import { describeServed, type Served, serveFrom } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";

const shop = project("shop", withKey("writer"), withKey("reader", { access: "Read" }), withRootKey("doc"));
const mebibyte = 1 << 20;

interface RequestHead {
  readonly method?: string;
  readonly path?: string;
  readonly key?: "writer" | "reader" | "none";
  /** Further lines; Host and Authorization are there already. */
  readonly lines?: readonly string[];
}

function head(served: Served, { method = "PUT", path = "/json/doc/k", key = "writer", lines = [] }: RequestHead) {
  const authorization = key === "none" ? [] : [`Authorization: ${apikey(key)}`];
  return [`${method} ${served.base}${path} HTTP/1.1`, "Host: raw.test", ...authorization, ...lines, "", ""].join(
    "\r\n",
  );
}
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const lastGet = (served: Served) => head(served, { method: "GET", path: "/json/doc", lines: ["Connection: close"] });

function problem(reply: RawReply | undefined, code: string): void {
  if (!reply) throw new Error("No reply");
  expectProblem({ ...reply, text: reply.body }, code);
}

/** Lines of requests and refusals, without what differs from run to run. */
function logged(served: Served): readonly Record<string, unknown>[] {
  return served
    .log()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describeServed("a body in chunks", (serve) => {
  const chunked = { lines: ["Transfer-Encoding: chunked"] };

  it.each(["gzip, chunked", "deflate, chunked", "gzip, identity, chunked"])(
    "that is coded beside, %s, is refused with 501",
    async (coding) => {
      const served = await serve(shop);
      const bytes = chunk("1") + chunk("");
      const sent = head(served, { lines: [`Transfer-Encoding: ${coding}`, "Connection: close"] }) + bytes;
      const [reply] = await sendRaw(served.origin, sent);
      problem(reply, "transfer_coding_not_supported");
      expect(reply?.status).toBe(501);
      expect((await served.send("/json/doc")).text).toBe("{}");
    },
  );

  it("is put together, wherever it is cut, in the middle of a character too", async () => {
    const served = await serve(shop);
    const bytes = Buffer.from('{"euro":"€"}');
    const connection = openRaw(served.origin);
    connection.write(head(served, chunked));
    for (const byte of bytes) {
      connection.write("1\r\n");
      connection.write(new Uint8Array([byte]));
      connection.write("\r\n");
    }
    connection.write("0\r\n\r\n");
    await connection.arrived('{"euro":"€"}');
    connection.write(lastGet(served));
    const replies = parseReplies(await connection.closed());
    expect(replies.map(({ body }) => body)).toEqual(['{"euro":"€"}', '{"k":{"euro":"€"}}']);
  });

  it("is not read behind a request that asks to close the connection", async () => {
    const served = await serve(shop);
    const last = { lines: ["Transfer-Encoding: chunked", "Connection: close"] };
    const bytes = chunk("1") + chunk("");
    const replies = await sendRaw(served.origin, head(served, last) + bytes + head(served, last) + bytes);
    expect(replies.map(({ status }) => status)).toEqual([201]);
    expect((await served.send("/json/doc")).text).toBe('{"k":1}');
  });

  it("may have extensions and trailers, which mean nothing", async () => {
    const served = await serve(shop);
    const body = "1;name=value\r\n7\r\n0\r\nX-Trailer: 1\r\nAuthorization: apikey wrong\r\n\r\n";
    const replies = await sendRaw(served.origin, head(served, chunked) + body + lastGet(served));
    expect(replies.map(({ status }) => status)).toEqual([201, 200]);
  });

  it("over the limit is refused with 413 when the limit is passed, and the connection still serves", async () => {
    const served = await serve(shop);
    const connection = openRaw(served.origin);
    connection.write(head(served, chunked));
    for (let n = 0; n < 17; n += 1) connection.write(chunk(" ".repeat(mebibyte / 16)));
    await connection.arrived("body_too_large");
    connection.write(`${chunk(" ".repeat(mebibyte))}0\r\n\r\n${lastGet(served)}`);
    const [refused, next] = parseReplies(await connection.closed());
    expect(refused?.status).toBe(413);
    problem(refused, "body_too_large");
    expect(next?.body).toBe("{}");
  });

  it.each([
    ["a size that is no number", "zz\r\n1\r\n0\r\n\r\n"],
    ["a negative size", "-1\r\n1\r\n0\r\n\r\n"],
    ["a size beyond all integers", `${"f".repeat(17)}\r\n1\r\n`],
    ["more bytes than its size", "1\r\n12\r\n0\r\n\r\n"],
    ["a line end that is none", "1\n1\n0\n\n"],
  ])("with %s is refused with 400 as this request's answer, and nothing is stored", async (_what, body) => {
    const served = await serve(shop);
    const [reply, ...others] = await sendRaw(served.origin, head(served, chunked) + body);
    expect([reply?.status, others]).toEqual([400, []]);
    problem(reply, "invalid_request");
    expect((await served.send("/json/doc")).text).toBe("{}");
    expect(logged(served).map(({ status, code, requestId }) => [status, code, requestId])).toContainEqual([
      400,
      "invalid_request",
      reply?.headers["x-request-id"],
    ]);
  });
});

describeServed("a slow request", (serve) => {
  const timedOut = (requestId: string | undefined) =>
    expect.objectContaining({ requestId, status: 408, code: "request_timeout" });

  it("is given up with 408 when its body does not arrive in time, and its log line says so", async () => {
    const served = await serve(shop, { requestTimeoutMs: 2_000 });
    const reply = await sendRaw(served.origin, `${head(served, { lines: ["Content-Length: 10"] })}1`);
    problem(reply[0], "request_timeout");
    expect([reply.length, reply[0]?.headers.connection]).toEqual([1, "close"]);
    const requestId = reply[0]?.headers["x-request-id"];
    await eventually(() => expect(logged(served)).toEqual([timedOut(requestId)]));
    expect((await served.send("/json/doc")).text).toBe("{}");
  });

  it("is given up with 408 when its headers do not arrive in time", async () => {
    const served = await serve(shop, { requestTimeoutMs: 200 });
    const [reply] = await sendRaw(served.origin, `GET ${served.base}/json/doc HTTP/1.1\r\nHost: a\r\n`);
    problem(reply, "request_timeout");
    const requestId = reply?.headers["x-request-id"];
    await eventually(() => expect(logged(served)).toEqual([timedOut(requestId)]));
  });

  it("that was refused already gets no second answer when the rest of its body never comes", async () => {
    const served = await serve(shop, { requestTimeoutMs: 2_000 });
    const replies = await sendRaw(served.origin, head(served, { key: "none", lines: ["Content-Length: 10"] }));
    expect(replies.map(({ status }) => status)).toEqual([401]);
  });
});

describeServed("a content length", (serve) => {
  it("longer than the body, with the connection ended: 400, nothing stored", async () => {
    const served = await serve(shop);
    const connection = openRaw(served.origin);
    connection.write(`${head(served, { lines: ["Content-Length: 5"] })}12`);
    connection.end();
    const [reply] = parseReplies(await connection.closed());
    problem(reply, "invalid_request");
    expect((await served.send("/json/doc")).text).toBe("{}");
  });

  it("shorter than the body: the write is answered first, the rest is refused as a request of its own", async () => {
    const served = await serve(shop);
    const replies = await sendRaw(served.origin, `${head(served, { lines: ["Content-Length: 2"] })}12345`);
    expect(replies.map(({ status }) => status)).toEqual([201, 400]);
    problem(replies[1], "invalid_request");
    expect((await served.send("/json/doc/k")).text).toBe("12");
  });

  it("of zero is a missing body", async () => {
    const served = await serve(shop);
    const [reply] = await sendRaw(served.origin, head(served, { lines: ["Content-Length: 0", "Connection: close"] }));
    problem(reply, "body_required");
  });

  it("over the limit is refused before a byte of the body came", async () => {
    const served = await serve(shop);
    const connection = openRaw(served.origin);
    connection.write(head(served, { lines: [`Content-Length: ${10 * mebibyte}`] }));
    await connection.arrived("body_too_large");
    connection.destroy();
  });

  it.each(["-1", "+1", "1,1", "0x1", "1e1", "", " ", "99999999999999999999999", "abc"])(
    "%s is refused with 400",
    async (length) => {
      const served = await serve(shop);
      const [reply] = await sendRaw(served.origin, `${head(served, { lines: [`Content-Length: ${length}`] })}1`);
      expect(reply?.status).toBe(400);
      expect((await served.send("/json/doc")).text).toBe("{}");
    },
  );
});

describeServed("a client that disconnects in the middle of its body", (serve) => {
  it("stores nothing, and harms nobody else", async () => {
    const served = await serve(shop);
    for (const lines of [["Content-Length: 100"], ["Transfer-Encoding: chunked"]]) {
      const connection = openRaw(served.origin);
      connection.write(head(served, { lines: [...lines, "Expect: 100-continue"] }));
      await connection.arrived("100 Continue");
      connection.write(lines[0]?.startsWith("Transfer") ? chunk('{"a":1') : '{"a":1');
      // Another connection's request, so that this one's bytes have arrived.
      expect((await send(served.origin, `${served.base}/json/doc`)).text).toBe("{}");
      connection.destroy();
    }
    expect((await served.send("/json/doc")).text).toBe("{}");
    expect((await served.send("/json/doc/k", { method: "PUT", body: "1", as: apikey("writer") })).status).toBe(201);
  });
});

describeServed("Expect: 100-continue", (serve) => {
  const expecting = (length: number) => ({ lines: ["Expect: 100-continue", `Content-Length: ${length}`] });

  it("is answered with 100 once the caller may send a body, and then with the answer", async () => {
    const served = await serve(shop);
    const connection = openRaw(served.origin);
    connection.write(head(served, expecting(1)));
    await connection.arrived("100 Continue");
    connection.write(`1${lastGet(served)}`);
    const replies = parseReplies(await connection.closed());
    expect(replies.map(({ status }) => status)).toEqual([100, 201, 200]);
  });

  it.each([
    ["a missing credential", { key: "none" }, 1, "authentication_required"],
    ["a missing access", { key: "reader" }, 1, "insufficient_access"],
    ["an unknown root key", { path: "/json/none/k" }, 1, "unknown_root_key"],
    ["a length over the limit", {}, 2 * mebibyte, "body_too_large"],
  ] as const)("never asks for a body that is refused for %s, and closes", async (_what, options, length, code) => {
    const served = await serve(shop);
    const replies = await sendRaw(served.origin, head(served, { ...options, ...expecting(length) }));
    expect(replies).toHaveLength(1);
    problem(replies[0], code);
    expect(replies[0]?.headers.connection).toBe("close");
  });

  it("of something else is ignored", async () => {
    const served = await serve(shop);
    const lines = ["Expect: a-miracle", "Content-Length: 1", "Connection: close"];
    const replies = await sendRaw(served.origin, `${head(served, { lines })}1`);
    expect(replies.map(({ status }) => status)).toEqual([201]);
  });
});

describeServed("a refused request's body", (serve) => {
  it("is thrown away: the next request on the connection is answered", async () => {
    const served = await serve(shop);
    const refused = `${head(served, { key: "none", lines: ["Content-Length: 5"] })}hello`;
    const replies = await sendRaw(served.origin, refused + refused + lastGet(served));
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 200]);
  });

  it("is not waited for: the refusal comes before the body does", async () => {
    const served = await serve(shop);
    const connection = openRaw(served.origin);
    connection.write(head(served, { key: "reader", lines: ["Content-Length: 1000000"] }));
    await connection.arrived("insufficient_access");
    connection.destroy();
  });

  it("is taken to its end before a connection is closed that the client wants closed, so that it can read the refusal", async () => {
    const served = await serve(shop);
    const connection = openRaw(served.origin);
    let isClosed = false;
    const closed = connection.closed().finally(() => {
      isClosed = true;
    });
    connection.write(head(served, { lines: ["Content-Length: 3000000", "Connection: close"] }));
    connection.write(" ".repeat(1_000_000));
    await connection.arrived("body_too_large");
    // A request of its own connection, so that what was to happen has happened.
    expect((await served.send("/json/doc")).status).toBe(200);
    expect(isClosed).toBe(false);
    connection.write(" ".repeat(2_000_000));
    expect(parseReplies(await closed).map(({ status }) => status)).toEqual([413]);
  });

  it("can be ten megabytes, sent by twenty clients at once, and every one reads the 413", async () => {
    const served = await serve(shop);
    const body = Buffer.from(JSON.stringify("x".repeat(10 * mebibyte)));
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => served.send("/json/doc/k", { method: "PUT", body, as: apikey("writer") })),
    );
    expect(replies.map(({ code }) => code)).toEqual(Array(20).fill("body_too_large"));
    expect((await served.send("/json/doc")).text).toBe("{}");
  });
});

it("a write whose body is followed by garbage, piece after piece, is answered first and refused once", async () => {
  const real = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const held = Promise.withResolvers<void>();
  const store: Store = Object.assign(Object.create(real) as Store, {
    putAt: (...args: Parameters<Store["putAt"]>) => held.promise.then(() => real.putAt(...args)),
  });
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  const served = await serveFrom(store, [shop]);
  const connection = openRaw(served.origin);
  connection.write(`${head(served, { lines: ["Content-Length: 2"] })}12345`);
  for (let n = 0; n < 15; n += 1) {
    connection.write("garbage\r\n\r\n");
    await new Promise((resume) => setTimeout(resume, 2));
  }
  held.resolve();
  const replies = parseReplies(await connection.closed());
  expect(replies.map(({ status }) => status)).toEqual([201, 400]);
  await served.plane.close();
  expect(logged(served)).toHaveLength(2);
  expect(warnings).toEqual([]);
  process.off("warning", onWarning);
  await real.close();
});

describeServed("a whole body whose client leaves while its request waits for the store", (serve) => {
  const rated = withLimits({ rate: { project: { requestsPerSecond: 100, burst: 100 } } });

  it.each([
    ["of a known length", { lines: ["Content-Length: 1"] }, "1"],
    ["in chunks", { lines: ["Transfer-Encoding: chunked"] }, chunk("1") + chunk("")],
  ])("%s is logged and counted", async (_, request, body) => {
    const served = await serve(changed(shop, rated));
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const { drawTokens } = served.store;
    Object.assign(served.store, {
      drawTokens: async (...given: Parameters<Store["drawTokens"]>) => {
        asked.resolve();
        await answered.promise;
        return await drawTokens(...given);
      },
    });
    const connection = openRaw(served.origin);
    connection.write(head(served, request) + body);
    await asked.promise;
    connection.destroy();
    // Requests of their own connections, so that the server has seen the other one close.
    for (let n = 0; n < 3; n += 1) await send(served.adminUrl, "/metrics");
    answered.resolve();
    await eventually(async () => {
      const { text } = await send(served.adminUrl, "/metrics");
      expect(text).toMatch(/^jsonplane_kv_requests_total\{[^}]*root_key="doc"[^}]*\} 1$/m);
    });
    expect(logged(served).filter(({ message }) => message === "Request")).toHaveLength(1);
  });
});
