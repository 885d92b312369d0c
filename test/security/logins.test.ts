// What a stranger can learn from logins, and what a credential is worth outside its project and
// after its end. Work is counted, not timed: every wrong login that is well-formed costs two argon2
// comparisons of the same parameters.

import { verify } from "argon2";
import { beforeAll, expect, it, vi } from "vitest";
import type { Reply } from "../support/http/http-client.ts";
import { send } from "../support/http/http-client.ts";
import {
  apikey,
  basic,
  bearer,
  keyOf,
  passwordOf,
  project,
  withAuthenticationDisabled,
  withKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { describeReplicas, describeServed, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";

// Counted, and still the real one.
vi.mock("argon2", async (original) => {
  const argon2 = await original<typeof import("argon2")>();
  return { ...argon2, verify: vi.fn(argon2.verify) };
});

const shop = project(
  "shop",
  withUser("alice"),
  withUser("reader", { access: "Read" }),
  withUser("made", { generated: true }),
  withKey("ci"),
  withRootKey("doc"),
);
const other = project("other", withUser("carol", { password: "only here" }));

/** All of an answer but what is made again for each. */
function shown({ status, headers, text }: Reply): unknown {
  const { date: _, "x-request-id": id, ...others } = headers;
  return { status, headers: others, text: text.replaceAll(String(id), "(id)") };
}

/** Variant, version and cost of an argon2 string, in one order. */
function workOf(hash: string): string {
  const [, variant, version, cost = ""] = hash.split("$");
  return `${variant} ${version} ${cost.split(",").sort()}`;
}

const wrong: Readonly<Record<string, string>> = {
  "an unknown user": basic("nobody", "x"),
  "a wrong password": basic("alice", "x"),
  "a wrong password of a user with another access": basic("reader", "x"),
  "a wrong password of a user whose password was generated": basic("made", "x"),
  "an empty password": basic("alice", ""),
  "a password of a thousand bytes": basic("alice", "x".repeat(1_000)),
  "another user's password": basic("alice", passwordOf("reader")),
  "the user in another case": basic("Alice", passwordOf("alice")),
  "a user of another project, with the right password": basic("carol", "only here"),
  "an inherited name": basic("__proto__", "x"),
  "the name of a key, and the key": basic("ci", keyOf("ci")),
};

describeServed("a wrong login", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve([shop, other]);
  });

  it("costs two argon2 comparisons of the same parameters and answers the same, whatever is wrong", async () => {
    const answers: unknown[] = [];
    const costs: unknown[] = [];
    for (const as of Object.values(wrong)) {
      vi.mocked(verify).mockClear();
      answers.push(shown(await served.send("/sessions", { method: "POST", as })));
      costs.push(vi.mocked(verify).mock.calls.map(([hash]) => workOf(String(hash))));
    }
    expect(new Set(costs.map((cost) => JSON.stringify(cost)))).toEqual(
      new Set(['["argon2id v=19 m=64,p=1,t=1","argon2id v=19 m=96,p=1,t=1"]']),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  it("costs nothing when it is malformed", async () => {
    vi.mocked(verify).mockClear();
    for (const as of [
      "Basic",
      "Basic x",
      "Basic Og==",
      "bearer a.b.c",
      "apikey x",
      basic("a\u0001b", "x"),
      basic("x".repeat(300), "x"),
    ]) {
      expect((await served.send("/sessions", { method: "POST", as })).status).toBe(401);
    }
    expect(vi.mocked(verify)).not.toHaveBeenCalled();
  });
});

describeReplicas("a session that was ended on one replica", (serveTwice) => {
  it("is worth nothing on the other: access token, refresh token, and its id", async () => {
    const [one, two] = await serveTwice(shop);
    const login = await one.send("/sessions", { method: "POST", as: basic("alice") });
    const { access_token = "", refresh_token = "", session_id } = login.json<Record<string, string>>();
    expect((await two.send("/sessions", { as: bearer(access_token) })).status).toBe(200);
    expect((await one.send(`/sessions/${session_id}`, { method: "DELETE", as: bearer(access_token) })).status).toBe(
      204,
    );
    for (const served of [one, two]) {
      await eventually(async () =>
        expect((await served.send("/sessions", { as: bearer(access_token) })).status).toBe(401),
      );
      const refreshed = await served.send("/sessions/refresh", { method: "POST", as: bearer(refresh_token) });
      expect([refreshed.status, refreshed.code]).toEqual([401, "invalid_credentials"]);
      const put = await served.send("/json/doc/a", { method: "PUT", body: 1, as: bearer(access_token) });
      expect(put.status).toBe(401);
    }
    expect((await two.send("/json/doc")).text).toBe("{}");
  });
});

describeServed("a credential of one project", (serve) => {
  const twin = (name: string, ...more: Parameters<typeof project>[1][]) =>
    project(
      name,
      withUser("alice"),
      withKey("ci", { key: `jp_${name.padEnd(43, "x")}` }),
      withResource("things"),
      withRootKey("doc"),
      ...more,
    );

  it("is none in another one with the same users, passwords and names: nor where authentication is disabled", async () => {
    const served = await serve([twin("red"), twin("blue"), twin("open", withAuthenticationDisabled())]);
    const at = (name: string, path: string, as: string, method = "GET") =>
      send(served.origin, `/${served.namespace}/${name}${path}`, { method, as });
    const login = (await at("red", "/sessions", basic("alice"), "POST")).json<Record<string, string>>();
    const key = `apikey jp_${"red".padEnd(43, "x")}`;
    expect((await at("red", "/api/things", key)).status).toBe(200);
    const credentials = [key, bearer(login.access_token ?? ""), bearer(login.refresh_token ?? "")];
    const paths = ["/api/things", "/json/doc", "/sessions", `/sessions/${login.session_id}`];
    const tries = credentials.flatMap((as) => paths.map((path) => [path, as] as const));
    for (const name of ["blue", "open"]) {
      for (const [path, as] of tries) expect((await at(name, path, as)).status).toBe(401);
      expect((await at(name, "/sessions/refresh", bearer(login.refresh_token ?? ""), "POST")).status).toBe(401);
      const own = (await at(name, "/sessions", basic("alice"), "POST")).json<Record<string, string>>();
      expect((await at(name, `/sessions/${login.session_id}`, bearer(own.access_token ?? ""), "DELETE")).status).toBe(
        404,
      );
    }
    expect((await at("red", "/sessions", bearer(login.access_token ?? ""))).status).toBe(200);
  });

  it("is asked for anew when a project of the same name stands in another namespace", async () => {
    const served = await serve(shop);
    const elsewhere = await serve(shop);
    const reply = await send(elsewhere.origin, `${served.base}/api/things`, { as: apikey("ci") });
    expect([reply.status, reply.code]).toEqual([404, "unknown_project"]);
  });
});
