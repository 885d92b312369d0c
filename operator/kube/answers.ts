// Reads the API server's responses: objects, as compact as they can be kept, and failures. A
// failure about Secrets never carries the server's own text: its validation quotes the values that
// were sent.

import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import { ApiFailure, ApiUnreachable, type KubeObject, type ResourceType } from "./api.ts";
import { secretType } from "./objects.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Parses without ever quoting the text: a parser's message would. */
export function parsed(text: string, what: string): unknown {
  const value = parseOrUndefined(text);
  if (value === undefined) throw new ApiUnreachable(`${what}: the response is not JSON`);
  return value;
}

/**
 * A freshly parsed object as it is kept: without managedFields and kubectl's last-applied
 * annotation, which are half of its size and unused. What is left of its metadata is copied,
 * because an object of which a member was deleted takes V8 twice the memory.
 */
export function objectToKeep(parsedObject: KubeObject): KubeObject {
  const object = withoutUnused(parsedObject);
  shareTexts(object);
  return object;
}

function withoutUnused(parsedObject: KubeObject): KubeObject {
  const { managedFields, ...metadata } = parsedObject.metadata as KubeObject["metadata"] & ServerSideOnly;
  if (metadata.annotations?.[lastApplied] === undefined) return { ...parsedObject, metadata };
  const { annotations, ...unannotated } = metadata;
  const { [lastApplied]: applied, ...others } = annotations;
  const hasOthers = Object.keys(others).length > 0;
  return { ...parsedObject, metadata: hasOthers ? { ...unannotated, annotations: others } : unannotated };
}

interface ServerSideOnly {
  readonly managedFields?: unknown;
}

// ---------------------------------------------------------------------------------- shared texts
//
// Conditions, labels, annotations and times are alike in many objects. Of tens of thousands of
// objects, the copies would take more memory than what differs.

/** Texts that are remembered at most: lists bring what belongs together side by side. */
const maxTexts = 2_000;
const maxLength = 256;

const texts = recentlyUsed<string>(maxTexts);

/**
 * Replaces such texts of a freshly parsed object, which nobody else has yet, by equal ones of
 * earlier objects.
 */
function shareTexts(object: KubeObject): void {
  const { metadata } = object;
  for (const members of [object, metadata, metadata.labels, metadata.annotations]) shareIn(members);
  const { conditions } = (object["status"] ?? {}) as { readonly conditions?: unknown };
  if (Array.isArray(conditions)) for (const condition of conditions) shareIn(condition);
}

function shareIn(parsedMembers: unknown): void {
  if (typeof parsedMembers !== "object") return;
  const members = parsedMembers as Record<string, unknown>;
  for (const name in members) {
    const value = members[name];
    if (typeof value === "string" && value.length <= maxLength) members[name] = shared(value);
  }
}

function shared(text: string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  texts.set(text, text);
  return text;
}

// -------------------------------------------------------------------------------------- failures

interface StatusBody {
  readonly code?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly details?: { readonly retryAfterSeconds?: unknown; readonly causes?: unknown };
}

interface Refusal {
  /** HTTP status; absent in a watch, whose ERROR event carries the code. */
  readonly status?: number;
  readonly body: unknown;
  readonly retryAfter?: string | undefined;
}

/** The failure that a Status body or any other refusal stands for. */
export function failure(type: ResourceType, { status, body, retryAfter }: Refusal): ApiFailure {
  const answer = (typeof body === "object" && body !== null ? body : {}) as StatusBody;
  const code = status ?? (typeof answer.code === "number" ? answer.code : 500);
  const reason = typeof answer.reason === "string" ? answer.reason : "";
  const seconds = Number(retryAfter ?? answer.details?.retryAfterSeconds);
  return new ApiFailure(code, {
    reason,
    message: messageOf(type, answer, `${type.plural}: the API server answered ${code}${reason && ` ${reason}`}`),
    ...(Number.isFinite(seconds) && seconds >= 0 && { retryAfterSeconds: seconds }),
    causes: causesOf(answer),
  });
}

/** The words only: messages and fields of causes may quote what was sent. */
function causesOf({ details }: StatusBody): readonly string[] {
  if (!Array.isArray(details?.causes)) return [];
  const causes = details.causes as readonly ({ readonly reason?: unknown } | null)[];
  return causes.map((cause) => cause?.reason).filter((reason) => typeof reason === "string");
}

function messageOf(type: ResourceType, { message }: StatusBody, otherwise: string): string {
  if (isSecret(type) || typeof message !== "string" || message === "") return otherwise;
  return message;
}

function isSecret({ group, plural }: ResourceType): boolean {
  return group === secretType.group && plural === secretType.plural;
}
