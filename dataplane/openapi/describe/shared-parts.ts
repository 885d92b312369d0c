// The parts that every project's description has: the shapes of problems, sessions and metadata, headers, and how callers show who they
// are.

import type { JsonObject } from "../../../core/config/types.ts";
import { type ErrorCode, errorCatalogue } from "../../../core/errors/catalogue.ts";

const text = { type: "string" } as const;
const seconds = { type: "integer", description: "Unix time in seconds." } as const;

export const sharedSchemas: Readonly<Record<string, JsonObject>> = {
  Problem: {
    type: "object",
    description: "RFC 9457. Branch on `code`; `detail` is for people.",
    required: ["type", "title", "status", "detail", "instance", "code", "requestId"],
    additionalProperties: false,
    properties: {
      type: { type: "string", format: "uri" },
      title: text,
      status: { type: "integer" },
      detail: text,
      instance: { type: "string", description: "The path of the request." },
      code: { type: "string", enum: Object.keys(errorCatalogue) as ErrorCode[] },
      requestId: { type: "string", description: "Stands in the service's log as well." },
      errors: { type: "array", maxItems: 100, items: { $ref: "#/components/schemas/ProblemItem" } },
    },
  },
  ProblemItem: {
    type: "object",
    required: ["pointer", "keyword", "message"],
    additionalProperties: false,
    properties: {
      pointer: { type: "string", description: "RFC 6901, into the body." },
      keyword: { type: "string", description: "Of JSON Schema, or `reserved`." },
      message: text,
    },
  },
  Id: { type: "string", readOnly: true, description: "Given by the service, never changed." },
  Metadata: {
    type: "object",
    readOnly: true,
    description: "Given by the service, never changed.",
    required: ["created", "creator", "creator_type"],
    properties: {
      created: { type: "integer", description: "When it was created, Unix time in seconds." },
      creator: { type: "string", description: "Name of the user or the API key, or `anonymous`." },
      creator_type: { enum: ["user", "apikey", "anonymous"] },
    },
  },
  Links: {
    type: "object",
    required: ["self"],
    properties: {
      self: { type: "string", format: "uri" },
      next: { type: "string", format: "uri", description: "The next page; absent on the last." },
      prev: { type: "string", format: "uri", description: "The page before; absent on the first." },
    },
  },
  MergePatch: {
    type: "object",
    description: "RFC 7396: members to set, at any depth; `null` removes one.",
    additionalProperties: true,
  },
  JsonPatch: {
    type: "array",
    description: "RFC 6902: operations in order.",
    maxItems: 1000,
    items: {
      type: "object",
      required: ["op", "path"],
      properties: {
        op: { enum: ["add", "remove", "replace", "move", "copy", "test"] },
        path: { type: "string", description: "RFC 6901." },
        from: { type: "string", description: "RFC 6901; of `move` and `copy`." },
        value: { description: "Of `add`, `replace` and `test`." },
      },
    },
  },
  Value: { description: "Any JSON value." },
  Login: {
    type: "object",
    required: ["access_token", "refresh_token", "session_id", "message"],
    properties: {
      access_token: { type: "string", description: "For `Authorization: bearer …`." },
      refresh_token: { type: "string", description: "For `POST /sessions/refresh`, and nothing else." },
      session_id: text,
      message: text,
    },
  },
  Refreshed: { type: "object", required: ["access_token"], properties: { access_token: text } },
  Session: {
    type: "object",
    required: ["id", "user", "role", "access", "created", "last_refresh"],
    properties: {
      id: text,
      user: text,
      role: { enum: ["Users", "Administrators"] },
      access: { enum: ["Read", "Write"] },
      created: seconds,
      last_refresh: seconds,
    },
  },
  Sessions: {
    type: "object",
    required: ["count", "items"],
    properties: {
      count: { type: "integer", minimum: 0 },
      items: { type: "array", items: { $ref: "#/components/schemas/Session" } },
    },
  },
  KeySet: {
    type: "object",
    description: "RFC 7517: the public keys that access tokens are signed with.",
    required: ["keys"],
    properties: {
      keys: {
        type: "array",
        items: { type: "object", required: ["kty", "kid"], additionalProperties: { type: "string" } },
      },
    },
  },
};

export const sharedHeaders: Readonly<Record<string, JsonObject>> = {
  RequestId: {
    description: "The request's own X-Request-Id, or one that the service made.",
    required: true,
    schema: text,
  },
  Location: { description: "The URL of what was created.", required: true, schema: { type: "string", format: "uri" } },
  ETag: {
    description: "A strong entity tag: equal as long as the value is.",
    schema: { type: "string", pattern: '^"[^"]*"$' },
  },
  "Idempotent-Replayed": {
    description: "`true` where this is the answer to the first request with the same Idempotency-Key.",
    schema: { type: "string", const: "true" },
  },
  AcceptPatch: { description: "Of a PATCH: the content types that it may have.", schema: text },
  Challenge: { description: "How to show who calls, RFC 9110.", required: true, schema: text },
  RateLimitPolicy: {
    description: "Rates of the caller and of the project: `q` requests in `w` seconds.",
    schema: text,
  },
  RateLimit: { description: "What is left of them: `r` requests, all of them again in `t` seconds.", schema: text },
  RetryAfter: { description: "Seconds to wait, where waiting helps.", schema: { type: "string", pattern: "^[0-9]+$" } },
};

export const sharedParameters: Readonly<Record<string, JsonObject>> = {
  Id: {
    name: "id",
    in: "path",
    required: true,
    description: "The `id` of an object, as the service gave it.",
    schema: { type: "string", minLength: 1, examples: ["0198c9a2-7d4e-7c3a-9b1f-3f6f0c2d4e5a"] },
  },
  SessionId: {
    name: "id",
    in: "path",
    required: true,
    description: "The `session_id` of a login.",
    schema: { type: "string", format: "uuid" },
  },
  Path: {
    name: "path",
    in: "path",
    required: true,
    description:
      "Where inside the value: an object's key or an array's index (`-` on POST: the end). It may be several, with slashes between " +
      "them, `checkout/countries/0`. OpenAPI has no word for that, so that most generated clients write a slash as `%2F`, and " +
      "`%2F` is here a slash that belongs to one key: build the URL of a deeper place yourself.",
    schema: { type: "string", minLength: 1 },
  },
};

export const requestHeaders = {
  IfMatch: {
    name: "If-Match",
    in: "header",
    description: "Entity tags of which one has to be the value's of now, or `*`: else 412.",
    schema: { type: "string" },
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description: "A name for this request, such as a fresh UUID: repeated within 24 hours, it takes place once.",
    schema: { type: "string", minLength: 1, maxLength: 257 },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "Entity tags of what the client has: if it is there still, 304 without a body.",
    schema: { type: "string" },
  },
} as const satisfies Readonly<Record<string, JsonObject>>;

export const securitySchemes = {
  login: { type: "http", scheme: "basic", description: "A user's name and password, for `POST /sessions` alone." },
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "The `access_token` of a login. When it has expired, `POST /sessions/refresh` gives another.",
  },
  apikey: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: "An API key after the word `apikey` and a space: `Authorization: apikey <API_KEY>`.",
  },
  refresh: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "The `refresh_token` of a login." },
} as const satisfies Readonly<Record<string, JsonObject>>;
