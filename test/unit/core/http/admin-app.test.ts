// Errors of the admin ports: their shape is that of the public port's.

import { expect, it } from "vitest";
import { createAdminApp } from "../../../../core/http/admin-app.ts";
import { openRoute } from "../../../../core/http/admin-port-access.ts";

const token = { current: () => Buffer.alloc(32), reread: async () => undefined };

function served(given?: typeof token) {
  const app = createAdminApp(given);
  app.get("/livez", openRoute, () => "ok");
  app.get("/metrics", () => {
    throw new Error("a secret of the program");
  });
  return app;
}

const cases = {
  "an unknown path": [{ method: "GET", url: "/nothing" }, 404, "unknown_path"],
  "a method that a path does not offer": [{ method: "POST", url: "/metrics" }, 405, "method_not_allowed"],
  "a path that can't be decoded": [{ method: "GET", url: "/%zz" }, 400, "invalid_request"],
  "a defect": [{ method: "GET", url: "/metrics" }, 500, "internal_error"],
} as const;

it.each(Object.entries(cases))("%s is a problem as on the public port", async (_, [request, status, code]) => {
  const reply = await served().inject({ ...request, query: { token: "x" } });
  expect([reply.statusCode, reply.headers["content-type"]]).toEqual([status, "application/problem+json"]);
  const problem = reply.json<Record<string, unknown>>();
  expect(problem).toMatchObject({ type: `urn:jsonplane:error:${code}`, status, code, instance: request.url });
  expect(problem["requestId"]).toBe(reply.headers["x-request-id"]);
  expect(reply.body).not.toContain("secret");
});

it("names the paths that there are, and the methods of one", async () => {
  const app = served();
  expect((await app.inject("/nothing")).json<{ detail: string }>().detail).toBe("This port has /livez, /metrics");
  expect((await app.inject({ method: "DELETE", url: "/livez" })).headers["allow"]).toBe("GET, HEAD");
});

it("is asked for its token before anything is said of its paths", async () => {
  const replies = await Promise.all(["/nothing", "/metrics"].map((url) => served(token).inject(url)));
  for (const reply of replies) {
    expect(reply.json()).toMatchObject({ status: 401, code: "authentication_required" });
    expect(reply.headers["www-authenticate"]).toBe('Bearer realm="jsonplane metrics"');
  }
});
