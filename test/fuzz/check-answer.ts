// Checks one answer by itself: never a defect, always a shape that is documented, and not a byte of
// another tenant's secrets.

import { errorCatalogue } from "../../core/errors/catalogue.ts";
import type { Reply } from "../support/http/http-client.ts";

/** Why the answer is wrong; nothing when it is right. */
export function faultsOf(reply: Reply, method: string): readonly string[] {
  const faults: string[] = [];
  const { status, headers, text } = reply;
  if (typeof headers["x-request-id"] !== "string") faults.push("no X-Request-Id");
  if (status >= 400) return method === "HEAD" ? faults : [...faults, ...problemFaults(reply)];
  if (status >= 300 && !isExpected(reply)) faults.push(`status ${status}`);
  if (text === "") return faults;
  if (headers["content-type"] !== "application/json") faults.push(`content type ${headers["content-type"]}`);
  if (!isJson(text)) faults.push("a body that is no JSON");
  return faults;
}

/** Unchanged, or a browser that is led from a project's URL to its page. */
function isExpected({ status, headers, text }: Reply): boolean {
  if (text !== "") return false;
  return status === 304 || (status === 302 && /\/(docs|console)$/.test(headers.location ?? ""));
}

function problemFaults({ status, headers, text }: Reply): readonly string[] {
  if (headers["content-type"] !== "application/problem+json") return [`status ${status} that is no problem`];
  if (!isJson(text)) return ["a problem that is no JSON"];
  const { code, status: statusInBody, requestId, detail, ...others } = JSON.parse(text) as Record<string, unknown>;
  const entry = errorCatalogue[code as keyof typeof errorCatalogue];
  if (entry === undefined) return [`code ${code} is not in the catalogue`];
  const faults: string[] = [];
  if (entry.status !== status || statusInBody !== status)
    faults.push(`code ${code} with status ${status}, and ${statusInBody} in the body`);
  if (status >= 500 && status !== 503) faults.push(`a defect: ${code}`);
  if (requestId !== headers["x-request-id"]) faults.push("another request's id");
  if (typeof detail !== "string" || detail === "") faults.push("a problem without a detail");
  const further = Object.keys(others).filter((name) => !["type", "title", "instance", "errors"].includes(name));
  if (further.length > 0) faults.push(`a problem with ${further}`);
  return faults;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Those of `secrets` that stand in the answer, wherever. */
export function leaksOf(reply: Reply, secrets: readonly string[]): readonly string[] {
  const all = `${JSON.stringify(reply.headers)}\n${reply.text}`;
  return secrets.filter((secret) => all.includes(secret));
}

/** For a write by a caller that may only change what it made: `before` = the object as it was. */
export function overreachOf({ status }: Reply, before: string | undefined, creator: string): readonly string[] {
  if (status >= 300 || before === undefined) return [];
  const { _metadata: made } = JSON.parse(before) as { _metadata: Readonly<Record<string, unknown>> };
  const owner = `${made["creator_type"]}:${made["creator"]}`;
  return owner === creator ? [] : [`changed an object of ${owner}`];
}
