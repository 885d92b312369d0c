// The token of the admin port: who is let in, what becomes of it when its file changes, and that
// nothing but probes is open.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Followed } from "../../../../core/followed-file.ts";
import { createAdminApp } from "../../../../core/http/admin-app.ts";
import { followToken, InvalidToken, openRoute } from "../../../../core/http/admin-port-access.ts";

const first = "first-0123456789abcdef";
const second = "second-0123456789abcdef";

let file: string;
let time: number;
let refusals: string[];
let token: Followed<Buffer>;

beforeEach(async () => {
  [file, time, refusals] = [`${first}\n`, 0, []];
  token = await followToken({
    read: async () => file,
    onRefused: (error) => void refusals.push(String(error)),
    now: () => time,
  });
});
afterEach(() => token.stop());

function guarded(given: Followed<Buffer> | undefined = token) {
  const app = createAdminApp(given);
  app.get("/livez", openRoute, () => "ok");
  app.get("/metrics", () => "figures");
  return async (url: string, authorization?: string, method: "GET" | "HEAD" = "GET") =>
    await app.inject({ url, method, ...(authorization !== undefined && { headers: { authorization } }) });
}

const statusOf = async (url: string, authorization?: string, method?: "GET" | "HEAD") =>
  (await guarded()(url, authorization, method)).statusCode;

describe("with a token", () => {
  it("only probes are open: not even which routes there are is told", async () => {
    expect(await statusOf("/livez")).toBe(200);
    for (const url of [
      "/metrics",
      "/metrics?x=1",
      "/METRICS",
      "//metrics",
      "/livez/",
      "/livez/../metrics",
      "/nothing",
    ]) {
      expect([url, await statusOf(url)]).toEqual([url, 401]);
    }
    expect(await statusOf("/metrics", undefined, "HEAD")).toBe(401);
  });

  it.each([
    ["the token", `Bearer ${first}`, 200],
    ["the scheme in another case", `bearer ${first}`, 200],
    ["another token", `Bearer ${second}`, 401],
    ["more than the token", `Bearer ${first}0`, 401],
    ["a part of it", `Bearer ${first.slice(0, -1)}`, 401],
    ["nothing after the scheme", "Bearer ", 401],
    ["another scheme", `Basic ${Buffer.from(`x:${first}`).toString("base64")}`, 401],
    ["no scheme", first, 401],
  ])("%s is answered as it deserves", async (_, authorization, status) => {
    expect(await statusOf("/metrics", authorization)).toBe(status);
  });

  it("a refusal says what to send, and whether what was sent is wrong", async () => {
    const none = await guarded()("/metrics");
    const wrong = await guarded()("/metrics", `Bearer ${second}`);
    expect([none, wrong].map(({ headers }) => headers["www-authenticate"])).toEqual([
      'Bearer realm="jsonplane metrics"',
      'Bearer realm="jsonplane metrics", error="invalid_token"',
    ]);
    expect(none.body).not.toContain("figures");
  });

  it("a new one counts from its first use on, and the former one no longer", async () => {
    file = second;
    time += 1_000;
    expect(await statusOf("/metrics", `Bearer ${second}`)).toBe(200);
    expect(await statusOf("/metrics", `Bearer ${first}`)).toBe(401);
  });

  it("stays where its file becomes unusable, which is said without what stands there", async () => {
    for (const text of ["", "short", "two words, both of them long", `${first}\n${second}`]) {
      file = text;
      time += 1_000;
      expect(await statusOf("/metrics", `Bearer ${second}`)).toBe(401);
      expect(await statusOf("/metrics", `Bearer ${first}`)).toBe(200);
    }
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).not.toContain("short");
  });
});

it("a file without a usable token is refused from the start", async () => {
  const read = async () => "too short";
  await expect(followToken({ read, onRefused: () => undefined })).rejects.toBeInstanceOf(InvalidToken);
});

it("without a token everybody who reaches the port is answered", async () => {
  const app = createAdminApp(undefined);
  app.get("/metrics", () => "figures");
  expect((await app.inject({ url: "/metrics" })).statusCode).toBe(200);
});
