// Clients that ask for more than limits give, at another replica each time: of a rate, of guesses
// at a password, of anonymous writes. They write down what was let through and what was refused.

import { setTimeout as sleep } from "node:timers/promises";
import { apikey, basic } from "../../support/http/projects.ts";
import type { Asked } from "../ask.ts";
import type { Limited } from "../history.ts";
import { anonymousWrites, guesses, limitedBase, limitedRate, openBase } from "../project.ts";
import { type ClientDeps, keepDoing, noteUnexpected } from "./client.ts";

/** Milliseconds between two guesses: each one costs a replica as much as a login. */
const guessEvery = 150;
const scribbleEvery = 50;

export async function runFlooder(deps: ClientDeps): Promise<void> {
  const asked = { path: `${limitedBase}/api/items?_limit=1`, as: apikey("flood") };
  await keepDoing(deps, () =>
    attempt(deps, asked, { limit: "rate", ...limitedRate, uncounted: "each replica", through: 200 }),
  );
}

export async function runGuesser(deps: ClientDeps): Promise<void> {
  const asked = { method: "POST", path: `${limitedBase}/sessions/`, as: basic("ann", "wrong") } as const;
  await keepDoing(deps, async () => {
    await attempt(deps, asked, { limit: "guesses", ...guesses, uncounted: "nothing", through: 401 });
    await sleep(guessEvery);
  });
}

export async function runScribbler(deps: ClientDeps): Promise<void> {
  const asked = { method: "POST", path: `${openBase}/api/notes`, body: {} } as const;
  const limit = { limit: "anonymous writes", ...anonymousWrites, uncounted: "nothing", through: 201 } as const;
  await keepDoing(deps, async () => {
    await attempt(deps, asked, limit);
    await sleep(scribbleEvery);
  });
}

interface Limit {
  readonly limit: string;
  readonly perSecond: number;
  readonly burst: number;
  readonly uncounted: Limited["uncounted"];
  /** Status of what the limit lets through. */
  readonly through: number;
}

async function attempt({ asker, history, random, replicas }: ClientDeps, asked: Asked, limit: Limit): Promise<void> {
  const answer = await asker.ask(random.pick(replicas()), asked);
  const { status, headers, from, to } = answer;
  noteUnexpected(history, asked, answer, { statuses: [limit.through, 429] });
  const { through, ...named } = limit;
  // Of what was not answered nobody knows whether it was counted; a limit may only ever let through
  // less for it.
  if (status !== through && status !== 429) return;
  const retryAfter = Number(headers["retry-after"] ?? 0);
  history.add({ kind: "limited", ...named, passed: status === through, retryAfter, from, to });
}
