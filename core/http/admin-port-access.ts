// Who may read metrics and usage at a program's admin port: everybody who reaches it, or whoever
// sends the token of a file as a Bearer token (RFC 6750). Only probes are always open. Refuses with
// 401.

import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Problem } from "../errors/problem.ts";
import { type Followed, type FollowedFileDeps, followFile } from "../followed-file.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Answers without a token: a probe. */
    readonly isOpen?: true;
  }
}

/** Options of a probe's route. */
export const openRoute = { config: { isOpen: true } } as const;

/** The SHA-256 of the token. */
export type FollowedToken = Pick<Followed<Buffer>, "current" | "reread">;

/** The file holds no token that could be sent, or one that is guessed too soon. */
export class InvalidToken extends Error {
  override readonly name = "InvalidToken";
}

const minCharacters = 16;
const maxCharacters = 4_096;
/** `b64token` of RFC 6750. */
const sendable = /^[A-Za-z0-9._~+/-]+=*$/;

export function followToken(deps: Omit<FollowedFileDeps<Buffer>, "parse">): Promise<Followed<Buffer>> {
  return followFile({ ...deps, parse: readToken });
}

/**
 * Asks for the token on every route of `app` that is not an `openRoute`, also where there is no
 * route. Undefined = nobody is asked.
 */
export function requireToken(app: FastifyInstance, token: FollowedToken | undefined): void {
  if (token === undefined) return;
  app.addHook("onRequest", async (request) => {
    if (request.routeOptions.config?.isOpen === true) return;
    if (!(await admits(token, request))) throw refusal(request);
  });
}

function readToken(text: string): Buffer {
  const token = text.trim();
  if (!sendable.test(token) || token.length < minCharacters || token.length > maxCharacters) {
    throw new InvalidToken(
      `The token is not usable: it needs ${minCharacters} to ${maxCharacters} characters of A-Z, a-z, 0-9 and -._~+/, on one line`,
    );
  }
  return digestOf(token);
}

async function admits(token: FollowedToken, request: FastifyRequest): Promise<boolean> {
  const sent = bearerOf(request);
  if (sent === undefined) return false;
  const digest = digestOf(sent);
  if (timingSafeEqual(digest, token.current())) return true;
  // It may have been renewed since the file was read.
  await token.reread();
  return timingSafeEqual(digest, token.current());
}

function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
}

/** A digest has one length, whatever was sent. */
function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function refusal(request: FastifyRequest): Problem {
  const challenge = 'Bearer realm="jsonplane metrics"';
  const detail = "Send the token of metrics.tokenSecret as a Bearer token";
  return bearerOf(request) === undefined
    ? new Problem("authentication_required", detail, { headers: { "WWW-Authenticate": challenge } })
    : new Problem("invalid_credentials", detail, {
        headers: { "WWW-Authenticate": `${challenge}, error="invalid_token"` },
      });
}
