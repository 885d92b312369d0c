// The components that every project's description has: problems, sessions, metadata, headers, and
// security schemes.

import type { IssuerConfig, JsonObject } from "../../../core/config/types.ts";
import { type ErrorCode, errorCatalogue } from "../../../core/errors/catalogue.ts";
import { discoveryUrl, isClusterIssuer } from "../../../core/issuers/issuer-kind.ts";

const text = { type: "string" } as const;
const role = { enum: ["Users", "Administrators"] } as const;
const access = { enum: ["Read", "Write"] } as const;
const seconds = { type: "integer", description: "Unix time in seconds." } as const;
const count = { type: "integer", minimum: 0 } as const;
const callerKinds = ["user", "apikey", "external", "anonymous"] as const;
const creatorName =
  "Name of the user or API key, `<issuer>/<username>` of an external issuer's caller, or `anonymous`.";

export const sharedSchemas: Readonly<Record<string, JsonObject>> = {
  Problem: {
    type: "object",
    description: "RFC 9457. Programs branch on `code`; `detail` is for people.",
    required: ["type", "title", "status", "detail", "instance", "code", "requestId"],
    additionalProperties: false,
    properties: {
      type: { type: "string", format: "uri" },
      title: text,
      status: { type: "integer" },
      detail: text,
      instance: { type: "string", description: "The path of the request." },
      code: { type: "string", enum: Object.keys(errorCatalogue) as ErrorCode[] },
      requestId: { type: "string", description: "The service's log has it too." },
      errors: { type: "array", maxItems: 100, items: { $ref: "#/components/schemas/ProblemItem" } },
    },
  },
  ProblemItem: {
    type: "object",
    required: ["pointer", "keyword", "message"],
    additionalProperties: false,
    properties: {
      pointer: { type: "string", description: "RFC 6901 pointer into the body." },
      keyword: { type: "string", description: "A keyword of JSON Schema, `reserved` or `patch`." },
      message: text,
    },
  },
  Id: { type: "string", readOnly: true, description: "Set by the server, never changed." },
  Metadata: {
    type: "object",
    readOnly: true,
    description: "Set by the server, never changed.",
    required: ["created", "creator", "creator_type"],
    properties: {
      created: { type: "integer", description: "Time of creation, as Unix time in seconds." },
      creator: { type: "string", description: creatorName },
      creator_type: { enum: callerKinds },
    },
  },
  Links: {
    type: "object",
    required: ["self"],
    properties: {
      self: { type: "string", format: "uri" },
      next: { type: "string", format: "uri", description: "The next page; absent on the last page." },
      prev: {
        type: "string",
        format: "uri",
        description: "The previous page; absent on the first page, and in lists by `_cursor`.",
      },
    },
  },
  MergePatch: {
    type: "object",
    description: "RFC 7396: members to set, at any depth; `null` removes a member.",
    additionalProperties: true,
  },
  JsonPatch: {
    type: "array",
    description: "RFC 6902: operations, in order. `increment` adds to a number, and is this service's own.",
    maxItems: 1000,
    items: {
      type: "object",
      required: ["op", "path"],
      properties: {
        op: { enum: ["add", "remove", "replace", "move", "copy", "test", "increment"] },
        path: { type: "string", description: "RFC 6901 pointer." },
        from: { type: "string", description: "RFC 6901 pointer; for `move` and `copy`." },
        value: { description: "For `add`, `replace` and `test`." },
        by: { type: "number", description: "For `increment`: what is added; below 0 to subtract." },
        min: { type: "number", description: "For `increment`: the least sum, otherwise 409." },
        max: { type: "number", description: "For `increment`: the greatest sum, otherwise 409." },
      },
    },
  },
  Value: { description: "Any JSON value." },
  Export: { type: "string", description: "Lines of JSON, each ended by a line feed." },
  Imported: {
    type: "object",
    description: "What became of the lines. Every one that asks for a write counts once.",
    required: ["dryRun", "created", "replaced", "deleted", "unchanged", "expired", "refused", "errors"],
    properties: {
      dryRun: { type: "boolean", description: "Nothing was written." },
      created: count,
      replaced: count,
      deleted: count,
      unchanged: { ...count, description: "What was there already, or not there to be deleted." },
      expired: { ...count, description: "Objects whose time has come since they were exported." },
      refused: count,
      errors: {
        type: "array",
        maxItems: 100,
        items: {
          type: "object",
          required: ["line", "code", "detail"],
          properties: {
            line: { type: "integer", minimum: 1, description: "Of the body." },
            code: { type: "string", description: "As of problems." },
            detail: text,
          },
        },
      },
    },
  },
  Login: {
    type: "object",
    required: ["access_token", "refresh_token", "session_id", "message"],
    properties: {
      access_token: { type: "string", description: "For `Authorization: bearer …`." },
      refresh_token: { type: "string", description: "For `POST /sessions/refresh` only." },
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
      role,
      access,
      created: seconds,
      last_refresh: seconds,
    },
  },
  Caller: {
    type: "object",
    description: "`kind` and `name` are `creator_type` and `creator` of the objects that the caller creates.",
    required: ["kind", "name"],
    properties: {
      kind: { enum: callerKinds },
      name: { type: "string", description: creatorName },
      issuer: { type: "string", description: "Name of the external issuer; of its callers only." },
      role: { ...role, description: "Absent without credentials, as is `access`." },
      access,
      expires: {
        ...seconds,
        description: "When the credential expires, as Unix time in seconds; absent if it does not.",
      },
      session_id: { type: "string", description: "Of a user only." },
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
    description: "RFC 7517: the public keys that verify access tokens.",
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
    description: "The X-Request-Id of the request, or one that the server generated.",
    required: true,
    schema: text,
  },
  Location: {
    description: "The URL of the new object or session.",
    required: true,
    schema: { type: "string", format: "uri" },
  },
  ETag: {
    description: "A strong entity tag: the same as long as the value is unchanged.",
    schema: { type: "string", pattern: '^"[^"]*"$' },
  },
  "Idempotent-Replayed": {
    description: "`true` if this is the answer to an earlier request with the same Idempotency-Key.",
    schema: { type: "string", const: "true" },
  },
  AcceptPatch: { description: "The content types that a PATCH may have.", schema: text },
  Challenge: { description: "How to send credentials, RFC 9110.", required: true, schema: text },
  RateLimitPolicy: {
    description:
      "Rates of the caller and of the project: `q` requests at once, which are available again after `w` seconds.",
    schema: text,
  },
  RateLimit: {
    description: "What is left of the rates: `r` requests; the full burst again in `t` seconds.",
    schema: text,
  },
  RetryAfter: { description: "Seconds to wait, if waiting helps.", schema: { type: "string", pattern: "^[0-9]+$" } },
};

export const sharedParameters: Readonly<Record<string, JsonObject>> = {
  Id: {
    name: "id",
    in: "path",
    required: true,
    description: "The `id` of an object, as the server set it.",
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
      "The path inside the value: a key of an object or an index of an array (`-` on POST: the end). It may have several segments, " +
      "separated by slashes, as in `checkout/countries/0`. OpenAPI can't express that, so most generated clients send a slash as " +
      "`%2F`, which is here a slash inside one key. For a deeper path, build the URL yourself.",
    schema: { type: "string", minLength: 1 },
  },
};

export const requestHeaders = {
  IfMatch: {
    name: "If-Match",
    in: "header",
    description: "Entity tags, one of which must be the current one, or `*`; otherwise 412.",
    schema: { type: "string" },
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "A name for this request, such as a new UUID. If the request is repeated within 24 hours, it takes effect once.",
    schema: { type: "string", minLength: 1, maxLength: 257 },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description:
      "Entity tags that the client knows. If one is current, a read is 304 without a body, and a write is 412.",
    schema: { type: "string" },
  },
} as const satisfies Readonly<Record<string, JsonObject>>;

export const securitySchemes = {
  login: { type: "http", scheme: "basic", description: "A user's name and password, for `POST /sessions` only." },
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "The `access_token` of a login. After it has expired, get a new one by `POST /sessions/refresh`.",
  },
  apikey: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: "The word `apikey`, a space and an API key: `Authorization: apikey <API_KEY>`.",
  },
  refresh: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "The `refresh_token` of a login." },
} as const satisfies Readonly<Record<string, JsonObject>>;

/** With a dot, which neither names of issuers nor the other schemes have. */
function schemeNameOf({ name }: IssuerConfig): string {
  return `issuer.${name}`;
}

export function issuerSchemes(issuers: readonly IssuerConfig[]): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(issuers.map((issuer) => [schemeNameOf(issuer), schemeOf(issuer)]));
}

/** Tokens of issuers are allowed where API keys are; operations for our own tokens take none. */
export function withIssuers(security: readonly JsonObject[], issuers: readonly IssuerConfig[]): readonly JsonObject[] {
  if (!security.some((each) => "apikey" in each)) return security;
  return [...security, ...issuers.map((issuer) => ({ [schemeNameOf(issuer)]: [] }))];
}

function schemeOf(issuer: IssuerConfig): JsonObject {
  const { name, url, audiences, keysAreFetched } = issuer;
  const isOfCluster = isClusterIssuer(issuer);
  const audience = audiences.map((each) => `\`${each}\``).join(" or ");
  const token = `A JSON Web Token of \`${url}\` whose \`aud\` has ${audience}: \`Authorization: bearer <TOKEN>\`.`;
  const caller = `Its callers are named \`${name}/<username>\`.`;
  // Clients can't reach a cluster's discovery document, and an issuer with keys in the manifest may
  // have none.
  if (!isOfCluster && keysAreFetched) {
    return { type: "openIdConnect", openIdConnectUrl: discoveryUrl(url), description: `${token} ${caller}` };
  }
  const account = isOfCluster ? " It is the token of a Kubernetes ServiceAccount." : "";
  return { type: "http", scheme: "bearer", bearerFormat: "JWT", description: `${token}${account} ${caller}` };
}
