// Turns an access token into its user: the token itself is verified once and remembered until it expires; that its session
// and its user still stand, and with which role, is looked up live on every request. Needs no store.

import type { Clock } from "../../core/clock.ts";
import type { SigningRing, UserConfig } from "../../core/config/types.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import type { Directory, LiveProject } from "../config/directory.ts";
import type { Caller, UserCaller } from "./caller.ts";
import type { EndedSessions } from "./ended-sessions.ts";
import { withLive } from "./live-lookup.ts";
import { accessTokenExpired, invalidCredentials } from "./refusals.ts";
import type { TokenClaims, Tokens } from "./tokens.ts";

export interface AccessTokenVerifier {
  /** The caller, when exactly this header proved a token of this project before; undefined = parse it. */
  cached(project: LiveProject, header: string): Caller | Promise<Caller> | undefined;
  verify(project: LiveProject, header: string, token: string): Promise<Caller>;
}

export interface AccessTokenDeps {
  readonly directory: Directory;
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly ended: EndedSessions;
}

interface KnownToken {
  readonly claims: TokenClaims;
  /** What it was verified against: another ring or another project means to verify anew. */
  readonly ring: SigningRing;
  readonly uid: string;
  readonly seen: { user: UserConfig; caller: UserCaller } | undefined;
}

/** Tokens remembered; only verified ones, so that a flood of wrong ones pushes nothing out. */
const maxKnownTokens = 10_000;

export function createAccessTokenVerifier({ directory, clock, tokens, ended }: AccessTokenDeps): AccessTokenVerifier {
  const known = recentlyUsed<KnownToken>(maxKnownTokens);

  const callerFor = (header: string, entry: KnownToken, user: UserConfig): UserCaller => {
    if (entry.seen?.user === user) return entry.seen.caller;
    const { username: name, role, access } = user;
    const caller: UserCaller = Object.freeze({ kind: "user", name, role, access, sessionId: entry.claims.sid });
    known.set(header, { ...entry, seen: { user, caller } });
    return caller;
  };

  const evaluate = (project: LiveProject, header: string, entry: KnownToken): Caller | Promise<Caller> =>
    withLive(directory.user(project, entry.claims.sub), (user) => {
      const { cv, sid, iat, exp } = entry.claims;
      if (user === undefined || user.credentialRevision !== cv || ended.has(sid)) {
        known.delete(header);
        throw invalidCredentials(project.config);
      }
      // A life that was shortened since counts for tokens that are out, too; ended sessions are remembered by it.
      const life = project.config.sessions.accessTokenSeconds;
      const expires = Math.min(exp, iat + life);
      const now = clock.now() / 1000;
      // A clock that was ahead made it, by more than clocks may differ: it would live on until that time.
      if (expires <= now || iat - life > now) {
        known.delete(header);
        throw accessTokenExpired(project.config);
      }
      return callerFor(header, entry, user);
    });

  return {
    cached(project, header) {
      const entry = known.get(header);
      if (entry === undefined || entry.ring !== project.signing || entry.uid !== project.config.uid) return undefined;
      return evaluate(project, header, entry);
    },
    async verify(project, header, token) {
      const claims = await tokens.read(project, "access", token);
      if (claims === undefined) throw invalidCredentials(project.config);
      return await evaluate(project, header, {
        claims,
        ring: project.signing,
        uid: project.config.uid,
        seen: undefined,
      });
    },
  };
}
