// A client that asks a project for more than its rates give, and one that guesses a password, at another replica each time; both write
// down what was let through and what was refused.

import { setTimeout as sleep } from "node:timers/promises";
import { apikey, basic } from "../../support/http/projects.ts";
import type { Asked } from "../ask.ts";
import { guesses, limitedBase, limitedRate } from "../project.ts";
import { type ClientDeps, keepDoing, noteOdd } from "./client.ts";

/** Milliseconds between two guesses: each one costs a replica as much as a login. */
const guessEvery = 150;

export async function runFlooder(deps: ClientDeps): Promise<void> {
  const asked = { path: `${limitedBase}/api/items?_limit=1`, as: apikey("flood") };
  await keepDoing(deps, () => attempt(deps, asked, { limit: "rate", ...limitedRate, through: 200 }));
}

export async function runGuesser(deps: ClientDeps): Promise<void> {
  const asked = { method: "POST", path: `${limitedBase}/sessions/`, as: basic("ann", "wrong") } as const;
  await keepDoing(deps, async () => {
    await attempt(deps, asked, { limit: "guesses", ...guesses, through: 401 });
    await sleep(guessEvery);
  });
}

interface Limit {
  readonly limit: string;
  readonly perSecond: number;
  readonly burst: number;
  /** Status of what the limit lets through. */
  readonly through: number;
}

async function attempt({ asker, history, random, replicas }: ClientDeps, asked: Asked, limit: Limit): Promise<void> {
  const answer = await asker.ask(random.pick(replicas()), asked);
  const { status, headers, from, to } = answer;
  noteOdd(history, asked, answer, { statuses: [limit.through, 429] });
  const { through, ...named } = limit;
  // Of what was not answered nobody knows whether it was counted; a limit may only ever let through less for it.
  if (status !== through && status !== 429) return;
  const retryAfter = Number(headers["retry-after"] ?? 0);
  history.add({ kind: "limited", ...named, passed: status === through, retryAfter, from, to });
}
