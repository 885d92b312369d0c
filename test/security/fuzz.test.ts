// A small run of the fuzzer; `npm run fuzz -- --seed S --requests N` makes larger ones.

import { expect, it } from "vitest";
import { faultsOf, leaksOf } from "../fuzz/check-answer.ts";
import type { FuzzTarget } from "../fuzz/fuzz.ts";
import { fuzz } from "../fuzz/fuzz.ts";
import { tenantsOf } from "../fuzz/tenants.ts";
import { startFuzzed } from "../support/fleet/fuzzed-replica.ts";
import type { Reply } from "../support/http/http-client.ts";
import { countForTier, testSeed } from "../support/time/test-tier.ts";

const seed = testSeed();
const requests = countForTier(600, 10_000);

it("random requests of two tenants to the example projects: no defect, no leak, what is acknowledged is there, what is refused changed nothing", async () => {
  const tenants = await tenantsOf(seed);
  const target = await startFuzzed(tenants);
  try {
    const report = await fuzz(target, tenants, { seed, requests });
    expect(report.faults, `seed ${seed}`).toEqual([]);
    expect(report.requests).toBe(requests);
    expect(report.readBack).toBeGreaterThan(requests / 40);
    expect(report.unchanged).toBeGreaterThan(requests / 40);
  } finally {
    await target.stop();
  }
});

const reply = (status: number, body: object, headers: Reply["headers"] = {}): Reply => ({
  status,
  headers: {
    "x-request-id": "1",
    "content-type": status < 400 ? "application/json" : "application/problem+json",
    ...headers,
  },
  text: JSON.stringify(body),
  json: <T>() => body as T,
  code: undefined,
});

it("a wrong answer is found, with what is wrong", () => {
  const problem = { code: "not_found", status: 404, detail: "x", requestId: "1" };
  expect(faultsOf(reply(404, problem), "GET")).toEqual([]);
  expect(faultsOf(reply(200, {}), "GET")).toEqual([]);
  expect(faultsOf(reply(500, { ...problem, code: "internal_error", status: 500 }), "GET")).toEqual([
    "a defect: internal_error",
  ]);
  expect(faultsOf(reply(404, { ...problem, code: "invented" }), "GET")).toHaveLength(1);
  expect(faultsOf(reply(404, { ...problem, stack: "at x" }), "GET")).toEqual(["a problem with stack"]);
  expect(faultsOf(reply(400, problem), "GET")).toHaveLength(1);
  expect(faultsOf(reply(404, problem, { "content-type": "text/html" }), "GET")).toHaveLength(1);
  expect(leaksOf(reply(200, { a: "secret" }), ["secret", "other"])).toEqual(["secret"]);
  expect(leaksOf(reply(200, {}, { location: "/secret" }), ["secret"])).toEqual(["secret"]);
});

it.each([
  ["loses a write that it acknowledged", (target: FuzzTarget): FuzzTarget => ({ ...target, send: forgetful(target) })],
  ["keeps a write that it refused", (target: FuzzTarget): FuzzTarget => ({ ...target, send: stubborn(target) })],
  [
    "shows a tenant what another one wrote",
    (target: FuzzTarget): FuzzTarget => ({ ...target, send: talkative(target) }),
  ],
])("the fuzzer finds a service that %s", async (_what, spoil) => {
  const tenants = await tenantsOf(seed);
  const target = await startFuzzed(tenants);
  try {
    expect((await fuzz(spoil(target), tenants, { seed, requests: 400 })).faults).not.toEqual([]);
  } finally {
    await target.stop();
  }
});

type Send = FuzzTarget["send"];

function forgetful({ send }: FuzzTarget): Send {
  return async (path, sent) => {
    const answer = await send(path, sent);
    const id = sent?.method === "POST" && answer.status === 201 ? answer.json<{ id?: string }>().id : undefined;
    if (id !== undefined) await send(`${path.split("?")[0]}/${id}`, { method: "DELETE", as: sent?.as ?? "" });
    return answer;
  };
}

function stubborn({ send }: FuzzTarget): Send {
  return async (path, sent) => {
    const answer = await send(path, sent);
    const isWrite = sent?.method === "PUT" && answer.status === 200;
    const text = JSON.stringify({
      code: "key_exists",
      status: 409,
      detail: "x",
      requestId: answer.headers["x-request-id"],
    });
    const headers = { ...answer.headers, "content-type": "application/problem+json" };
    return isWrite ? { ...answer, status: 409, headers, text } : answer;
  };
}

/** Answers a reader with what anybody read before. */
function talkative({ send }: FuzzTarget): Send {
  let last = "";
  return async (path, sent) => {
    const answer = await send(path, sent);
    const isRead = (sent?.method ?? "GET") === "GET" && answer.status === 200;
    const text = isRead && last !== "" ? last : answer.text;
    if (isRead) last = answer.text;
    return { ...answer, text };
  };
}
