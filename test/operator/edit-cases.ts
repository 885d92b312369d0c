// One edit of each field whose effect a single request shows, with that request's answer before and
// after.

import type { Reply, SentRequest } from "../support/http/http-client.ts";
import type { Tenant } from "../support/kubernetes/declared.ts";
import { ada, type Shop, type Tokens } from "./edited-shop.ts";

/**
 * A request, and what it is answered before and after: a status, a problem's code, or what a look
 * at the whole reply gives.
 */
export interface Probe {
  readonly ask: (shop: Shop) => readonly [path: string, sent?: SentRequest];
  readonly see?: (reply: Reply) => unknown;
  readonly before: unknown;
  readonly after: unknown;
}

export interface Edit extends Probe {
  readonly kind: Parameters<Tenant["edit"]>[0];
  readonly name: string;
  readonly field: string;
  readonly spec: object;
  /** Edits that make the probe what it is before. */
  readonly given?: object;
}

export const post = (path: string, as: string | undefined, body: unknown = { title: "x" }) =>
  [path, { method: "POST", body, ...(as !== undefined && { as }) }] as const;
export const asked = (reply: Reply): unknown => reply.code ?? reply.status;

const ofProject: readonly Omit<Edit, "kind" | "name">[] = [
  {
    field: "authentication.policy",
    spec: { authentication: { policy: "Disabled" } },
    ask: () => post("/api/items", undefined),
    before: "authentication_required",
    after: 201,
  },
  {
    field: "sessions.accessTokenTTL",
    spec: { sessions: { accessTokenTTL: "10s" } },
    ask: () => ["/sessions/", { method: "POST", as: ada }],
    see: (reply) => lifeOf(reply.json<Tokens>().access_token),
    before: 300,
    after: 10,
  },
  {
    field: "sessions.refreshTokenTTL",
    spec: { sessions: { refreshTokenTTL: "10m" } },
    ask: () => ["/sessions/", { method: "POST", as: ada }],
    see: (reply) => lifeOf(reply.json<Tokens>().refresh_token),
    before: 72 * 3600,
    after: 600,
  },
  {
    field: "limits.maxBodyBytes",
    spec: { limits: { maxBodyBytes: 1024 } },
    ask: ({ admin }) => post("/api/items", admin, { title: "x".repeat(2_000) }),
    before: 201,
    after: "body_too_large",
  },
  {
    field: "limits.maxObjectBytes",
    spec: { limits: { maxObjectBytes: 1024 } },
    ask: ({ admin }) => post("/api/items", admin, { title: "x".repeat(2_000) }),
    before: 201,
    after: "document_too_large",
  },
  {
    field: "limits.maxDocumentBytes",
    spec: { limits: { maxDocumentBytes: 1024 } },
    ask: ({ admin }) => ["/json/settings", { method: "PUT", body: { a: "x".repeat(2_000) }, as: admin }],
    before: 200,
    after: "document_too_large",
  },
  {
    field: "limits.maxPageSize",
    spec: { limits: { maxPageSize: 10 } },
    ask: ({ admin }) => ["/api/items?_limit=11", { as: admin }],
    before: 200,
    after: "invalid_parameter",
  },
  {
    field: "limits.rate",
    spec: { limits: { rate: { caller: { requestsPerSecond: 1, burst: 5 } } } },
    ask: ({ admin }) => ["/api/items", { as: admin }],
    see: (reply) => reply.headers["ratelimit-policy"],
    before: undefined,
    after: '"caller";q=5;w=5',
  },
  {
    field: "cors.allowedOrigins",
    spec: { cors: { allowedOrigins: ["https://shop.example.org"] } },
    ask: ({ admin }) => ["/api/items", { as: admin, headers: { origin: "https://other.example.org" } }],
    see: (reply) => reply.headers["access-control-allow-origin"],
    before: "*",
    after: undefined,
  },
  {
    field: "cors.allowHeaders",
    spec: { cors: { allowHeaders: ["X-Tenant"] } },
    ask: () => [
      "/api/items",
      { method: "OPTIONS", headers: { origin: "https://a.org", "access-control-request-headers": "x-tenant" } },
    ],
    see: (reply) => String(reply.headers["access-control-allow-headers"]).includes("X-Tenant"),
    before: false,
    after: true,
  },
  {
    field: "cors.maxAge",
    spec: { cors: { maxAge: "1m" } },
    ask: () => [
      "/api/items",
      { method: "OPTIONS", headers: { origin: "https://a.org", "access-control-request-method": "POST" } },
    ],
    see: (reply) => reply.headers["access-control-max-age"],
    before: "600",
    after: "60",
  },
  {
    field: "openapi",
    spec: { openapi: "Nobody" },
    ask: ({ admin }) => ["/openapi.json", { as: admin }],
    before: 200,
    after: "insufficient_access",
  },
  {
    field: "console",
    spec: { console: "Anyone" },
    ask: () => ["/console/openapi.json", {}],
    before: "insufficient_access",
    after: 200,
  },
  {
    field: "serving (ReadOnly)",
    spec: { serving: "ReadOnly" },
    ask: ({ admin }) => post("/api/items", admin),
    before: 201,
    after: "project_read_only",
  },
  {
    field: "serving (Off)",
    spec: { serving: "Off" },
    ask: ({ admin }) => ["/api/items", { as: admin }],
    before: 200,
    after: "project_off",
  },
];

const ofResource: readonly Omit<Edit, "kind" | "name">[] = [
  {
    field: "schema",
    spec: { schema: { properties: { title: { maxLength: 3 } } } },
    ask: ({ admin }) => post("/api/items", admin, { title: "Momo" }),
    before: 201,
    after: "validation_failed",
  },
  {
    field: "access.create",
    spec: { access: { create: "Administrators" } },
    ask: ({ token }) => post("/api/items", token),
    before: 201,
    after: "insufficient_access",
  },
  {
    field: "access.read",
    spec: { access: { read: "Anyone" } },
    ask: () => ["/api/items"],
    before: "authentication_required",
    after: 200,
  },
  {
    field: "access.update",
    spec: { access: { update: "Nobody" } },
    ask: ({ admin, item }) => [item, { method: "PUT", body: { size: 3 }, as: admin }],
    before: 200,
    after: "insufficient_access",
  },
  {
    field: "access.delete",
    given: { access: { delete: "Nobody" } },
    spec: { access: { delete: "Administrators" } },
    ask: ({ admin }) => ["/api/items/00000000-0000-4000-8000-000000000000", { method: "DELETE", as: admin }],
    before: "insufficient_access",
    after: "not_found",
  },
  {
    field: "access.scope.read",
    spec: { access: { scope: { read: "All" } } },
    ask: ({ token, item }) => [item, { as: token }],
    before: "not_found",
    after: 200,
  },
  {
    field: "access.scope.write",
    given: { access: { scope: { read: "All" } } },
    spec: { access: { scope: { write: "All" } } },
    ask: ({ token, item }) => [item, { method: "PUT", body: { size: 3 }, as: token }],
    before: "insufficient_access",
    after: 200,
  },
  {
    field: "limits.maxObjects",
    spec: { limits: { maxObjects: 1 } },
    ask: ({ admin }) => post("/api/items", admin),
    before: 201,
    after: "quota_exceeded",
  },
];

const ofRootKey: readonly Omit<Edit, "kind" | "name">[] = [
  {
    field: "initialValue, while nothing is stored",
    spec: { initialValue: { a: 2 } },
    ask: () => ["/json/settings/a"],
    see: (reply) => reply.json<number>(),
    before: 1,
    after: 2,
  },
  {
    field: "access.create",
    given: { access: { create: "Nobody" } },
    spec: { access: { create: "Authenticated" } },
    ask: ({ token }) => post("/json/settings/a", token, "2"),
    before: "insufficient_access",
    after: "key_exists",
  },
  {
    field: "access.read",
    spec: { access: { read: "Administrators" } },
    ask: () => ["/json/settings"],
    before: 200,
    after: "authentication_required",
  },
  {
    field: "access.update",
    spec: { access: { update: "Administrators" } },
    ask: ({ token }) => ["/json/settings/a", { method: "PUT", body: "2", as: token }],
    before: 200,
    after: "insufficient_access",
  },
  {
    field: "access.delete",
    given: { access: { delete: "Nobody" } },
    spec: { access: { delete: "Authenticated" } },
    ask: ({ token }) => ["/json/settings/none", { method: "DELETE", as: token }],
    before: "insufficient_access",
    after: "not_found",
  },
];

const ofUser: readonly Omit<Edit, "kind" | "name">[] = [
  {
    field: "role, for a token from before",
    spec: { role: "Administrators" },
    ask: ({ token, item }) => [item, { as: token }],
    before: "not_found",
    after: 200,
  },
  {
    field: "access, for a token from before",
    spec: { access: "Read" },
    ask: ({ token }) => post("/api/items", token),
    before: 201,
    after: "insufficient_access",
  },
  {
    field: "passwordSecretRef, for a token from before",
    spec: { passwordSecretRef: { key: "other" } },
    ask: ({ token }) => ["/api/items", { as: token }],
    before: 200,
    after: "invalid_credentials",
  },
];

const ofKey: readonly Omit<Edit, "kind" | "name">[] = [
  {
    field: "role",
    spec: { role: "Administrators" },
    ask: ({ web, item }) => [item, { as: web }],
    before: "not_found",
    after: 200,
  },
  {
    field: "access",
    spec: { access: "Read" },
    ask: ({ web }) => post("/api/items", web),
    before: 201,
    after: "insufficient_access",
  },
  {
    field: "rotation, with no grace",
    spec: { rotation: { id: "next", gracePeriod: "0s" } },
    ask: ({ web }) => ["/api/items", { as: web }],
    before: 200,
    after: "invalid_credentials",
  },
];

export const edits: readonly Edit[] = [
  ...ofProject.map((edit) => ({ ...edit, kind: "Project" as const, name: "shop" })),
  ...ofResource.map((edit) => ({ ...edit, kind: "ApiResource" as const, name: "items" })),
  ...ofRootKey.map((edit) => ({ ...edit, kind: "RootKey" as const, name: "settings" })),
  ...ofUser.map((edit) => ({ ...edit, kind: "ProjectUser" as const, name: "ada" })),
  ...ofKey.map((edit) => ({ ...edit, kind: "ApiKey" as const, name: "web" })),
];

function lifeOf(token: string): number {
  const { exp, iat } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  return exp - iat;
}
