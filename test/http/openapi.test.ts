// What a project says of itself: its OpenAPI document, live with every change, at every address,
// and who may read it.

import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import type { CompiledProject } from "../../core/config/types.ts";
import { send } from "../support/http/http-client.ts";
import {
  apikey,
  basic,
  bearer,
  changed,
  project,
  withAuthenticationDisabled,
  withConfig,
  withHosts,
  withKey,
  withResource,
  withRootKey,
  withServing,
  withUser,
} from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const shop = project(
  "shop",
  withKey("reader", { access: "Read" }),
  withUser("ada"),
  withResource("books", { schema: { properties: { title: { type: "string" } } } }),
  withRootKey("flags"),
  withHosts("shop.example.org"),
);
const as = apikey("reader");

interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, unknown>>;
}

const documentOf = async (served: Served) => (await served.send("/openapi.json", { as })).json<Document>();

describeServed("the OpenAPI document", (serve) => {
  it("is served as JSON below the project's base, valid for an independent validator", async () => {
    const served = await serve(shop);
    const reply = await served.send("/openapi.json", { as });
    expect([reply.status, reply.headers["content-type"]]).toEqual([200, "application/json"]);
    expect(await new Validator().validate(reply.json())).toMatchObject({ valid: true });
    const { openapi, paths } = reply.json<Document>();
    expect(openapi).toBe("3.1.0");
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(["/api/books", "/api/books/{id}", "/json/flags/{path}"]));
  });

  it("says of reads whose changes are kept, and of no other answer, from where to follow them", async () => {
    const changes = { retentionSeconds: 3600, maxEntries: 1_000 };
    const watched = [withResource("orders", { changes }), withRootKey("limits", { changes })];
    const document = await documentOf(await serve(changed(shop, ...watched)));
    const saying = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item as object)
        .filter(([, operation]) => JSON.stringify(operation).includes("Changes-Position"))
        .map(([method]) => `${method} ${path}`),
    );
    expect(saying.sort()).toEqual(
      ["/api/orders", "/api/orders/{id}", "/json/limits", "/json/limits/{path}"].map((path) => `get ${path}`),
    );
  });

  it("names as its server the base that the request used: path, host, public path", async () => {
    const served = await serve(shop, { publicUrl: "https://example.org/data" });
    expect((await documentOf(served)).servers).toEqual([{ url: `${served.origin}/data${served.base}` }]);
    const byHost = await send(served.origin, "/openapi.json", { as, headers: { host: "shop.example.org" } });
    expect(byHost.json<Document>().servers).toEqual([{ url: "https://shop.example.org" }]);
  });

  it("is live with every change", async () => {
    const served = await serve(shop);
    const before = await served.send("/openapi.json", { as });
    served.change(withResource("films", {}), withResource("books", { access: { delete: "Nobody" } }));
    const after = await served.send("/openapi.json", { as });
    expect(Object.keys(after.json<Document>().paths)).toContain("/api/films");
    expect(after.json<Document>().paths["/api/books/{id}"]).not.toHaveProperty("delete");
    expect(after.headers.etag).not.toBe(before.headers.etag);
  });

  it("answers HEAD, OPTIONS, a trailing slash, and 304 to whom has it", async () => {
    const served = await serve(shop);
    const reply = await served.send("/openapi.json/", { as });
    const head = await served.send("/openapi.json", { as, method: "HEAD" });
    expect([head.status, head.text, head.headers["content-length"]]).toEqual([
      200,
      "",
      String(Buffer.byteLength(reply.text)),
    ]);
    const preflight = await served.send("/openapi.json", {
      method: "OPTIONS",
      headers: { origin: "https://app.example.org" },
    });
    expect([preflight.status, preflight.headers.allow, preflight.headers["access-control-allow-origin"]]).toEqual([
      204,
      "GET, HEAD, OPTIONS",
      "*",
    ]);
    const same = await served.send("/openapi.json", { as, headers: { "if-none-match": String(reply.headers.etag) } });
    expect([same.status, same.text]).toEqual([304, ""]);
    expect((await served.send("/openapi.json", { as, method: "POST" })).code).toBe("method_not_allowed");
  });

  describe("is read by", () => {
    const codes = async (served: Served) => {
      const login = await served.send("/sessions", { method: "POST", as: basic("ada") });
      const callers = [undefined, as, bearer(login.json<{ access_token: string }>().access_token), "apikey wrong"];
      const replies = callers.map((caller) => served.send("/openapi.json", caller === undefined ? {} : { as: caller }));
      return (await Promise.all(replies)).map(({ status, code }) => code ?? status);
    };
    const cases: readonly [string, CompiledProject, readonly (string | number)[]][] = [
      [
        "any user or key, unless the project says otherwise",
        shop,
        ["authentication_required", 200, 200, "invalid_credentials"],
      ],
      [
        "anyone where it says Anyone",
        { ...shop, project: { ...shop.project, openapi: "Anyone" } },
        [200, 200, 200, "invalid_credentials"],
      ],
    ];
    it.each(cases)("%s", async (_who, parts, expected) => {
      expect(await codes(await serve(parts))).toEqual(expected);
    });

    it("nobody where it says Nobody, also with authentication disabled", async () => {
      const served = await serve(shop);
      served.change(withConfig({ openapi: "Nobody" }));
      const refused = ["insufficient_access", "insufficient_access", "insufficient_access", "invalid_credentials"];
      expect(await codes(served)).toEqual(refused);
      served.change(withAuthenticationDisabled());
      expect((await served.send("/openapi.json")).code).toBe("insufficient_access");
    });

    it("anyone where authentication is disabled, and nobody of a project that is off", async () => {
      const served = await serve(shop);
      served.change(withAuthenticationDisabled());
      expect((await served.send("/openapi.json")).status).toBe(200);
      served.change(withServing("Off"));
      expect((await served.send("/openapi.json")).code).toBe("project_off");
    });
  });
});
