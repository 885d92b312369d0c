// Says which ServiceAccount a bearer token was issued to. Read without a check of the signature: it is this process's own token, and
// the API server checks it on every call.

import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import type { Credentials } from "./credentials.ts";

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
  /** One that is deleted and recreated has another. */
  readonly uid: string;
}

/** Undefined for credentials that are no such token. */
export function serviceAccountOf({ headers }: Pick<Credentials, "headers">): ServiceAccount | undefined {
  const [scheme = "", token = ""] = (headers["authorization"] ?? "").split(" ");
  if (scheme.toLowerCase() !== "bearer") return undefined;
  const [, payload = ""] = token.split(".");
  // Tokens of other kinds may be any text.
  const claims = parseOrUndefined(Buffer.from(payload, "base64url").toString()) as Claims | null | undefined;
  const { namespace, serviceaccount } = claims?.["kubernetes.io"] ?? {};
  const { name, uid } = serviceaccount ?? {};
  const isWhole = [namespace, name, uid].every((text) => typeof text === "string" && text !== "");
  return isWhole ? ({ namespace, name, uid } as ServiceAccount) : undefined;
}

interface Claims {
  readonly "kubernetes.io"?: {
    readonly namespace?: unknown;
    readonly serviceaccount?: { readonly name?: unknown; readonly uid?: unknown };
  };
}
