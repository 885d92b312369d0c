// The console as HTTP: who gets the page, who the description that it is made of, and where a
// project's URL leads.

import { expect, it } from "vitest";
import { testIssuer, withIssuer } from "../support/http/external-issuer.ts";
import {
  apikey,
  project,
  withAuthenticationDisabled,
  withConfig,
  withKey,
  withResource,
  withServing,
} from "../support/http/projects.ts";
import { describeServed } from "../support/http/served.ts";

const shop = project("shop", withKey("reader", { access: "Read" }), withResource("secret-books"));
const description = "/console/openapi.json";
const browser = { headers: { accept: "text/html" } };

describeServed("the console", (serve) => {
  it("is not there unless the project says so: neither the page nor its files nor the description", async () => {
    const served = await serve(shop);
    for (const path of ["/console", "/console/page.js", description]) {
      const reply = await served.send(path, { as: apikey("reader") });
      expect([path, reply.status, reply.code]).toEqual([path, 403, "insufficient_access"]);
    }
    expect((await served.send("", browser)).headers.location).toBe(`${served.base}/docs`);
  });

  it("is a page for everybody that tells nothing of the project, under a policy that runs no script but its own", async () => {
    const served = await serve(shop);
    served.change(withConfig({ console: "Authenticated" }));
    const reply = await served.send("/console");
    expect([reply.status, reply.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(reply.headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self';");
    expect(reply.text).not.toMatch(/secret|shop|https?:\/\//);
    const script = await served.send("/console/page.js");
    expect([script.status, script.headers["content-type"]]).toEqual([200, "text/javascript; charset=utf-8"]);
    for (const path of ["/console/viewer.js", "/console/page.html", "/console/..%2Fpage.js"]) {
      expect([path, (await served.send(path)).code]).toEqual([path, "unknown_path"]);
    }
  });

  it("shows the description to any user or key, and leads to the reference page where people may read that", async () => {
    const served = await serve(shop);
    served.change(withConfig({ console: "Authenticated" }));
    expect((await served.send(description)).status).toBe(401);
    expect((await served.send(description, { as: "apikey wrong" })).status).toBe(401);
    const reply = await served.send(description, { as: apikey("reader") });
    const { text, headers } = await served.send("/openapi.json", { as: apikey("reader") });
    expect([reply.status, reply.text]).toEqual([200, text]);
    expect(headers.link).toBe(`<${served.origin}${served.base}/console>; rel="related"; title="Console"`);
    expect(reply.headers.link).toContain(`<${served.origin}${served.base}/docs>; rel="service-doc"`);
    const again = await served.send(description, {
      as: apikey("reader"),
      headers: { "if-none-match": String(reply.headers.etag) },
    });
    expect(again.status).toBe(304);
  });

  it("is open to those whom spec.console names, whoever may read /openapi.json", async () => {
    const served = await serve(shop);
    served.change(withConfig({ console: "Anyone", openapi: "Nobody" }));
    const reply = await served.send(description);
    expect([reply.status, reply.headers.link]).toEqual([200, undefined]);
    expect((await served.send("/openapi.json")).code).toBe("insufficient_access");
    served.change(withConfig({ console: "Nobody", openapi: "Anyone" }));
    expect((await served.send(description)).code).toBe("insufficient_access");
    expect((await served.send("/openapi.json")).headers.link).toBeUndefined();
    served.change(withConfig({ console: "Authenticated" }), withAuthenticationDisabled());
    expect((await served.send(description)).status).toBe(200);
    served.change(withServing("Off"));
    expect((await served.send("/console")).code).toBe("project_off");
  });

  it("names the issuers where people sign in, follows them, and may reach their token endpoints besides", async () => {
    const served = await serve(shop);
    served.change(withConfig({ console: "Authenticated" }));
    const plain = await served.send("/console");
    served.change(withIssuer(testIssuer("pods")));
    const same = await served.send("/console");
    expect([same.text, same.headers.etag]).toEqual([plain.text, plain.headers.etag]);
    expect(same.headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    const signIn = {
      clientId: "</script><b>$&",
      authorizationEndpoint: "https://login.example.org/auth",
      tokenEndpoint: "https://token.example.org:8443/token?x=1",
      alwaysSendsIss: true,
      scopes: ["openid"],
    };
    served.change(withIssuer(testIssuer("corp", { signIn })));
    for (const path of ["/console", "/docs"]) {
      const reply = await served.send(path);
      const [, json = ""] = /<script type="application\/json" id="issuers">([^<]*)<\/script>/.exec(reply.text) ?? [];
      const corp = { name: "corp", url: "https://corp.example", audiences: ["shop"], ...signIn };
      expect([path, JSON.parse(json)]).toEqual([path, [corp]]);
      expect(reply.headers["content-security-policy"]).toBe(
        String(plain.headers["content-security-policy"]).replace(
          "'self'; base",
          "'self' https://token.example.org:8443; base",
        ),
      );
    }
    const named = await served.send("/console");
    expect(named.headers.etag).not.toBe(plain.headers.etag);
    const again = await served.send("/console", { headers: { "if-none-match": String(named.headers.etag) } });
    expect(again.status).toBe(304);
    served.change(withIssuer(testIssuer("corp", { signIn: { ...signIn, clientId: "other" } })));
    const changed = await served.send("/console", { headers: { "if-none-match": String(named.headers.etag) } });
    expect([changed.status, changed.text.includes('"other"')]).toEqual([200, true]);
    served.change(withConfig({ console: "Nobody" }));
    expect((await served.send("/console")).text).not.toContain("corp");
  });

  it("is where a browser comes to that follows the project's URL", async () => {
    const served = await serve(shop);
    served.change(withConfig({ console: "Authenticated", openapi: "Nobody" }));
    const reply = await served.send("", browser);
    expect([reply.status, reply.headers.location]).toEqual([302, `${served.base}/console`]);
    expect((await served.send("", { headers: { accept: "application/json" } })).code).toBe("unknown_path");
    expect((await served.send("/console/")).headers.location).toBe("../console");
  });
});
