// A client that logs in, is let in everywhere, refreshes, ends its session, and tries the void token for the rest of the run; and one
// that tries an API key which the operator withdraws.

import { setTimeout as sleep } from "node:timers/promises";
import { basic } from "../../support/http/projects.ts";
import { base, user, victim } from "../project.ts";
import { askOne, type ClientDeps, keepDoing, noteOdd } from "./client.ts";

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly session_id: string;
}

export interface SessionsKept {
  /** Authorization headers of ended sessions, by the name of the credential. */
  readonly ended: Map<string, string>;
}

const remembered = 10;

/** Uses a credential at one replica, or all; writes down whether it was let in. */
export async function tryEverywhere(deps: ClientDeps, credential: string, as: string): Promise<void> {
  const { asker, history } = deps;
  await Promise.all(
    deps.replicas().map(async (replica) => {
      const { status, code, from, to } = await asker.ask(replica, { path: `${base}/api/items?_limit=1`, as });
      if (status !== 200 && status !== 401) return;
      if (code === "token_expired" && deps.clocksJump) return;
      history.add({ kind: "access", credential, replica: replica.name, admitted: status === 200, from, to });
    }),
  );
}

export async function runSessions(name: string, kept: SessionsKept, deps: ClientDeps): Promise<void> {
  let made = 0;
  await keepDoing(deps, async () => {
    made += 1;
    await oneSession(`${name}, session ${made}`, kept, deps);
    const tried = [...kept.ended].slice(-remembered);
    for (const [credential, as] of tried.slice(-2)) await tryEverywhere(deps, credential, as);
    const [credential, as] = tried[deps.random.whole(tried.length)] ?? [];
    if (credential !== undefined && as !== undefined) await tryEverywhere(deps, credential, as);
    await sleep(30);
  });
}

async function oneSession(credential: string, { ended }: SessionsKept, deps: ClientDeps): Promise<void> {
  const { history } = deps;
  const login = { method: "POST", path: "/sessions/", as: basic(user) } as const;
  const opened = await askOne(deps, login);
  noteOdd(history, login, opened, { statuses: [201] });
  if (opened.status !== 201) return;
  const tokens = JSON.parse(opened.text) as Tokens;
  let as = `bearer ${tokens.access_token}`;
  await tryEverywhere(deps, credential, as);
  const renewal = { method: "POST", path: "/sessions/refresh", as: `Bearer ${tokens.refresh_token}` } as const;
  const renewed = await askOne(deps, renewal);
  noteOdd(history, renewal, renewed, { statuses: deps.clocksJump ? [200, 401] : [200], unlessLost: opened.to });
  if (renewed.status === 200) as = `bearer ${(JSON.parse(renewed.text) as Tokens).access_token}`;
  await tryEverywhere(deps, credential, as);
  const ending = { method: "DELETE", path: `/sessions/${tokens.session_id}`, as } as const;
  const revoking = history.beginRevoking(credential);
  const answer = await askOne(deps, ending);
  // 404 and 401 are right after an earlier attempt that nobody knows of; there was none here.
  noteOdd(history, ending, answer, { statuses: deps.clocksJump ? [204, 401] : [204], unlessLost: opened.to });
  if (answer.status !== 204) return;
  revoking.end();
  ended.set(credential, as);
}

/** From the start of the run; `history` says when it was withdrawn. */
export async function runVictim(deps: ClientDeps): Promise<void> {
  await keepDoing(deps, async () => {
    await tryEverywhere(deps, victim, deps.credentials.victim);
    await sleep(50);
  });
}
