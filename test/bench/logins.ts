// Measures logins apart from the rest: argon2id is meant to be slow, so a few suffice, and what matters is how much of their
// time is argon2id itself.

import { availableParallelism } from "node:os";
import { verify } from "argon2";
import { hashPassword } from "../../core/password/hash-password.ts";
import { passwordConcurrency } from "../../dataplane/sessions/passwords.ts";

export interface Logins {
  readonly perSecond: number;
  readonly argonPerSecond: number;
}

const logins = 40;
const atOnce = 8;

/** `authorization` is that of a user whose hash has the cost of production. */
export async function measureLogins(base: string, authorization: string): Promise<Logins> {
  const perSecond = await rate(atOnce, async () => {
    const reply = await fetch(`${base}/sessions`, { method: "POST", headers: { authorization } });
    await reply.text();
    if (reply.status !== 201) throw new Error(`A login was answered with ${reply.status}`);
  });
  const known = await hashPassword("bench");
  // As many at once as the service lets run: more only wait for the same cores.
  const argonPerSecond = await rate(passwordConcurrency(availableParallelism()), async () => {
    await verify(known, "bench");
  });
  return { perSecond, argonPerSecond };
}

async function rate(lanes: number, once: () => Promise<void>): Promise<number> {
  const began = performance.now();
  let left = logins;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await once();
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return logins / ((performance.now() - began) / 1000);
}
