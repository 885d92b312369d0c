// A client may take half a minute to send a body. What holds when the body has arrived decides
// whether it is written, and where: not what held when the request began.

import { describe, expect, it } from "vitest";
import type { CompiledProject } from "../../core/config/types.ts";
import { purgeCollection } from "../../dataplane/config/purge-steps.ts";
import {
  apikey,
  basic,
  bearer,
  type Modifier,
  project,
  withConfig,
  withKey,
  withoutKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { openRaw } from "../support/http/raw-http.ts";
import { describeServed, type Served } from "../support/http/served.ts";

interface LateBody {
  /** Sends the body; answers with the status and the body of the answer. */
  arrive(): Promise<{ readonly status: number; readonly text: string }>;
}

/**
 * A request whose client was asked for the body, by when it is decided, and has not sent it yet.
 */
async function askedForBody(served: Served, request: string, credential: string, body: string): Promise<LateBody> {
  const [method, path] = request.split(" ");
  const connection = openRaw(served.origin);
  const lines = [
    `${method} ${served.base}${path} HTTP/1.1`,
    "Host: plane.test",
    `Authorization: ${credential}`,
    `Content-Length: ${body.length}`,
    "Expect: 100-continue",
    "Connection: close",
  ];
  connection.write(`${lines.join("\r\n")}\r\n\r\n`);
  await connection.arrived("100 Continue\r\n\r\n");
  return {
    async arrive() {
      connection.write(body);
      const [head = "", text = ""] =
        (await connection.closed()).split("100 Continue\r\n\r\n")[1]?.split("\r\n\r\n") ?? [];
      return { status: Number(head.split(" ")[1]), text };
    },
  };
}

const ci = apikey("ci");
const shop = (): CompiledProject =>
  project(
    "shop",
    withKey("ci", { role: "Administrators" }),
    withKey("other", { role: "Administrators" }),
    withUser("ann"),
    withResource("books"),
    withRootKey("flags"),
  );

const strict = { type: "object", properties: { title: { type: "string" } }, additionalProperties: false };
const withoutResources: Modifier = (parts) => ({ ...parts, resources: new Map() });

describeServed("a body that arrives late", (serve) => {
  describe.each([
    ["an object", "POST /api/books"],
    ["a value", "PUT /json/flags"],
  ])("of a write of %s", (_, request) => {
    it.each<readonly [string, Modifier, number]>([
      ["whose key was revoked meanwhile", withoutKey("ci"), 401],
      ["whose key may only read by now", withKey("ci", { access: "Read" }), 403],
      ["of a project that is read-only by now", withConfig({ serving: "ReadOnly" }), 403],
      ["of a project that was switched off meanwhile", withConfig({ serving: "Off" }), 503],
    ])("%s is not written", async (_, change, status) => {
      const served = await serve(shop());
      const late = await askedForBody(served, request, ci, '{"a":1}');
      served.change(change);
      expect((await late.arrive()).status).toBe(status);
      served.change(withConfig({ serving: "ReadWrite" }));
      const [, path = ""] = request.split(" ");
      const answer = await served.send(path, { as: apikey("other") });
      expect(answer.text).not.toContain('"a":1');
    });

    it("is written although something else changed", async () => {
      const served = await serve(shop());
      const late = await askedForBody(served, request, ci, '{"a":1}');
      served.change(withKey("new"));
      const { status, text } = await late.arrive();
      expect([200, 201]).toContain(status);
      expect(text).toContain('"a":1');
    });
  });

  it("is not written once its session was ended", async () => {
    const served = await serve(shop());
    const login = await served.send("/sessions/", { method: "POST", as: basic("ann") });
    const { access_token, session_id } = login.json<{ access_token: string; session_id: string }>();
    const late = await askedForBody(served, "POST /api/books", bearer(access_token), '{"a":1}');
    await served.send(`/sessions/${session_id}`, { method: "DELETE", as: ci });
    expect((await late.arrive()).status).toBe(401);
  });

  it("is not written where its resource is gone, nor into one that was made anew under its name after a purge", async () => {
    const served = await serve(shop());
    await served.send("/api/books", { method: "POST", as: ci, body: { a: 1 } });
    const gone = await askedForBody(served, "POST /api/books", ci, '{"a":2}');
    const replaced = await askedForBody(served, "POST /api/books", ci, '{"a":3}');
    const { project: ref } = served.change(withoutResources);
    expect(await purgeCollection(served.store, { project: ref, resource: "books" })).toBe(true);
    expect((await gone.arrive()).status).toBe(404);
    served.change(withResource("books", { schema: strict }));
    expect((await replaced.arrive()).status).toBe(400);
    expect((await served.send("/api/books", { as: ci })).json()).toMatchObject({ count: 0 });
  });

  it("is held to the schema that its resource has by then", async () => {
    const served = await serve(shop());
    const late = await askedForBody(served, "POST /api/books", ci, '{"a":1}');
    served.change(withResource("books", { schema: strict }));
    expect((await late.arrive()).status).toBe(400);
  });
});
