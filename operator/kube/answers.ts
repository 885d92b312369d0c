// Reads the API server's responses: objects, without what only other tools need, and failures. A failure about Secrets never carries
// the server's own text: its validation quotes the values that were sent.

import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import { ApiFailure, ApiUnreachable, type KubeObject, type ResourceType } from "./api.ts";
import { secretType } from "./resource-types.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Parses without ever quoting the text: a parser's message would. */
export function parsed(text: string, what: string): unknown {
  const value = parseOrUndefined(text);
  if (value === undefined) throw new ApiUnreachable(`${what}: the response is not JSON`);
  return value;
}

/** Removes managedFields and kubectl's last-applied annotation from a freshly parsed object: half of its size, and unused. */
export function stripMetadata(object: KubeObject): KubeObject {
  const metadata = object.metadata as { managedFields?: unknown; annotations?: { [name: string]: string } };
  delete metadata.managedFields;
  if (metadata.annotations?.[lastApplied] !== undefined) {
    delete metadata.annotations[lastApplied];
    if (Object.keys(metadata.annotations).length === 0) delete metadata.annotations;
  }
  return object;
}

interface StatusBody {
  readonly code?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly details?: { readonly retryAfterSeconds?: unknown; readonly causes?: unknown };
}

export interface Refusal {
  readonly type: ResourceType;
  /** HTTP status; absent in a watch, whose ERROR event carries the code. */
  readonly status?: number;
  readonly body: unknown;
  readonly retryAfter?: string | undefined;
}

/** The failure that a Status body or any other refusal stands for. */
export function failure({ type, status, body, retryAfter }: Refusal): ApiFailure {
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
