import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  authorizationUrl,
  checkResponse,
  codeGrant,
  newPendingSignIn,
  refusalOf,
} from "../../../../pages/sign-in/authorization.ts";
import type { OfferedIssuer } from "../../../../pages/sign-in/offered-issuer.ts";

const page = "https://api.example.org/default/shop/console";
const corp: OfferedIssuer = {
  name: "corp",
  url: "https://login.example.org",
  audiences: ["shop"],
  clientId: "shop-web",
  authorizationEndpoint: "https://login.example.org/auth?tenant=7",
  tokenEndpoint: "https://login.example.org/token",
  alwaysSendsIss: false,
  scopes: ["openid", "api://shop/access"],
};
const partner: OfferedIssuer = { ...corp, name: "partner", url: "https://partner.example.org" };
const { name, url } = corp;
const pending = newPendingSignIn({ issuer: { name, url }, redirectUri: page, fragment: "#/api/books" });

describe("what an issuer is asked", () => {
  it("is for a code that only this page can redeem, and comes back to this page", async () => {
    const url = new URL(await authorizationUrl(corp, pending));
    expect(`${url.origin}${url.pathname}`).toBe("https://login.example.org/auth");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      tenant: "7",
      response_type: "code",
      client_id: "shop-web",
      redirect_uri: page,
      scope: "openid api://shop/access",
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: createHash("sha256").update(pending.verifier).digest("base64url"),
      code_challenge_method: "S256",
    });
    expect(Object.fromEntries(codeGrant(corp, pending, "c"))).toEqual({
      grant_type: "authorization_code",
      code: "c",
      redirect_uri: page,
      client_id: "shop-web",
      code_verifier: pending.verifier,
    });
  });

  it("includes consent where a refresh token is asked for", async () => {
    const offline = { ...corp, scopes: ["openid", "offline_access"] };
    expect(new URL(await authorizationUrl(offline, pending)).searchParams.get("prompt")).toBe("consent");
  });

  it("has another state, nonce and verifier every time, of 256 bits each", () => {
    const other = newPendingSignIn({ issuer: { name, url }, redirectUri: page, fragment: "" });
    const texts = [pending, other].flatMap(({ state, nonce, verifier }) => [state, nonce, verifier]);
    expect(new Set(texts).size).toBe(6);
    for (const text of texts) expect(text).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});

describe("what the browser comes back with", () => {
  const checked = (query: string, changes: Partial<Parameters<typeof checkResponse>[0]> = {}) =>
    checkResponse({ parameters: new URLSearchParams(query), page, pending, ...changes }, [corp, partner]);
  const { state } = pending;

  it("is a code of the issuer that was asked", () => {
    expect(checked(`code=c&state=${state}`)).toEqual({ issuer: corp, pending, code: "c" });
    const named = `code=c&state=${state}&iss=${encodeURIComponent(corp.url)}`;
    expect(checked(named)).toEqual({ issuer: corp, pending, code: "c" });
  });

  it.each([
    ["another state", "code=c&state=other", {}],
    ["no state", "code=c", {}],
    ["two states", `code=c&state=${state}&state=${state}`, {}],
    ["another state and an error", "error=shown&error_description=never&state=other", {}],
    ["a state, to a page that has not left for an issuer", `code=c&state=${state}`, { pending: undefined }],
    ["a state, to another page", `code=c&state=${state}`, { page: `${page}x` }],
    [
      "a state, of an issuer that is gone",
      `code=c&state=${state}`,
      { pending: { ...pending, issuer: { name: "gone", url } } },
    ],
    [
      "a state, of an issuer whose name another one has by now",
      `code=c&state=${state}`,
      { pending: { ...pending, issuer: { name, url: "https://former.example.org" } } },
    ],
  ])("is refused with %s", (_what, query, changes) => {
    const fault = "This page was opened with the answer to a sign-in that it has not begun. Sign in again.";
    expect(checked(query, changes)).toEqual({ fault });
  });

  it("is refused if it is another issuer's, before its code is sent to the one that was asked", () => {
    for (const iss of [partner.url, `${corp.url}/`, `${corp.url}&iss=${partner.url}`, ""]) {
      const { fault } = checked(`code=c&state=${state}&iss=${iss}`) as { readonly fault: string };
      expect(fault).toBe("The answer is not from corp (https://login.example.org). Sign in again.");
    }
  });

  it("is refused if it does not say whose it is, where the issuer's answers always do", () => {
    const response = { parameters: new URLSearchParams(`code=c&state=${state}`), page, pending };
    expect(checkResponse(response, [{ ...corp, alwaysSendsIss: true }])).toEqual({
      fault: "The answer is not from corp (https://login.example.org). Sign in again.",
    });
  });

  it.each([
    ["error=access_denied", "corp refused: access_denied"],
    ["error=access_denied&error_description=Ask+%3Cb%3EIT%3C/b%3E", "corp refused: access_denied: Ask <b>IT</b>"],
    ["", "corp answered without an authorization code. Sign in again."],
    ["code=", "corp answered without an authorization code. Sign in again."],
    ["code=a&code=b", "corp answered without an authorization code. Sign in again."],
  ])("with %s says what is wrong", (query, fault) => {
    expect(checked(`state=${state}&${query}`)).toEqual({ fault });
  });

  it("says no more than some words of an issuer", () => {
    expect(refusalOf(corp, "e", "x".repeat(10_000)).length).toBeLessThan(330);
  });
});
