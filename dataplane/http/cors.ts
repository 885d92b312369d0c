// Decides the CORS headers (Fetch standard §3.2) of a project's responses. Never with credentials:
// callers send Authorization themselves, and there are no cookies.

import type { CorsConfig } from "../../core/config/types.ts";
import type { HttpResponse } from "./exchange.ts";
import { acceptPatch } from "./patch.ts";

const exposed =
  "Accept-Patch, Changes-Position, ETag, Idempotent-Replayed, Location, Link, Preference-Applied, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id";
const requestHeaders = [
  ...["Authorization", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key", "X-Request-Id"],
  ...["Last-Event-ID", "Prefer"],
  ...["Accept", "Cache-Control"],
  // Tracing in a page adds these to every request, and one missing here would block them all. W3C:
  // OpenTelemetry and others. Vendors: Sentry, New Relic, AWS X-Ray, Datadog.
  ...["traceparent", "tracestate", "baggage"],
  ...["sentry-trace", "newrelic", "X-Amzn-Trace-Id"],
  ...["x-datadog-origin", "x-datadog-parent-id", "x-datadog-sampling-priority", "x-datadog-trace-id"],
].join(", ");

type Headers = Readonly<Record<string, string>>;

const none: Headers = Object.freeze({});
const anyOrigin: Headers = Object.freeze({
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": exposed,
});

/** Headers of an actual response to a request with this Origin. */
export function corsHeaders(cors: CorsConfig, origin: string | undefined): Headers {
  if (origin === undefined) return none;
  if (cors.allowedOrigins.includes("*")) return anyOrigin;
  if (!cors.allowedOrigins.includes(origin)) return none;
  return { "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": exposed };
}

/** The response to OPTIONS, a preflight or not. */
export function optionsResponse(
  cors: CorsConfig,
  origin: string | undefined,
  methods: readonly string[],
): HttpResponse {
  return {
    status: 204,
    headers: {
      Allow: methods.join(", "),
      ...(methods.includes("PATCH") && { "Accept-Patch": acceptPatch }),
      ...preflightHeaders(cors, origin, methods),
    },
  };
}

function preflightHeaders(cors: CorsConfig, origin: string | undefined, methods: readonly string[]): Headers {
  const allowed = corsHeaders(cors, origin);
  if (allowed === none) return none;
  return {
    "Access-Control-Allow-Methods": methods.join(", "),
    // Fetch §3.2.3: "*" does not include Authorization.
    "Access-Control-Allow-Headers": [requestHeaders, ...(cors.allowHeaders ?? [])].join(", "),
    "Access-Control-Max-Age": String(cors.maxAgeSeconds),
  };
}
