// A client whose every POST has an Idempotency-Key: what was not acknowledged it repeats at another
// replica until it is, as a client does that wants its request to take place once. Some of what was
// acknowledged it repeats as well, at once, and all of it in the end.

import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Asked, Target } from "../ask.ts";
import { isWithin, type Outcome, only } from "../history.ts";
import { base } from "../project.ts";
import { type ClientDeps, checkedOutcome, keepDoing, noteUnexpected } from "./client.ts";

/** A POST whose key nobody else uses, and what an acknowledgement of it has to say. */
interface Post {
  readonly asked: Asked & { readonly idempotencyKey: string };
  readonly isRight: (answer: Answer) => boolean;
}

export interface Acknowledged {
  readonly post: Post;
  readonly first: Answer;
}

const shareOfRepeated = 0.2;
/** Milliseconds before the next try. */
const betweenTries = 5;

export async function runRepeater(name: string, acknowledged: Acknowledged[], deps: ClientDeps): Promise<void> {
  let last = 0;
  await keepDoing(deps, async () => {
    last += 1;
    await (deps.random.fraction() < 0.5 ? create : insert)(name, last, { acknowledged, deps });
  });
}

interface Doing {
  readonly acknowledged: Acknowledged[];
  readonly deps: ClientDeps;
}

async function create(name: string, n: number, doing: Doing): Promise<void> {
  const key = `${name}-${n}`;
  const asked = { method: "POST", path: "/api/items", body: { key, n }, idempotencyKey: key } as const;
  const isRight = ({ text }: Answer): boolean => {
    const item = JSON.parse(text) as { readonly key: string; readonly n: number };
    return item.key === key && item.n === n;
  };
  const pending = doing.deps.history.begin({ kind: "write", cell: `object:${key}`, value: n });
  pending.end(await takePlace({ asked, isRight }, doing));
}

async function insert(name: string, n: number, doing: Doing): Promise<void> {
  const asked = { method: "POST", path: `/json/log/${name}/-`, body: n, idempotencyKey: `${name}-${n}` } as const;
  const pending = doing.deps.history.begin({ kind: "append", list: name, value: n });
  pending.end(await takePlace({ asked, isRight: ({ text }) => text === String(n) }, doing));
}

/** Repeats a POST until it is acknowledged, and now and then once more. */
async function takePlace(post: Post, { acknowledged, deps }: Doing): Promise<Outcome> {
  const { answer, before } = await insist(post, deps);
  if (answer === undefined) return before ?? "refused";
  if (before !== undefined) noteRepeat(deps, { post, before, answer });
  acknowledged.push({ post, first: answer });
  if (deps.random.fraction() < shareOfRepeated) {
    const again = await insist(post, deps);
    if (again.answer !== undefined) noteRepeat(deps, { post, before: "done", answer: again.answer, first: answer });
  }
  return "done";
}

interface Insisted {
  /** Undefined when the run ended first. */
  readonly answer: Answer | undefined;
  /** What came of the tries before it together; undefined when there was none. */
  readonly before: Outcome | undefined;
}

/** Each try at another replica than the one before. */
async function insist(post: Post, deps: ClientDeps): Promise<Insisted> {
  let before: Outcome | undefined;
  let target: Target | undefined;
  while (!deps.stopped()) {
    target = deps.random.pick(deps.replicas().filter((replica) => replica !== target));
    const answer = await send(target, post, deps);
    if (answer.outcome === "done") return { answer, before };
    before = before === "unknown" ? before : answer.outcome;
    await sleep(betweenTries);
  }
  return { answer: undefined, before };
}

async function send(target: Target, { asked, isRight }: Post, deps: ClientDeps): Promise<Answer> {
  const { asker, history, credentials } = deps;
  const answer = await asker.ask(target, { ...asked, as: credentials.worker, path: base + asked.path });
  checkedOutcome(history, answer, () => isRight(answer));
  noteUnexpected(history, asked, answer, { statuses: [201] });
  return answer;
}

interface Repetition {
  readonly post: Post;
  readonly before: Outcome;
  readonly answer: Answer;
  /** What was acknowledged before. */
  readonly first?: Answer;
}

function noteRepeat({ history }: ClientDeps, { post, before, answer, first }: Repetition): void {
  const { from, to, replayed } = answer;
  history.add({
    kind: "repeat",
    request: `${post.asked.path} ${post.asked.idempotencyKey}`,
    before,
    replayed,
    ...(first !== undefined && { acknowledged: first.to, same: contentOf(answer) === contentOf(first) }),
    from,
    to,
  });
}

/** All that tells what was done. Every replica has an origin of its own here. */
function contentOf({ status, text, headers: { location, etag } }: Answer): string {
  return JSON.stringify([status, text, location?.replace(/^http:\/\/[^/]+/, ""), etag]);
}

/**
 * Once more each, when trouble is over; a key that may have been lost would be a new request behind
 * later ones.
 */
export async function repeatAll(acknowledged: readonly Acknowledged[], deps: ClientDeps): Promise<void> {
  const { history, random, replicas } = deps;
  const losses = only(history.entries, "loss");
  for (const { post, first } of acknowledged.filter(({ first }) => !isWithin(losses, first.to))) {
    const answer = await send(random.pick(replicas()), post, deps);
    if (answer.outcome === "done") noteRepeat(deps, { post, before: "done", answer, first });
    else
      history.unexpected(`The repetition of ${post.asked.idempotencyKey} in the end: ${answer.status} ${answer.text}`);
  }
}
