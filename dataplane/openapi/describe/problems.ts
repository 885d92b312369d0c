// Lists the problems of an operation by the stages of the pipeline that it passes, and makes one
// response for each status.

import type { JsonObject } from "../../../core/config/types.ts";
import { type ErrorCode, errorCatalogue } from "../../../core/errors/catalogue.ts";
import type { Components } from "./components.ts";

/** What the stages may refuse with, by what a request has or does. */
const problemsOf = {
  everyRequest: ["invalid_request", "request_timeout", "headers_too_large"],
  pathWithParameters: ["invalid_path", "path_too_long"],
  rates: ["rate_limited", "store_unavailable"],
  credentials: ["invalid_credentials", "token_expired", "project_unavailable"],
  anonymousCaller: ["authentication_required"],
  insufficientAccess: ["insufficient_access"],
  anonymousWrite: ["write_throttled"],
  readOnlyProject: ["project_read_only"],
  body: [
    ...(["malformed_json", "duplicate_member", "number_out_of_range", "too_deep", "body_required"] as const),
    ...(["unsupported_media_type", "transfer_coding_not_supported", "body_too_large", "body_busy"] as const),
  ],
  lines: ["unsupported_media_type", "transfer_coding_not_supported", "body_busy", "invalid_line"],
  objectBody: ["object_required", "reserved_field", "validation_failed", "document_too_large"],
  store: ["store_unavailable"],
  fairShare: ["project_busy"],
  storedData: ["project_busy", "store_unavailable", "data_lost"],
  write: ["outcome_unknown", "store_full"],
  largeAnswer: ["query_busy"],
  fields: ["invalid_parameter"],
  positions: ["position_expired"],
  patch: ["invalid_patch", "patch_conflict", "increment_out_of_bounds", "patch_too_large"],
  writeConflict: ["write_conflict"],
  idempotency: ["invalid_header", "idempotency_key_reused"],
  preconditions: ["invalid_header", "precondition_failed"],
  list: ["invalid_parameter", "sort_not_indexed", "query_too_expensive", "index_building"],
  creation: ["quota_exceeded"],
  notFound: ["not_found"],
  unique: ["not_unique"],
  upsert: ["invalid_parameter", "index_building"],
  update: ["write_conflict", "quota_exceeded"],
  rootWrite: ["document_too_large", "quota_exceeded"],
  partWrite: ["parent_not_found", "not_a_container", "invalid_index"],
  partRemoval: ["invalid_index"],
  partReplacement: ["document_too_large", "quota_exceeded", "index_not_found"],
  partInsert: ["document_too_large", "quota_exceeded", "key_exists", "index_out_of_range"],
  login: ["login_throttled", "too_many_sessions", "login_busy"],
} as const satisfies Readonly<Record<string, readonly ErrorCode[]>>;

export type ProblemSource = keyof typeof problemsOf;

/** Responses by status; equal ones share a component. */
export function problemResponses(components: Components, sources: readonly ProblemSource[]): JsonObject {
  const codes = [...new Set(sources.flatMap((source): readonly ErrorCode[] => problemsOf[source]))];
  const byStatus = Map.groupBy(codes, (code) => errorCatalogue[code].status);
  const statuses = [...byStatus].sort(([one], [other]) => one - other);
  return Object.fromEntries(statuses.map(([status, some]) => [String(status), responseOf(components, status, some)]));
}

/** Where the project names rates, of what was counted. */
export const rateHeaders = {
  "RateLimit-Policy": { $ref: "#/components/headers/RateLimitPolicy" },
  RateLimit: { $ref: "#/components/headers/RateLimit" },
} as const;

const retried = new Set([429, 503]);

function responseOf(components: Components, status: number, codes: readonly ErrorCode[]): JsonObject {
  return components.share("responses", `Problem${status}`, codes.join(" "), () => problemOf(status, codes));
}

function problemOf(status: number, codes: readonly ErrorCode[]): JsonObject {
  const lines = codes.map((code) => `- \`${code}\`: ${errorCatalogue[code].title}`);
  const headers = {
    "X-Request-Id": { $ref: "#/components/headers/RequestId" },
    ...(status === 401 && { "WWW-Authenticate": { $ref: "#/components/headers/Challenge" } }),
    // A proxy's client asks again with the tag of now.
    ...(status === 412 && { ETag: { $ref: "#/components/headers/ETag" } }),
    ...(codes.includes("rate_limited") && rateHeaders),
    ...(status === 415 && { "Accept-Patch": { $ref: "#/components/headers/AcceptPatch" } }),
    ...(retried.has(status) && { "Retry-After": { $ref: "#/components/headers/RetryAfter" } }),
  };
  const schema = {
    allOf: [
      { $ref: "#/components/schemas/Problem" },
      { type: "object", properties: { status: { const: status }, code: { enum: [...codes] } } },
    ],
  };
  return {
    description: lines.join("\n"),
    headers,
    content: { "application/problem+json": { schema, example: exampleOf(status, codes) } },
  };
}

function exampleOf(status: number, [code]: readonly ErrorCode[]): JsonObject {
  if (code === undefined) return {};
  const { title } = errorCatalogue[code];
  return {
    type: `urn:jsonplane:error:${code}`,
    title,
    status,
    detail: "What to send instead, for people",
    instance: "/the/path",
    code,
    requestId: "0b6b0a1c-5b0e-4a52-9b0e-6f3b2f5a7a11",
  };
}
