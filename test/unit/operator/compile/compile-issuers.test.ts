// What becomes of the external issuers that a Project names: whose keys are published, which stay,
// and which are taken away at once.

import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import type { KnownIssuer } from "../../../../operator/model/issuers.ts";
import { publicJwk } from "../../../support/oidc/issuer-server.ts";
import { makeCertificate } from "../../../support/tls/certificates.ts";
import {
  before,
  compiled,
  corp,
  endpoints,
  known,
  one,
  project,
  refused,
  two,
  url,
  withoutKeys,
} from "./issuer-case.ts";

it("an issuer whose keys were fetched is published, with every default", () => {
  const { issuers, verdict } = compiled({ objects: [project([corp()])], fetched: { [url]: known(one) } });
  expect(verdict).toBe("accepted");
  expect(issuers).toEqual({
    corp: {
      ...{ name: "corp", url, audiences: ["shop"], usernameClaim: "sub", claimRules: [], access: "Read" },
      ...{ administrators: [], keysAreFetched: true, keys: one },
    },
  });
});

it("with all that the Project says of its callers, and where a page signs in", () => {
  const more = {
    clientId: "shop-web",
    scopes: ["openid", "profile"],
    access: "Write",
    claimMappings: { username: { claim: "email" } },
    claimValidationRules: [{ claim: "email_verified", requiredValue: "true" }],
    administrators: [{ claim: "groups", contains: "staff" }],
  };
  const { issuers } = compiled({ objects: [project([corp(more)])], fetched: { [url]: known(one) } });
  expect(issuers?.["corp"]).toMatchObject({
    usernameClaim: "email",
    access: "Write",
    claimRules: more.claimValidationRules,
    administrators: more.administrators,
    signIn: { clientId: "shop-web", scopes: ["openid", "profile"], ...endpoints },
  });
});

it("a page asks for openid at least", () => {
  const { issuers } = compiled({
    objects: [project([corp({ clientId: "shop-web" })])],
    fetched: { [url]: known(one) },
  });
  expect(issuers?.["corp"]).toMatchObject({ signIn: { scopes: ["openid"] } });
});

it("this cluster's issuer has the URL that the API server says, and lets in who is listed", () => {
  const cluster = "https://kubernetes.default.svc";
  const serviceAccounts = [{ namespace: "jobs", name: "importer", role: "Administrators", access: "Write" }];
  const declared = { name: "cluster", kubernetes: {}, issuer: { audiences: ["jsonplane"] }, serviceAccounts };
  const { issuers, verdict } = compiled({
    objects: [project([declared])],
    fetched: { cluster: { state: "known", content: { url: cluster, keys: one } } },
    forbiddenIssuers: [cluster],
  });
  expect(verdict).toBe("accepted");
  expect(issuers?.["cluster"]).toMatchObject({ url: cluster, serviceAccounts, usernameClaim: "sub", access: "Read" });
});

it("keys that the manifest has are read as fetched ones are, and marked as not fetched", () => {
  const jwks = JSON.stringify({ keys: [publicJwk("inline")] });
  const { issuers } = compiled({ objects: [project([corp({}, { jwks })])] });
  expect(issuers?.["corp"]).toMatchObject({ keysAreFetched: false, keys: [{ kid: "inline", algorithms: ["ES256"] }] });
});

describe("while keys are fetched for the first time", () => {
  it("the Project is not accepted, and the issuer is published without keys, so that callers are told of it", () => {
    const { issuers, verdict } = compiled({ objects: [project([corp()])] });
    expect(issuers?.["corp"]).toMatchObject(withoutKeys);
    expect(verdict).toEqual(refused("WaitingForIssuer", "are being fetched$", "/issuer/url"));
  });

  it("an operator that starts meanwhile publishes the same", () => {
    const again = compiled({ before: [project([corp()])], objects: [project([corp()])] });
    expect(again).toEqual(compiled({ objects: [project([corp()])] }));
  });

  it("this cluster's is not there, because nobody knows its url", () => {
    const serviceAccounts = [{ namespace: "jobs", name: "importer", role: "Users", access: "Read" }];
    const declared = { name: "cluster", kubernetes: {}, issuer: { audiences: ["jsonplane"] }, serviceAccounts };
    const { issuers, verdict } = compiled({ objects: [project([declared])] });
    expect(issuers).toBeUndefined();
    expect(verdict).toEqual(refused("WaitingForIssuer", "are being fetched$", "/kubernetes"));
  });

  it("those that are published stay, and count as good: an operator has started", () => {
    const { issuers, verdict } = compiled({ ...before, objects: [project([corp()])] });
    expect(verdict).toBe("accepted");
    expect(issuers?.["corp"]?.keys).toEqual(one);
  });
});

describe("while an issuer can't be reached", () => {
  const unreachable: KnownIssuer = { state: "unreachable", failure: "it answered with status 503" };
  const expected = {
    accepted: true,
    notices: [
      {
        reason: "IssuerUnreachable",
        message: expect.stringMatching(
          "can't be fetched: it answered with status 503. Those that were fetched before still count$",
        ),
        pointer: "/spec/authentication/issuers/0/issuer/url",
      },
    ],
  };

  it("the Project is not accepted where no keys of it are published", () => {
    const { issuers, verdict } = compiled({ objects: [project([corp()])], fetched: { [url]: unreachable } });
    const message = "can't be fetched: it answered with status 503$";
    expect(verdict).toEqual(refused("IssuerUnreachable", message, "/issuer/url"));
    expect(issuers?.["corp"]).toMatchObject(withoutKeys);
  });

  it("nor where it was published without keys", () => {
    const objects = [project([corp()])];
    const fetched = { [url]: unreachable };
    const { issuers, verdict } = compiled({ before: objects, fetchedBefore: { [url]: known([]) }, objects, fetched });
    expect(verdict).toEqual(refused("IssuerUnreachable", "status 503$", "/issuer/url"));
    expect(issuers?.["corp"]).toMatchObject(withoutKeys);
  });

  it("it stays as it is, without keys, while the Project's newer spec is refused", () => {
    const broken = project([corp()], { sessions: { accessTokenTTL: "never" } });
    const { issuers } = compiled({ before: [project([corp()])], objects: [broken], fetched: { [url]: unreachable } });
    expect(issuers?.["corp"]).toMatchObject(withoutKeys);
  });

  it("what else is wrong with the Project comes first", () => {
    const inline = { ...corp({}, { url: "https://b.test", jwks: "{}" }), name: "inline" };
    const objects = [project([corp(), inline])];
    expect(compiled({ ...before, objects, fetched: { [url]: unreachable } }).verdict).toMatchObject({
      ...{ accepted: false, reason: "InvalidSpec" },
      faults: [
        { pointer: "/spec/authentication/issuers/1/issuer/jwks" },
        { pointer: "/spec/authentication/issuers/0/issuer/url" },
      ],
    });
  });

  it("the keys that are published stay, and changes of the Project count", () => {
    const objects = [project([corp({ access: "Write" })])];
    const { issuers, verdict } = compiled({ ...before, objects, fetched: { [url]: unreachable } });
    expect(verdict).toEqual(expected);
    expect(issuers?.["corp"]).toMatchObject({ keys: one, access: "Write" });
  });

  it("so do keys that were fetched before it went", () => {
    const fetched = { [url]: known(two, { failure: "it answered with status 503" }) };
    const { issuers, verdict } = compiled({ ...before, objects: [project([corp()])], fetched });
    expect(verdict).toEqual(expected);
    expect(issuers?.["corp"]?.keys).toEqual(two);
  });

  it("nothing is said to be ready where none of its keys may be used", () => {
    const fetched = { [url]: known([], { failure: "its key set has a private key" }) };
    const { issuers, verdict } = compiled({ ...before, objects: [project([corp()])], fetched });
    expect(verdict).toEqual(refused("IssuerUnreachable", "its key set has a private key$", "/issuer/url"));
    expect(issuers?.["corp"]?.keys).toEqual([]);
  });

  it("keys of another URL don't stay under its name", () => {
    const moved = project([corp({}, { url: "https://other.example.org" })]);
    const { issuers } = compiled({
      ...before,
      objects: [moved],
      fetched: { "https://other.example.org": unreachable },
    });
    expect(issuers?.["corp"]).toMatchObject({ ...withoutKeys, url: "https://other.example.org" });
  });

  it("nor do keys that the manifest had before", () => {
    const jwks = JSON.stringify({ keys: [publicJwk("inline")] });
    const inline = { before: [project([corp({}, { jwks })])] };
    const { issuers } = compiled({ ...inline, objects: [project([corp()])], fetched: { [url]: unreachable } });
    expect(issuers?.["corp"]).toMatchObject(withoutKeys);
  });

  it("nor do those of a former Project of the name", () => {
    const again = project([corp()]);
    const objects = [{ ...again, metadata: { name: "shop", uid: "another" } } as unknown as JsonObject];
    const { issuers } = compiled({ ...before, objects, fetched: { [url]: unreachable } });
    expect(issuers?.["corp"]).toMatchObject(withoutKeys);
  });
});

describe("an issuer that the platform does not allow", () => {
  const forbidden = { forbiddenIssuers: [url], fetched: { [url]: known(one) } };

  it("is refused with its place, and taken away at once where it was served", () => {
    const { issuers, verdict } = compiled({ ...before, objects: [project([corp()])], ...forbidden });
    expect(verdict).toEqual(refused("NotAllowed", `^The platform does not allow the issuer ${url}`, "/issuer/url"));
    expect(issuers).toBeUndefined();
  });

  it("with keys in the manifest, too", () => {
    const jwks = JSON.stringify({ keys: [publicJwk("inline")] });
    expect(compiled({ objects: [project([corp({}, { jwks })])], ...forbidden }).issuers).toBeUndefined();
  });

  it("and where the Project is suspended, or its present spec is refused", () => {
    for (const spec of [{ suspend: true }, { sessions: { accessTokenTTL: "never" } }]) {
      expect(compiled({ ...before, objects: [project([corp()], spec)], ...forbidden }).issuers).toBeUndefined();
      expect(compiled({ ...before, objects: [project([corp()], spec)] }).issuers).toHaveProperty("corp");
    }
  });
});

describe("what can't be used is refused with its place, and the keys that are published stay", () => {
  it.each([
    ["a URL in place of keys", { jwks: "https://a.test/keys" }, "/issuer/jwks", "no URL: leave it out, and they are"],
    ["a key set that is none", { jwks: "{}" }, "/issuer/jwks", "The key set is not a JSON Web Key Set"],
    [
      "a key set with a private key",
      { jwks: '{"keys":[{"kty":"oct","k":"AA"}]}' },
      "/issuer/jwks",
      "has a private or a shared key",
    ],
    [
      "an authority that is none",
      { certificateAuthority: "none" },
      "/issuer/certificateAuthority",
      "Has no certificate that can be read",
    ],
    [
      "an authority that is cut off",
      { certificateAuthority: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----" },
      "/issuer/certificateAuthority",
      "Has no certificate that can be read",
    ],
  ])("%s", (_name, issuer, pointer, message) => {
    const { issuers, verdict } = compiled({ ...before, objects: [project([corp({}, issuer)])] });
    expect(verdict).toEqual(refused("InvalidSpec", message, pointer));
    expect(issuers?.["corp"]?.keys).toEqual(one);
  });

  it("but not keys that the manifest had before, where they are to be fetched now", () => {
    const jwks = JSON.stringify({ keys: [publicJwk("inline")] });
    const objects = [project([corp({}, { certificateAuthority: "none" })])];
    expect(compiled({ before: [project([corp({}, { jwks })])], objects }).issuers).toBeUndefined();
  });

  it("but a good authority counts", () => {
    const { authority } = makeCertificate({ ends: new Date(Date.now() + 60_000) });
    const objects = [project([corp({}, { certificateAuthority: authority })])];
    expect(compiled({ objects, fetched: { [url]: known(one) } }).verdict).toBe("accepted");
  });

  it("a URL that hides where it leads is refused, with how to write it", () => {
    const objects = [project([corp({}, { url: "https://login.example.org/a/../b" })])];
    const message = "^Is not a URL in its plain form: write https://login.example.org/b$";
    expect(compiled({ objects }).verdict).toEqual(refused("InvalidSpec", message, "/issuer/url"));
  });
});

it("what needs a person comes before what passes by itself", () => {
  const objects = [project([corp(), { ...corp({}, { url: "https://b.test", jwks: "{}" }), name: "inline" }])];
  const { verdict } = compiled({ objects });
  expect(verdict).toMatchObject({
    reason: "InvalidSpec",
    faults: [
      { pointer: "/spec/authentication/issuers/1/issuer/jwks" },
      { pointer: "/spec/authentication/issuers/0/issuer/url" },
    ],
  });
});

it("two issuers with the same URL, which only the API server can tell, are not both served", () => {
  const serviceAccounts = [{ namespace: "jobs", name: "importer" }];
  const cluster = { name: "cluster", kubernetes: {}, issuer: { audiences: ["jsonplane"] }, serviceAccounts };
  const fetched = { cluster: known(one), [url]: known(two) };
  const { issuers, verdict } = compiled({ objects: [project([cluster, corp()])], fetched });
  expect(Object.keys(issuers ?? {})).toEqual(["cluster"]);
  expect(verdict).toMatchObject({ reason: "InvalidSpec", faults: [{ pointer: "/spec/authentication/issuers/1" }] });
});
