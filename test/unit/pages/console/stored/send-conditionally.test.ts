// What is sent of a request, and what comes back of its answer.

import { expect, it } from "vitest";
import { type ConditionalRequest, sendConditionally } from "../../../../../pages/console/stored/send-conditionally.ts";

async function sent(request: ConditionalRequest, response: Response | Error = new Response("1")) {
  const seen: { input: string; init: RequestInit }[] = [];
  const send = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    seen.push({ input: String(input), init });
    if (response instanceof Error) throw response;
    return response;
  };
  const answer = await sendConditionally({ send }, request);
  return { answer, headers: Object.fromEntries(new Headers(seen[0]?.init.headers)), cache: seen[0]?.init.cache };
}

it.each([
  [{ method: "GET" }, {}],
  [
    { method: "PUT", body: "1", condition: { etag: '"a"' } },
    { "content-type": "application/json", "if-match": '"a"' },
  ],
  [
    { method: "PUT", body: "1", condition: "nothing stored" },
    { "content-type": "application/json", "if-none-match": "*" },
  ],
  [
    { method: "PATCH", body: "[]", contentType: "application/json-patch+json" },
    { "content-type": "application/json-patch+json" },
  ],
  [
    { method: "POST", body: "1", idempotencyKey: "k" },
    { "content-type": "application/json", "idempotency-key": "k" },
  ],
] as const)("%j is sent with %j", async (request, headers) => {
  const found = await sent({ url: "json/a", ...request });
  expect(found.headers).toEqual(headers);
  expect(found.cache).toBe("no-store");
});

it("an answer comes with its tag, a refusal with its problem, and no answer as one with status 0", async () => {
  const request = { url: "json/a", method: "GET" } as const;
  const headers = { ETag: '"a"' };
  expect((await sent(request, new Response("1.0", { headers }))).answer).toEqual({
    ok: true,
    text: "1.0",
    etag: '"a"',
  });
  const problem = { status: 412, title: "A precondition failed" };
  const refusal = new Response(JSON.stringify(problem), { status: 412, headers });
  expect((await sent(request, refusal)).answer).toEqual({ ok: false, problem, etag: '"a"' });
  expect((await sent(request, new TypeError("gone"))).answer).toMatchObject({ ok: false, problem: { status: 0 } });
});

it("a tag that a proxy made weak is read as the server's own, which is strong", async () => {
  const headers = { ETag: 'W/"a"' };
  expect((await sent({ url: "json/a", method: "GET" }, new Response("1", { headers }))).answer).toMatchObject({
    etag: '"a"',
  });
});
