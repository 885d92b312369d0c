import { describe, expect, it } from "vitest";
import { chooseToken } from "../../../../pages/sign-in/choose-token.ts";
import type { OfferedIssuer } from "../../../../pages/sign-in/offered-issuer.ts";

const corp: OfferedIssuer = {
  name: "corp",
  url: "https://login.example.org",
  audiences: ["shop", "till"],
  clientId: "shop-web",
  authorizationEndpoint: "https://login.example.org/auth",
  tokenEndpoint: "https://login.example.org/token",
  alwaysSendsIss: false,
  scopes: ["openid"],
};
const nonce = "n";

function token(claims: object): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  return `${encode({ alg: "ES256" })}.${encode(claims)}.c2ln`;
}

const access = token({ iss: corp.url, aud: "shop", sub: "ann" });
const identity = token({ iss: corp.url, aud: ["shop-web", "till"], sub: "Ünal 漢", nonce });
const foreign = token({ iss: corp.url, aud: "https://graph.example.org" });

describe("the API is sent", () => {
  it("the access token where it is for one of the project's audiences", () => {
    const other = token({ iss: corp.url, aud: "shop-web", nonce });
    expect(chooseToken({ access_token: access, id_token: identity }, corp, nonce)).toEqual({ token: access });
    expect(chooseToken({ access_token: access, id_token: other }, corp, nonce)).toEqual({ token: access });
    expect(chooseToken({ access_token: access }, corp, nonce)).toEqual({ token: access });
  });

  it.each([
    ["opaque", "an-opaque-token"],
    ["for another audience", foreign],
    ["of another issuer", token({ iss: `${corp.url}/`, aud: "shop" })],
    ["without an audience", token({ iss: corp.url })],
    ["missing", undefined],
    ["encrypted", "a.b.c.d.e"],
    ["no JSON", `a.${Buffer.from("{").toString("base64url")}.c`],
    ["no base64", "a.%.c"],
  ])("the id_token where the access token is %s", (_what, unfit) => {
    expect(chooseToken({ access_token: unfit, id_token: identity }, corp, nonce)).toEqual({ token: identity });
  });

  it("neither of another sign-in, even if the access token would do", () => {
    for (const claims of [{ nonce: "other" }, {}]) {
      const other = token({ iss: corp.url, aud: "till", ...claims });
      for (const access_token of [access, "opaque"]) {
        expect(chooseToken({ access_token, id_token: other }, corp, nonce)).toEqual({
          fault: "The id_token of corp is not for this sign-in (nonce). Sign in again.",
        });
      }
    }
    expect(chooseToken({ access_token: access, id_token: "opaque" }, corp, nonce)).toHaveProperty("fault");
  });

  it("an id_token without the nonce after a refresh, which was asked for by no browser", () => {
    const refreshed = token({ iss: corp.url, aud: "till" });
    expect(chooseToken({ access_token: "opaque", id_token: refreshed }, corp, undefined)).toEqual({ token: refreshed });
  });
});

it("a person reads whom the tokens are for, and what to set, where neither fits", () => {
  const id_token = token({ iss: corp.url, aud: "shop-web", nonce });
  expect(chooseToken({ access_token: "opaque", id_token }, corp, nonce)).toEqual({
    fault:
      "You are signed in at corp, but neither of its tokens is for this API, which takes tokens for shop or till. The access token is " +
      "not a JSON Web Token; the id_token is for shop-web. Let corp make tokens for one of them, or add what they are for to " +
      "issuer.audiences of corp in the Project.",
  });
  const { fault } = chooseToken({ access_token: token({ iss: 1 }) }, corp, nonce) as { readonly fault: string };
  expect(fault).toContain("The access token is from 1 instead of https://login.example.org; the id_token is missing.");
});
