// Answers a read that asks for changes: with a stream, or with JSON. It finds the positions in
// their logs before it answers with 200, so nothing is missed from then on. Refuses with
// `not_acceptable` where no changes are logged, `position_expired`, `too_many_streams`,
// `streams_busy` and `query_too_expensive`.

import type { ServerResponse } from "node:http";
import { keyOfProject } from "../../core/config/config-keys.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { Timers } from "../../core/timers.ts";
import { addressGroup } from "../admission/client-address.ts";
import type { FairShareLimiter } from "../admission/fair-share.ts";
import { ownerOf } from "../authenticate/caller.ts";
import type { HttpResponse } from "../http/exchange.ts";
import type { PlanBase, PlannedRequest } from "../operation/plan.ts";
import { releaseSlot } from "../operation/steps.ts";
import type { DataStore } from "../store/port.ts";
import type { ChangeLogs, LoggedRef } from "../store/ports/changes.ts";
import type { AskedChanges } from "./asked.ts";
import { type BatchRead, charactersPerBatch, lacksSeen } from "./batch.ts";
import { moveBehind, positionsOf, type Subscription } from "./change-stream.ts";
import { type ChangeEvent, eventJson, resetText, retryText } from "./events.ts";
import { type ClientPosition, laterOf, positionsText } from "./positions.ts";
import type { Source } from "./sources.ts";
import type { Permit, Streams } from "./streams.ts";

export interface FollowDeps {
  readonly store: DataStore;
  readonly streams: Streams;
  readonly timers: Timers;
  readonly fairShare: Pick<FairShareLimiter, "of">;
}

const changesPositionHeader = "Changes-Position";

/**
 * Reads something whose changes are logged, and adds the position from which to follow it. `read`
 * may ask for the position once it has read the store. `before` = the position of earlier pages.
 */
export async function withPosition(
  store: ChangeLogs,
  of: LoggedRef,
  read: (position: () => Promise<ClientPosition>) => Promise<HttpResponse>,
  before?: ClientPosition,
): Promise<HttpResponse> {
  const start = before?.start ?? (await store.newestChange(of));
  let found: Promise<ClientPosition> | undefined;
  const position = (): Promise<ClientPosition> => {
    found ??= seenUntilNow(store, of, { start, seen: before?.seen ?? start });
    return found;
  };
  const response = await read(position);
  const headers = { ...response.headers, [changesPositionHeader]: positionsText([await position()]) };
  return { ...response, headers };
}

/** A position that the log has lost stays as it is: a stream from there is reset. */
async function seenUntilNow(store: ChangeLogs, of: LoggedRef, position: ClientPosition): Promise<ClientPosition> {
  const { start, seen } = position;
  const isThere = seen === start || (await store.changesAfter(of, seen, 1)).outcome === "changes";
  return isThere ? { start, seen: await store.newestChange(of) } : position;
}

/** A request for the changes of one source or several. */
interface Following {
  readonly deps: FollowDeps;
  readonly request: PlannedRequest<PlanBase>;
  readonly asked: AskedChanges;
  readonly sources: readonly Source[];
}

/** Before what is sent is read, or made a text of. Throws Problem `project_busy`. */
export async function acquireReadSlot(
  { fairShare }: Pick<FollowDeps, "fairShare">,
  { plan, admission }: Pick<PlannedRequest<PlanBase>, "plan" | "admission">,
  weight: number,
  length?: number,
): Promise<void> {
  admission.slot = await fairShare.of(plan.project).acquire(weight, length);
}

/** The request has a slot, which it gives back before it waits. */
export async function followChanges(
  deps: FollowDeps,
  request: PlannedRequest<PlanBase>,
  asked: AskedChanges,
  sources: readonly Source[],
): Promise<HttpResponse> {
  for (const { of } of sources) requireLog(of);
  if (asked.positions !== undefined && asked.positions.length !== sources.length) {
    throw new Problem(
      "invalid_parameter",
      "The position is one of other sources; send it with the `_watch` it came from",
    );
  }
  const following = { deps, request, asked, sources };
  const project = keyOfProject(request.plan.project.config);
  const permit = deps.streams.take(project, requesterOf(request));
  try {
    const subscriptions = await subscribe(following, permit);
    if (asked.form === "json") return await jsonResponse(following, subscriptions).finally(permit.release);
    return await streamResponse(following, subscriptions, permit.release);
  } catch (error) {
    permit.release();
    throw error;
  }
}

function requesterOf({ plan: { caller }, incoming }: PlannedRequest<PlanBase>): string {
  return caller.kind === "anonymous" ? `anonymous:${addressGroup(incoming.request.ip)}` : ownerOf(caller);
}

type Gone = "expired" | "lost";

/** Where each source begins, or why one can't. */
async function subscribe({ deps, asked, sources }: Following, permit: Permit): Promise<readonly Subscription[] | Gone> {
  const subscriptions: Subscription[] = [];
  for (const [at, { of, view, first }] of sources.entries()) {
    const newest = await deps.store.newestChange(of);
    const { start, seen } = asked.positions?.[at] ?? { start: newest, seen: newest };
    const feed = permit.feedOf(of, newest);
    const gone = await whyGone(deps.store, of, { start, seen });
    if (gone !== undefined) return gone;
    const beginsWithNow = asked.form === "stream" && first !== undefined;
    subscriptions.push({ feed, view, position: beginsWithNow ? newest : start, seen, since: 0 });
  }
  return subscriptions;
}

async function whyGone(store: ChangeLogs, of: LoggedRef, { start, seen }: ClientPosition): Promise<Gone | undefined> {
  for (const position of new Set([seen, start])) {
    const { outcome } = await store.changesAfter(of, position, 1);
    if (outcome !== "changes") return outcome;
  }
  return undefined;
}

async function jsonResponse(
  following: Following,
  subscriptions: readonly Subscription[] | Gone,
): Promise<HttpResponse> {
  const { asked, sources } = following;
  if (typeof subscriptions === "string") throw positionGone(subscriptions);
  const starts = subscriptions.map((subscription) => subscription.position);
  let events = await eventsNow(subscriptions);
  if (events.length === 0 && asked.waitSeconds > 0) {
    events = await waitForFirst(following, subscriptions);
  }
  for (const source of sources) {
    if (!(await source.isStillAllowed())) throw positionGone("access");
  }
  const position = positionsOf(subscriptions);
  const headers = {
    [changesPositionHeader]: position,
    ...(asked.waitSeconds > 0 && { "Preference-Applied": `wait=${asked.waitSeconds}` }),
  };
  // Also where the filters let nothing through of what was read.
  const more = subscriptions.some((subscription, at) => subscription.position !== starts[at]);
  const text = `{"changes":[${events.map(eventJson).join(",")}],"position":${JSON.stringify(position)},"more":${more}}`;
  return { status: 200, text, headers };
}

/** Of one source after the other until it is much: `more` lets the client ask for the others. */
async function eventsNow(subscriptions: readonly Subscription[]): Promise<readonly ChangeEvent[]> {
  const events: ChangeEvent[] = [];
  let length = 0;
  for (const subscription of subscriptions) {
    const some = await takeEvents(subscription, await subscription.feed.read(subscription.position));
    events.push(...some);
    length += charactersOf(some);
    if (length >= charactersPerBatch) break;
  }
  return events;
}

function charactersOf(events: readonly ChangeEvent[]): number {
  return events.reduce((sum, { data }) => sum + data.length, 0);
}

/**
 * No events where the time is over, the client leaves, or the replica stops. With some, the request
 * has a slot again: each client makes a text of its own of what they share.
 */
async function waitForFirst(
  { deps, request, asked }: Following,
  subscriptions: readonly Subscription[],
): Promise<readonly ChangeEvent[]> {
  const waiting = new AbortController();
  const end = (): void => waiting.abort();
  const { raw } = request.incoming.request;
  if (raw.socket.destroyed) end();
  raw.once("close", end);
  const stops = [deps.timers.after(asked.waitSeconds * 1_000, end), deps.streams.onClose(end)];
  try {
    for (;;) {
      releaseSlot(request.admission, undefined);
      const first = await firstOf(subscriptions, waiting.signal);
      if (first === undefined) return [];
      const { subscription, read } = first;
      // The length of a value isn't known before it is read.
      await acquireReadSlot(deps, request, 1, (read.outcome === "batch" && read.length) || undefined);
      const events = await takeEvents(subscription, read);
      if (events.length > 0) return events;
    }
  } finally {
    for (const stop of stops) stop();
    raw.off("close", end);
  }
}

interface FirstRead {
  readonly subscription: Subscription;
  readonly read: BatchRead;
}

/** What comes first from any of them; undefined where `ending` is aborted before. */
async function firstOf(subscriptions: readonly Subscription[], ending: AbortSignal): Promise<FirstRead | undefined> {
  const found = new AbortController();
  const signal = AbortSignal.any([ending, found.signal]);
  const reads = await Promise.all(
    subscriptions.map(async (subscription): Promise<FirstRead | undefined> => {
      const read = await subscription.feed.next(subscription, signal);
      if (read === undefined) return undefined;
      found.abort();
      return { subscription, read };
    }),
  );
  return reads.find((read) => read !== undefined);
}

async function takeEvents(
  subscription: Subscription,
  read: Awaited<ReturnType<Subscription["feed"]["read"]>>,
): Promise<readonly ChangeEvent[]> {
  if (read.outcome !== "batch") throw positionGone(read.outcome);
  if (lacksSeen(read, subscription)) throw positionGone("lost");
  const events = await subscription.view.eventsOf(read, subscription.position);
  moveBehind(subscription, read);
  return events;
}

const streamHeaders = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store, no-transform",
  // nginx would keep events until 8 KiB are there.
  "X-Accel-Buffering": "no",
};
/** Of the first values of several sources; a single value may be larger. */
const maxFirstCharacters = 4 * 1024 * 1024;

async function streamResponse(
  { deps, request, asked, sources }: Following,
  subscriptions: readonly Subscription[] | Gone,
  release: () => void,
): Promise<HttpResponse> {
  if (typeof subscriptions === "string") {
    release();
    const text = retryText(Math.random) + resetText(subscriptions);
    return { status: 200, headers: streamHeaders, stream: (response) => void response.end(text) };
  }
  const isResumed = asked.positions !== undefined;
  const events: ChangeEvent[] = [];
  let length = 0;
  for (const [at, source] of sources.entries()) {
    const subscription = subscriptions[at] as Subscription;
    if (source.first === undefined) continue;
    const first = await source.first(subscription.position, isResumed);
    events.push(...first);
    length += charactersOf(first);
    if (length > maxFirstCharacters && events.length > 1) throw tooLarge();
    subscription.since = subscription.feed.moment();
    subscription.seen = laterOf(subscription.seen, await deps.store.newestChange(source.of));
  }
  releaseSlot(request.admission, events.length > 0 ? length : undefined);
  const project = keyOfProject(request.plan.project.config);
  const stream = (response: ServerResponse): void =>
    deps.streams.open({ project, beginning: { subscriptions, events }, sources, response, release });
  return { status: 200, headers: streamHeaders, stream };
}

function requireLog(of: LoggedRef): void {
  if (of.changes !== undefined) return;
  const what = "resource" in of ? "ApiResource" : "RootKey";
  const detail = `Changes can't be followed here: write \`changes: {}\` below spec of the ${what}`;
  throw new Problem("not_acceptable", detail);
}

function tooLarge(): Problem {
  return new Problem(
    "query_too_expensive",
    "What is stored of these sources has more than 4 MiB together, which a stream begins with; follow fewer at once",
  );
}

function positionGone(reason: Gone | "access"): Problem {
  const detail = `Changes behind this position are no longer known (${reason}); read again, and follow from the new position`;
  return new Problem("position_expired", detail);
}
