// A service that clients reach below a path of a larger site: https://example.org/json.

import { expect, it } from "vitest";
import { send } from "../support/http/http-client.ts";
import { apikey, basic, project, withHosts, withKey, withResource, withUser } from "../support/http/projects.ts";
import { describeServed } from "../support/http/served.ts";

const shop = project("shop", withKey("ci"), withUser("alice"), withHosts("shop.test"), withResource("books"));
const behind = { publicUrl: "https://example.org/json/v1" };

interface Page {
  readonly links: { readonly self: string };
}

describeServed("a service below a path", (serve) => {
  it.each([
    ["leaves the path on requests", "/json/v1"],
    ["strips it", ""],
  ])("is served where the proxy %s, and its links have it", async (_, prefix) => {
    const served = await serve(shop, behind);
    const headers = { host: "example.org" };
    const as = apikey("ci");
    const list = await send(served.origin, `${prefix}${served.base}/api/books`, { as, headers });
    expect(list.status).toBe(200);
    const books = `https://example.org/json/v1${served.base}/api/books`;
    expect(list.json<Page>().links.self).toBe(`${books}?_limit=10&_offset=0`);
    const made = await send(served.origin, `${prefix}${served.base}/api/books`, {
      method: "POST",
      as,
      headers,
      body: "{}",
    });
    const location = made.headers.location ?? "";
    expect(location.slice(0, location.lastIndexOf("/"))).toBe(books);
    const login = await send(served.origin, `${prefix}${served.base}/sessions`, {
      method: "POST",
      as: basic("alice"),
      headers,
    });
    expect(login.headers.location).toMatch(`https://example.org/json/v1${served.base}/sessions/`);
    const link = new URL(location);
    expect((await send(served.origin, link.pathname, { as, headers })).status).toBe(200);
  });

  it("has nothing of it on a project's own host", async () => {
    const served = await serve(shop, behind);
    const list = await send(served.origin, "/api/books", { as: apikey("ci"), headers: { host: "shop.test" } });
    expect(list.json<Page>().links.self).toBe("https://shop.test/api/books?_limit=10&_offset=0");
    const below = await send(served.origin, "/json/v1/api/books", { as: apikey("ci"), headers: { host: "shop.test" } });
    expect(below.status).toBe(404);
  });

  it("takes half of it for a namespace", async () => {
    const served = await serve(shop, behind);
    const reply = await send(served.origin, `/json${served.base}/api/books`, { as: apikey("ci") });
    expect([reply.status, reply.json<{ code: string }>().code]).toEqual([404, "unknown_project"]);
  });
});
