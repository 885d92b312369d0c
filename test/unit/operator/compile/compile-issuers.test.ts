// What becomes of the external issuers that a Project names: whose keys are published, which stay, and which are taken away at once.

import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import type { KnownIssuer } from "../../../../operator/model/issuers.ts";
import { publicJwk } from "../../../support/oidc/issuer-server.ts";
import { makeCertificate } from "../../../support/tls/certificates.ts";
import { type CompileCase, runCompileCase } from "./compile-case.ts";

const url = "https://login.example.org/realms/main";
const one = [{ kid: "one", algorithms: ["ES256"] as const, jwk: { kty: "EC" } }];
const two = [{ kid: "two", algorithms: ["ES256"] as const, jwk: { kty: "EC" } }];
const endpoints = {
  authorizationEndpoint: "https://login.example.org/a",
  tokenEndpoint: "https://login.example.org/t",
  alwaysSendsIss: true,
};
const known = (keys: typeof one, more: object = {}): KnownIssuer => ({
  state: "known",
  content: { url, keys, endpoints },
  ...more,
});
const corp = (more: JsonObject = {}, issuer: JsonObject = {}) => ({
  name: "corp",
  issuer: { url, audiences: ["shop"], ...issuer },
  ...more,
});
const project = (issuers: readonly object[], spec: JsonObject = {}): JsonObject =>
  ({
    kind: "Project",
    metadata: { name: "shop" },
    spec: { authentication: { issuers }, ...spec },
  }) as unknown as JsonObject;

interface Compiled {
  /** By name; undefined = the Project has none. */
  readonly issuers: Readonly<Record<string, { readonly keys: unknown }>> | undefined;
  readonly verdict: unknown;
}

function compiled(given: Partial<CompileCase>): Compiled {
  const result = runCompileCase({ shows: "", objects: [], ...given })["default/shop"] as {
    readonly parts: { readonly issuers?: Compiled["issuers"] };
    readonly verdicts: Readonly<Record<string, unknown>>;
  };
  return { issuers: result.parts.issuers, verdict: result.verdicts["Project default/shop"] };
}

const refused = (reason: string, message: string | RegExp, pointer: string) => ({
  accepted: false,
  reason,
  faults: [{ message: expect.stringMatching(message), pointer: `/spec/authentication/issuers/0${pointer}` }],
  live: true,
  partly: true,
});
const before = { before: [project([corp()])], fetchedBefore: { [url]: known(one) } };

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
  it("the Project is not accepted, and nobody comes in by them", () => {
    const { issuers, verdict } = compiled({ objects: [project([corp()])] });
    expect(issuers).toBeUndefined();
    expect(verdict).toEqual(refused("WaitingForIssuer", "are being fetched$", "/issuer/url"));
  });

  it("those that are published stay, and count as good: an operator has started", () => {
    const { issuers, verdict } = compiled({ ...before, objects: [project([corp()])] });
    expect(verdict).toBe("accepted");
    expect(issuers?.["corp"]?.keys).toEqual(one);
  });

  it("for too long, it is said that they are waited for, where none are published", () => {
    const overdue = { objects: [project([corp()])], fetched: { [url]: { state: "overdue" } } } as const;
    const first = compiled(overdue);
    expect(first.verdict).toEqual(refused("WaitingForIssuer", "are being fetched$", "/issuer/url"));
    expect(first.issuers).toBeUndefined();
    const again = compiled({ ...before, ...overdue });
    expect(again.verdict).toBe("accepted");
    expect(again.issuers?.["corp"]?.keys).toEqual(one);
  });
});

describe("while an issuer can't be reached", () => {
  const unreachable: KnownIssuer = { state: "unreachable", failure: "it answered with status 503" };
  const said = {
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
    expect(issuers).toBeUndefined();
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
    expect(verdict).toEqual(said);
    expect(issuers?.["corp"]).toMatchObject({ keys: one, access: "Write" });
  });

  it("so do keys that were fetched before it went", () => {
    const fetched = { [url]: known(two, { failure: "it answered with status 503" }) };
    const { issuers, verdict } = compiled({ ...before, objects: [project([corp()])], fetched });
    expect(verdict).toEqual(said);
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
    expect(issuers).toBeUndefined();
  });

  it("nor do keys that the manifest had before", () => {
    const jwks = JSON.stringify({ keys: [publicJwk("inline")] });
    const inline = { before: [project([corp({}, { jwks })])] };
    expect(
      compiled({ ...inline, objects: [project([corp()])], fetched: { [url]: unreachable } }).issuers,
    ).toBeUndefined();
  });

  it("nor do those of a former Project of the name", () => {
    const again = project([corp()]);
    const objects = [{ ...again, metadata: { name: "shop", uid: "another" } } as unknown as JsonObject];
    expect(compiled({ ...before, objects, fetched: { [url]: unreachable } }).issuers).toBeUndefined();
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

it("an issuer that a Project no longer names is taken away, even if the rest of its new spec is refused", () => {
  const spec = { sessions: { accessTokenTTL: "never" } };
  const { issuers, verdict } = compiled({ ...before, objects: [project([], spec)] });
  expect(verdict).toMatchObject({ reason: "InvalidSpec", live: true });
  expect(issuers).toBeUndefined();
});

describe("what a Project has taken away counts although the rest of its new spec is refused", () => {
  const broken = { sessions: { accessTokenTTL: "never" } };
  const narrowing = (former: object, now: object) =>
    compiled({ ...before, before: [project([former])], objects: [project([now], broken)] }).issuers;
  const staff = { claim: "groups", contains: "staff" };
  const owners = { claim: "groups", contains: "owners" };
  const verified = { claim: "email_verified", requiredValue: "true" };
  const domain = { claim: "hd", requiredValue: "example.org" };

  it("audiences, access, administrators and rules, and nothing is added", () => {
    const former = corp(
      { access: "Write", administrators: [staff], claimValidationRules: [domain] },
      { audiences: ["shop", "old"] },
    );
    const now = corp(
      { access: "Read", administrators: [owners], claimValidationRules: [verified] },
      { audiences: ["shop", "new"] },
    );
    const kept = { audiences: ["shop"], access: "Read", administrators: [], claimRules: [domain, verified] };
    expect(narrowing(former, now)?.["corp"]).toMatchObject(kept);
    const widened = { audiences: ["shop"], access: "Read", administrators: [], claimRules: [verified, domain] };
    expect(narrowing(now, former)?.["corp"]).toMatchObject(widened);
  });

  it("all audiences: the issuer is not served", () => {
    expect(narrowing(corp(), corp({}, { audiences: ["other"] }))).toBeUndefined();
  });

  it("a key that was in the manifest", () => {
    const jwks = (...kids: readonly string[]) => ({
      jwks: JSON.stringify({ keys: kids.map((kid) => keysByKid[kid]) }),
    });
    const keysByKid: Readonly<Record<string, unknown>> = { a: publicJwk("a"), b: publicJwk("b") };
    const kept = narrowing(corp({}, jwks("a", "b")), corp({}, jwks("b")));
    expect(kept?.["corp"]).toMatchObject({ keys: [{ kid: "b" }] });
    expect(narrowing(corp({}, jwks("a")), corp({}, jwks("b")))).toBeUndefined();
    expect(narrowing(corp({}, jwks("a")), corp())).toBeUndefined();
    expect(narrowing(corp({}, jwks("a")), corp({}, { jwks: "{}" }))).toHaveProperty("corp");
  });

  it("ServiceAccounts, and the role and access of those that stay", () => {
    const cluster = (...serviceAccounts: readonly object[]) => ({
      ...{ name: "cluster", kubernetes: {}, issuer: { audiences: ["jsonplane"] }, serviceAccounts },
    });
    const account = (name: string, role: string, access: string) => ({ namespace: "jobs", name, role, access });
    const fetchedBefore = { cluster: { state: "known", content: { url, keys: one } } } as const;
    const kept = (former: object, now: object) =>
      compiled({ before: [project([former])], fetchedBefore, objects: [project([now], broken)] }).issuers;
    const former = cluster(
      account("importer", "Administrators", "Write"),
      account("reader", "Users", "Read"),
      account("gone", "Users", "Write"),
    );
    const now = cluster(
      account("importer", "Users", "Read"),
      account("reader", "Administrators", "Write"),
      account("new", "Users", "Write"),
    );
    expect(kept(former, now)?.["cluster"]).toMatchObject({
      serviceAccounts: [account("importer", "Users", "Read"), account("reader", "Users", "Read")],
    });
    expect(kept(former, cluster(account("new", "Users", "Write")))).toBeUndefined();
  });
});

it("new keys of an issuer count while changes of its Project wait, or are refused", () => {
  for (const spec of [{ suspend: true }, { sessions: { accessTokenTTL: "never" } }]) {
    const objects = [project([corp({ access: "Write" })], spec)];
    const { issuers } = compiled({ ...before, objects, fetched: { [url]: known(two) } });
    expect(issuers?.["corp"]).toMatchObject({ keys: two, access: "Read" });
  }
});

it("changes of a suspended Project wait, that an issuer is gone among them", () => {
  expect(compiled({ ...before, objects: [project([], { suspend: true })] }).issuers).toHaveProperty("corp");
});

describe("what can't be used is refused with its place, and the keys that are published stay", () => {
  it.each([
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
