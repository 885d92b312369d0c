// Random histories of a data plane's life: changes of two projects, of their users, keys and
// sessions, of hosts and of time, and requests of every shape between them, most of them repeated.

import fc from "fast-check";
import type { CompiledProject } from "../../../core/config/types.ts";
import type { MemoryDirectory } from "../../../dataplane/config/memory-directory.ts";
import type { ManualClock } from "../time/manual-clock.ts";
import { keyPair, testIssuer, withIssuer, withoutIssuer } from "./external-issuer.ts";
import type { PlainRequest } from "./pipeline-world.ts";
import {
  apikey,
  basic,
  changed,
  type Modifier,
  project,
  signingKey,
  withAuthenticationDisabled,
  withConfig,
  withHosts,
  withKey,
  withLimits,
  withoutKey,
  withoutUser,
  withResource,
  withRootKey,
  withServing,
  withSessions,
  withSigningKeys,
  withUser,
} from "./projects.ts";

const names = ["shop", "rival"] as const;
type Name = (typeof names)[number];

const priced = { type: "object", properties: { title: { type: "string" }, price: { type: "number" } } } as const;
const untitled = { type: "object", properties: { price: { type: "number" } }, additionalProperties: false } as const;
const books: Parameters<typeof withResource>[1] = { schema: priced, indexes: ["price"] };
const anyone = { create: "Anyone", read: "Anyone", update: "Anyone", delete: "Anyone" } as const;
const nobody = { create: "Nobody", read: "Nobody", update: "Nobody", delete: "Nobody" } as const;
const log = { retentionSeconds: 60, maxEntries: 100 };
const started = 1_760_000_000;
const rings = [signingKey(), signingKey()] as const;
/** An Ed25519 key, so that tokens of the issuer have the form of the service's own. */
const issuerKeys = [keyPair("1"), keyPair("2", "EdDSA")] as const;
const corp = testIssuer("corp", { keysAreFetched: false }, [...issuerKeys]);
const externalTokens: Readonly<Record<string, string>> = {
  eve: corp.token({ sub: "eve" }),
  staff: corp.token({ sub: "sam", groups: ["staff"] }, { key: issuerKeys[1] }),
  brief: corp.token({ sub: "eve", exp: started + 30 }),
  later: corp.token({ sub: "eve", nbf: started + 90 }),
  elsewhere: corp.token({ sub: "eve", aud: "other" }),
};
const ofStaff = [{ claim: "groups", contains: "staff" }];

const usual: readonly Modifier[] = [
  withSigningKeys(rings[0]),
  withUser("ann"),
  withUser("bob", { role: "Administrators" }),
  withKey("admin", { role: "Administrators" }),
  withKey("ci"),
  withKey("brief", { expiresAt: started + 60 }),
  withIssuer(corp, { administrators: ofStaff }),
  withResource("books", books),
  withRootKey("flags", { initialValue: '{"a":{"b":1},"a/b":2}' }),
];

/** Made once: hashes take longer than a whole history. */
const fresh: Readonly<Record<Name, CompiledProject>> = {
  shop: project("shop", ...usual, withConfig({ uid: "uid-of-shop" })),
  rival: project("rival", ...usual, withConfig({ uid: "uid-of-rival" })),
};

/** Each changes a project in one respect, or puts it back. */
const modifiers: Readonly<Record<string, Modifier>> = {
  "key: Administrators": withKey("ci", { role: "Administrators" }),
  "key: Read": withKey("ci", { access: "Read" }),
  "key: usual": withKey("ci"),
  "key: gone": withoutKey("ci"),
  "key: expires": withKey("ci", { expiresAt: started + 30 }),
  "key: described": withKey("ci", { description: "Another one" }),
  "user: Administrators": withUser("ann", { role: "Administrators" }),
  "user: Read": withUser("ann", { access: "Read" }),
  "user: usual": withUser("ann"),
  "user: new password": withUser("ann", { password: "another one that is long" }),
  "user: gone": withoutUser("ann"),
  "issuer: Read": withIssuer(corp, { access: "Read", administrators: ofStaff }),
  "issuer: no administrators": withIssuer(corp),
  "issuer: another audience": withIssuer(corp, { audiences: ["other"] }),
  "issuer: one key": withIssuer(corp, { keys: [issuerKeys[1].published], administrators: ofStaff }),
  "issuer: for staff": withIssuer(corp, { claimRules: [{ claim: "sub", requiredValue: "sam" }] }),
  "issuer: another name": (parts) => withIssuer(corp, { name: "other" })(withoutIssuer("corp")(parts)),
  "issuer: gone": (parts) => ({ ...parts, issuers: new Map() }),
  "issuer: usual": (parts) => ({ ...parts, issuers: fresh.shop.issuers }),
  "sessions: short": withSessions({ accessTokenSeconds: 60 }),
  "sessions: usual": withSessions({ accessTokenSeconds: 300 }),
  "ring: another": withSigningKeys(rings[1]),
  "ring: both": withSigningKeys(rings[1], rings[0]),
  "ring: usual": withSigningKeys(rings[0]),
  "resource: for anyone": withResource("books", { ...books, access: anyone, scope: { read: "All", write: "All" } }),
  "resource: for nobody": withResource("books", { ...books, access: nobody }),
  "resource: for Administrators": withResource("books", { ...books, access: { read: "Administrators" } }),
  "resource: read by all": withResource("books", { ...books, scope: { read: "All", write: "Own" } }),
  "resource: another schema": withResource("books", { ...books, schema: untitled, indexes: [] }),
  "resource: few": withResource("books", { ...books, maxObjects: 2 }),
  "resource: followed": withResource("books", { ...books, changes: log }),
  "resource: usual": withResource("books", books),
  "resource: gone": (parts) => ({ ...parts, resources: new Map() }),
  "root key: for nobody": withRootKey("flags", { access: nobody }),
  "root key: for anyone": withRootKey("flags", { access: anyone }),
  "root key: followed": withRootKey("flags", { changes: log }),
  "root key: usual": withRootKey("flags", { initialValue: '{"a":{"b":1},"a/b":2}' }),
  "root key: gone": (parts) => ({ ...parts, rootKeys: new Map() }),
  "serving: Off": withServing("Off"),
  "serving: ReadOnly": withServing("ReadOnly"),
  "serving: usual": withServing("ReadWrite"),
  "hosts: a": withHosts("a.test"),
  "hosts: a and b": withHosts("a.test", "b.test"),
  "hosts: none": withHosts(),
  "authentication: Disabled": withAuthenticationDisabled(),
  "authentication: Enabled": withConfig({ authentication: "Enabled" }),
  "limits: pages": withLimits({ maxPageSize: 1 }),
  "limits: bodies": withLimits({ maxBodyBytes: 12 }),
  "limits: quota": withLimits({ quota: { objects: 3 } }),
  "limits: rate": withLimits({ rate: { project: { requestsPerSecond: 1, burst: 5 } } }),
  "limits: usual": (parts) => ({ ...parts, project: { ...parts.project, limits: fresh.shop.project.limits } }),
  "cors: one": withConfig({ cors: { allowedOrigins: ["https://one.test"], maxAgeSeconds: 5 } }),
  "cors: usual": withConfig({ cors: fresh.shop.project.cors }),
  "openapi: Anyone": withConfig({ openapi: "Anyone" }),
  "openapi: usual": withConfig({ openapi: "Authenticated" }),
  "made anew": (parts) => ({ ...parts, project: { ...parts.project, uid: `${parts.project.uid}+` } }),
};

export type Change =
  | { readonly kind: "modify"; readonly of: Name; readonly modifier: string }
  | { readonly kind: "remove" | "restore"; readonly of: Name }
  | { readonly kind: "replace" | "lose" | "find" }
  /** Lets time pass, or sets the time of day. */
  | { readonly kind: "advance" | "adjust"; readonly milliseconds: number };

export interface Requested {
  readonly method: string;
  readonly base: string;
  readonly path: string;
  readonly host: string;
  readonly credential: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type Step =
  | { readonly kind: "change"; readonly change: Change }
  | { readonly kind: "ask"; readonly asked: Requested }
  /** One of the earlier requests once more. */
  | { readonly kind: "again"; readonly which: number; readonly times: number }
  /** The same, with a change before its answer: what it answers may be of before or after. */
  | { readonly kind: "meanwhile"; readonly which: number; readonly change: Change };

const name = fc.constantFrom(...names);
const second = fc.constantFrom(1, 999, 1_000, 29_000, 30_000, 59_999, 60_000, 300_000, 600_000);
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("modify" as const),
      of: name,
      modifier: fc.constantFrom(...Object.keys(modifiers)),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("remove" as const, "restore" as const), of: name }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("replace" as const, "lose" as const, "find" as const) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("advance" as const), milliseconds: second }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("adjust" as const),
      milliseconds: second.chain((size) => fc.constantFrom(size, -size)),
    }),
  },
);

const paths = [
  ...["/api/books", "/api/books/", "/api/books?_sort=-price", "/api/books?_limit=2", "/api/books?price:ge=2"],
  ...["/api/books?title=Emma", "/api/books?bogus=1", "/api/b%6Foks", "//api/books", "/api/other", "/api/books?"],
  ...["/api/books/{id}", "/api/books/{id}/", "/api/books/{id}?_fields=price", "/api/books/none", "/api/books/%2F"],
  ...["/api/books/{id}/x", "/api/books//", "/api/books/%zz", "/api", "/json", "/json/flags", "/json/flags/"],
  ...["/json/flags/a", "/json/flags/a/b", "/json/flags/a%2Fb", "/json/flags/a//b", "/json/flags/%00", "/json/other/a"],
  ...["/json/flags/json/x", "/json/flags/api/books", "/json/flags/a?x=1", "/sessions", "/sessions/{session}"],
  ...["/openapi.json", "/docs", "/.well-known/jwks.json", "/sessions/refresh"],
];
const hosts = ["plane.test", "a.test", "A.test:8080", "a.test.", "b.test", "not a host", ""];
const credentials = [
  ...["none", "none", "key:admin", "key:admin", "key:ci", "key:ci", "key:brief", "key:unknown", "token:first"],
  ...["token:last", "token:last", "login:ann", "login:bob", "Digest x", "", "APIKEY  ci", "bearer a.b.c"],
  ...["external:eve", "external:eve", ...Object.keys(externalTokens).map((name) => `external:${name}`)],
];
const headers: readonly Readonly<Record<string, string>>[] = [
  {},
  {},
  {},
  { origin: "https://one.test" },
  { origin: "https://two.test" },
  { "if-none-match": "*" },
  { "if-match": "*" },
  { "if-match": "nonsense" },
  { "x-forwarded-host": "a.test" },
  { "x-forwarded-proto": "https" },
  { "x-forwarded-proto": "http" },
  { "x-forwarded-host": "plane.test", "x-forwarded-for": "192.0.2.1" },
];
const methods = ["GET", "GET", "GET", "GET", "HEAD", "POST", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const bases = [
  "/default/shop",
  "/default/shop",
  "/default/rival",
  "",
  "/public/default/shop",
  "/default/%73hop",
  "/json/shop",
];

const asked: fc.Arbitrary<Requested> = fc.record({
  method: fc.constantFrom(...methods),
  base: fc.constantFrom(...bases),
  path: fc.constantFrom(...paths),
  host: fc.constantFrom(...hosts, "plane.test", "plane.test"),
  credential: fc.constantFrom(...credentials),
  headers: fc.constantFrom(...headers),
});

const which = fc.nat({ max: 1_000 });
export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("change" as const), change }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("ask" as const), asked }) },
    {
      weight: 10,
      arbitrary: fc.record({ kind: fc.constant("again" as const), which, times: fc.constantFrom(1, 2, 3, 4) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("meanwhile" as const), which, change }) },
  ),
  { minLength: 10, maxLength: 60, size: "max" },
);

/** Requests that every history begins with: there is something to see, and tokens to see it by. */
export const beginning: readonly Requested[] = [
  ...["login:ann", "login:bob"].map((credential) => usually({ method: "POST", path: "/sessions", credential })),
  ...["key:admin", "token:last", "key:ci", "external:eve"].flatMap((credential) => [
    usually({ method: "POST", path: "/api/books", credential }),
    usually({ path: "/api/books?_sort=-price", credential }),
    usually({ path: "/api/books/{id}", credential }),
    usually({ path: "/json/flags/a", credential }),
  ]),
];

/** Of the shop, from nobody, unless it says otherwise. */
export function usually(asked: Partial<Requested>): Requested {
  return {
    method: "GET",
    base: "/default/shop",
    path: "/",
    host: "plane.test",
    credential: "none",
    headers: {},
    ...asked,
  };
}

/** What a history has come to: the configuration, and what answers have named. */
export class Course {
  readonly #memory: MemoryDirectory;
  readonly #clock: ManualClock;
  readonly #parts = new Map<Name, CompiledProject>(names.map((each) => [each, fresh[each]]));
  readonly #gone = new Set<Name>();
  readonly #tokens: string[] = [];
  readonly #ids: string[] = [];
  #session = "none";
  dataLost = false;

  constructor(memory: MemoryDirectory, clock: ManualClock) {
    this.#memory = memory;
    this.#clock = clock;
    memory.replace([...this.#parts.values()]);
  }

  change(change: Change): void {
    switch (change.kind) {
      case "modify": {
        const parts = changed(this.#parts.get(change.of) as CompiledProject, modifiers[change.modifier] as Modifier);
        this.#parts.set(change.of, parts);
        if (!this.#gone.has(change.of)) this.#memory.put(parts);
        break;
      }
      case "remove":
        this.#gone.add(change.of);
        this.#memory.remove(fresh[change.of].project);
        break;
      case "restore":
        this.#gone.delete(change.of);
        this.#parts.set(change.of, fresh[change.of]);
        this.#memory.put(fresh[change.of]);
        break;
      case "replace":
        this.#memory.replace([...this.#parts].flatMap(([each, parts]) => (this.#gone.has(each) ? [] : [parts])));
        break;
      case "lose":
      case "find":
        this.dataLost = change.kind === "lose";
        break;
      case "advance":
        this.#clock.advance(change.milliseconds);
        break;
      case "adjust":
        this.#clock.adjust(change.milliseconds);
    }
  }

  requestOf({ method, base, path, host, credential, headers }: Requested): PlainRequest {
    const id = this.#ids.at(-1) ?? "0199c3a0-0000-7000-8000-000000000000";
    const url = base + path.replace("{id}", id).replace("{session}", this.#session);
    const authorization = this.#authorizationOf(credential);
    const body = bodyOf(method, path);
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    return {
      method,
      url,
      headers: {
        host,
        ...headers,
        ...(authorization !== undefined && { authorization }),
        ...(body !== undefined && { "content-type": type }),
      },
      ...(body !== undefined && { body }),
    };
  }

  /** Takes ids and tokens out of an answer. */
  learn(status: number, body: string): void {
    if (status !== 201 || !body.startsWith("{")) return;
    const { id, access_token: token, session_id: session } = JSON.parse(body) as Record<string, unknown>;
    if (typeof id === "string") this.#ids.push(id);
    if (typeof token === "string") this.#tokens.push(token);
    if (typeof session === "string") this.#session = session;
  }

  #authorizationOf(credential: string): string | undefined {
    const [kind, named = ""] = credential.split(":");
    switch (kind) {
      case "none":
        return undefined;
      case "key":
        return apikey(named);
      case "token":
        return `Bearer ${(named === "first" ? this.#tokens[0] : this.#tokens.at(-1)) ?? "a.b.c"}`;
      case "external":
        return `Bearer ${externalTokens[named]}`;
      case "login":
        return basic(named);
      case "APIKEY  ci":
        return apikey("ci").replace("apikey ", "APIKEY  ");
      default:
        return credential;
    }
  }
}

function bodyOf(method: string, path: string): string | undefined {
  if (!["POST", "PUT", "PATCH"].includes(method)) return undefined;
  if (path.startsWith("/api/")) return method === "POST" ? '{"title":"Emma","price":2}' : '{"price":3}';
  return path.startsWith("/json/") ? '{"b":2}' : undefined;
}
