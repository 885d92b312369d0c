// Measures logins apart from the rest: argon2id is meant to be slow, so a few suffice, and what matters is how much of their
// time is argon2id itself.

import { hash, verify } from "argon2";
import { passwordCost } from "../../core/password/hash-password.ts";

export interface Logins {
  readonly perSecond: number;
  readonly argonPerSecond: number;
}

const logins = 40;
const atOnce = 8;

/** `authorization` is that of a user whose hash has the cost of production. */
export async function measureLogins(base: string, authorization: string): Promise<Logins> {
  const perSecond = await rate(async () => {
    const reply = await fetch(`${base}/sessions`, { method: "POST", headers: { authorization } });
    await reply.text();
    if (reply.status !== 201) throw new Error(`A login was answered with ${reply.status}`);
  });
  const known = await hash("bench", passwordCost);
  const argonPerSecond = await rate(async () => {
    await verify(known, "bench");
  });
  return { perSecond, argonPerSecond };
}

async function rate(once: () => Promise<void>): Promise<number> {
  const began = performance.now();
  let left = logins;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await once();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return logins / ((performance.now() - began) / 1000);
}
