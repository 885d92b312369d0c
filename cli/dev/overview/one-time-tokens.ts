// Tokens by which a page of dev mode gets one password or key: each is accepted once, and for half
// a minute.

import type { Clock } from "../../../core/clock.ts";

const lifetimeMs = 30_000;

export interface OneTimeTokens {
  issue(subject: string): string;
  /** What the token was issued for; undefined if it is unknown, used or too old. */
  redeem(token: string): string | undefined;
}

export function createOneTimeTokens(clock: Pick<Clock, "now">, random: (bytes: number) => Buffer): OneTimeTokens {
  const issued = new Map<string, { readonly subject: string; readonly endsAt: number }>();
  return {
    issue(subject) {
      const now = clock.now();
      for (const [token, { endsAt }] of issued) if (endsAt <= now) issued.delete(token);
      const token = random(32).toString("base64url");
      issued.set(token, { subject, endsAt: now + lifetimeMs });
      return token;
    },
    redeem(token) {
      const found = issued.get(token);
      issued.delete(token);
      return found !== undefined && clock.now() < found.endsAt ? found.subject : undefined;
    },
  };
}
