// A client that logs in, is let in everywhere, refreshes, ends its session, and tries the void
// token for the rest of the run; and one that tries an API key which the operator withdraws.

import { setTimeout as sleep } from "node:timers/promises";
import { basic } from "../../support/http/projects.ts";
import type { Answer, Target } from "../ask.ts";
import type { History } from "../history.ts";
import { base, user, victim } from "../project.ts";
import { askOne, type ClientDeps, keepDoing, noteUnexpected } from "./client.ts";

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly session_id: string;
}

export interface SessionsKept {
  /** Authorization headers of ended sessions, by the name of the credential. */
  readonly ended: Map<string, string>;
  /**
   * Whose end could not be stored: refused where it was asked for, and by all once everything works
   * again.
   */
  readonly unfinished: UnfinishedEnd[];
}

interface UnfinishedEnd {
  readonly credential: string;
  readonly as: string;
  readonly revoking: { end(): void };
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

async function oneSession(credential: string, kept: SessionsKept, deps: ClientDeps): Promise<void> {
  const { history, asker, random, replicas } = deps;
  const login = { method: "POST", path: "/sessions/", as: basic(user) } as const;
  const opened = await askOne(deps, login);
  noteUnexpected(history, login, opened, { statuses: [201] });
  noteLogin(history, opened);
  if (opened.status !== 201) return;
  const tokens = JSON.parse(opened.text) as Tokens;
  let as = `bearer ${tokens.access_token}`;
  await tryEverywhere(deps, credential, as);
  const renewal = { method: "POST", path: "/sessions/refresh", as: `Bearer ${tokens.refresh_token}` } as const;
  const renewed = await askOne(deps, renewal);
  noteUnexpected(history, renewal, renewed, { statuses: deps.clocksJump ? [200, 401] : [200], unlessLost: opened.to });
  if (deps.ends === "go on") noteUnserved(history, "A refresh", renewed);
  if (renewed.status === 200) as = `bearer ${(JSON.parse(renewed.text) as Tokens).access_token}`;
  await tryEverywhere(deps, credential, as);
  const ending = { method: "DELETE", path: `${base}/sessions/${tokens.session_id}`, as } as const;
  const revoking = history.beginRevoking(credential);
  const replica = random.pick(replicas());
  const answer = await asker.ask(replica, ending);
  // 404 and 401 are right after an earlier attempt that nobody knows of; there was none here.
  noteUnexpected(history, ending, answer, { statuses: deps.clocksJump ? [204, 401] : [204], unlessLost: opened.to });
  if (deps.ends === "go on") noteUnserved(history, "The end of a session", answer);
  if (deps.ends === "fail closed" && answer.text.includes(refusedFromNowOn)) {
    kept.unfinished.push({ credential, as, revoking });
    await staysOutAt(replica, { as, refresh: renewal.as }, deps);
  }
  if (answer.status !== 204) return;
  revoking.end();
  kept.ended.set(credential, as);
}

const refusedFromNowOn = "refuses the session's tokens from now on";

/** Every password that was compared counts, right or wrong. */
function noteLogin(history: History, { status, from, to }: Answer): void {
  if (status !== 201 && status !== 401) return;
  const limit = { limit: "logins", perSecond: 0, burst: Number.POSITIVE_INFINITY, uncounted: "nothing" } as const;
  history.add({ kind: "limited", ...limit, passed: true, retryAfter: 0, from, to });
}

function noteUnserved(history: History, what: string, { status, text }: Answer): void {
  if (status === 503 || status === 507)
    history.unexpected(`${what} needs no memory, and was refused: ${text.slice(0, 300)}`);
}

interface OwnTokens {
  readonly as: string;
  readonly refresh: string;
}

async function staysOutAt(replica: Target, { as, refresh }: OwnTokens, { asker, history }: ClientDeps): Promise<void> {
  const read = await asker.ask(replica, { path: `${base}/api/items?_limit=1`, as });
  const renewed = await asker.ask(replica, { method: "POST", path: `${base}/sessions/refresh`, as: refresh });
  for (const { status } of [read, renewed]) {
    if (status === 200) history.unexpected(`${replica.name} takes a token of a session that it said it refuses`);
  }
}

/** From the start of the run; `history` says when it was withdrawn. */
export async function runVictim(deps: ClientDeps): Promise<void> {
  await keepDoing(deps, async () => {
    await tryEverywhere(deps, victim, deps.credentials.victim);
    await sleep(50);
  });
}
