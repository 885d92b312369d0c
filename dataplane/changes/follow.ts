// Answers a read that asks for changes: with a stream, or with JSON. Before the answer 200 the
// position was found in the log, so nothing is missed from then on. Refuses with `not_acceptable`
// where no changes are logged, `position_expired`, `too_many_streams` and `streams_busy`.

import type { ServerResponse } from "node:http";
import { keyOfProject } from "../../core/config/config-keys.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { Timers } from "../../core/timers.ts";
import { ownerOf } from "../authenticate/caller.ts";
import type { HttpResponse } from "../http/exchange.ts";
import type { OperationPlan, PlannedRequest } from "../operation/plan.ts";
import { releaseSlot } from "../operation/steps.ts";
import type { DataStore } from "../store/port.ts";
import type { ChangeLogs, LoggedRef, LogPosition } from "../store/ports/changes.ts";
import type { AskedChanges } from "./asked.ts";
import type { BatchRead } from "./batch.ts";
import { type ChangeEvent, eventJson, type ResetReason, resetText, retryText } from "./events.ts";
import { positionText } from "./positions.ts";
import type { CheckStream, Place, Streams } from "./streams.ts";
import type { View } from "./views.ts";

export interface FollowDeps<Plan> {
  readonly store: DataStore;
  readonly streams: Streams;
  readonly timers: Timers;
  /** The request with the plan that counts now. Throws Problem where it is refused by now. */
  readonly renew: (request: PlannedRequest<Plan>) => PlannedRequest<Plan> | Promise<PlannedRequest<Plan>>;
}

/** What a request follows. */
export interface Followed<Plan> {
  readonly of: LoggedRef;
  readonly view: View;
  /** What is told first; called when the position is known. Throws `not_found`. */
  first(position: LogPosition, isResumed: boolean): Promise<readonly ChangeEvent[]>;
  /** Whether a plan of later lets the caller see the same. */
  isSame(current: Plan): boolean;
}

export const changesPositionHeader = "Changes-Position";

/** The response to a read of something whose changes are logged says where to follow them from. */
export async function withPosition(
  store: ChangeLogs,
  of: LoggedRef,
  read: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  if (of.changes === undefined) return await read();
  const start = await store.newestChange(of);
  const response = await read();
  const seen = await store.newestChange(of);
  return { ...response, headers: { ...response.headers, [changesPositionHeader]: positionText({ start, seen }) } };
}

export async function followChanges<Plan extends OperationPlan>(
  deps: FollowDeps<Plan>,
  request: PlannedRequest<Plan>,
  asked: AskedChanges,
  followed: Followed<Plan>,
): Promise<HttpResponse> {
  const { of } = followed;
  if (of.changes === undefined) throw notLogged(of);
  // Clients wait for long, and what they are sent is bounded otherwise (streams.ts).
  releaseSlot(request.admission, undefined);
  const { caller } = request.plan;
  const requester = caller.kind === "anonymous" ? `anonymous:${request.incoming.request.ip}` : ownerOf(caller);
  const newest = await deps.store.newestChange(of);
  const { start, seen } = asked.position ?? { start: newest, seen: newest };
  const place = deps.streams.take(of, requester, newest);
  try {
    const gone = await whyGone(deps.store, of, [seen, start]);
    const following = { deps, request: await forSession(deps, request), asked, followed, place, start };
    if (asked.form === "json") return await jsonResponse(following, gone).finally(place.release);
    const events = gone === undefined ? await followed.first(start, asked.position !== undefined) : [];
    return streamResponse(following, gone ?? events);
  } catch (error) {
    place.release();
    throw error;
  }
}

interface Following<Plan> {
  readonly deps: FollowDeps<Plan>;
  readonly request: PlannedRequest<Plan>;
  readonly asked: AskedChanges;
  readonly followed: Followed<Plan>;
  readonly place: Place;
  readonly start: LogPosition;
}

async function whyGone(
  store: ChangeLogs,
  of: LoggedRef,
  positions: readonly LogPosition[],
): Promise<"expired" | "lost" | undefined> {
  for (const position of new Set(positions)) {
    const { outcome } = await store.changesAfter(of, position, 1);
    if (outcome !== "changes") return outcome;
  }
  return undefined;
}

/** A user's stream lives as long as the session: the request is decided again, with it. */
async function forSession<Plan extends OperationPlan>(
  { renew }: FollowDeps<Plan>,
  request: PlannedRequest<Plan>,
): Promise<PlannedRequest<Plan>> {
  if (request.plan.caller.kind !== "user") return request;
  const incoming = { ...request.incoming, outlivesToken: true };
  return await renew({ ...request, incoming, generation: Number.NaN });
}

async function jsonResponse<Plan extends OperationPlan>(
  { deps, request, asked, followed, place, start }: Following<Plan>,
  gone: "expired" | "lost" | undefined,
): Promise<HttpResponse> {
  if (gone !== undefined) throw positionGone(gone);
  const waiting = new AbortController();
  const stop = deps.timers.after(asked.waitSeconds * 1_000, () => waiting.abort());
  request.incoming.request.raw.once("close", () => waiting.abort());
  let position = start;
  let events: readonly ChangeEvent[] = [];
  try {
    let read: BatchRead | undefined = await place.feed.read(position);
    while (read !== undefined) {
      if (read.outcome !== "batch") throw positionGone(read.outcome);
      events = await followed.view.eventsOf(read, position);
      position = read.end;
      if (events.length > 0 || asked.waitSeconds === 0) break;
      read = await place.feed.next(position, waiting.signal);
    }
  } finally {
    stop();
  }
  const current = await deps.renew(request);
  if (current !== request && !followed.isSame(current.plan)) throw positionGone("access");
  const headers = {
    [changesPositionHeader]: position,
    ...(asked.waitSeconds > 0 && { "Preference-Applied": `wait=${asked.waitSeconds}` }),
  };
  const text = `{"changes":[${events.map(eventJson).join(",")}],"position":${JSON.stringify(position)}}`;
  return { status: 200, text, headers };
}

const streamHeaders = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store, no-transform",
  // nginx would keep events until 8 KiB are there.
  "X-Accel-Buffering": "no",
};
const resetRetryMs = { min: 500, span: 4_500 };

function streamResponse<Plan extends OperationPlan>(
  following: Following<Plan>,
  first: "expired" | "lost" | readonly ChangeEvent[],
): HttpResponse {
  const { deps, request, followed, place, start } = following;
  const stream = (response: ServerResponse): void => {
    if (typeof first === "string") {
      place.release();
      response.end(retryText(resetRetryMs.min + Math.round(Math.random() * resetRetryMs.span)) + resetText(first));
      return;
    }
    deps.streams.open({
      project: keyOfProject(request.plan.project.config),
      beginning: { feed: place.feed, view: followed.view, position: start, events: first },
      check: checkOf(following),
      response,
      release: place.release,
    });
  };
  return { status: 200, headers: streamHeaders, stream };
}

function checkOf<Plan extends OperationPlan>({ deps, request, followed }: Following<Plan>): CheckStream {
  let current = request;
  const goesOn = (): ReturnType<CheckStream> => {
    const { caller } = current.plan;
    const expiresAt =
      current.proof === undefined || caller.kind === "user" ? Number.POSITIVE_INFINITY : current.proof.validUntil;
    return { goesOn: true, expiresAt };
  };
  const renewed = async (renewing: Promise<PlannedRequest<Plan>>): Promise<Awaited<ReturnType<CheckStream>>> => {
    try {
      const next = await renewing;
      if (!followed.isSame(next.plan)) return { goesOn: false, reason: "access" };
      current = next;
      return goesOn();
    } catch (error) {
      return { goesOn: false, reason: reasonOf(error) };
    }
  };
  return () => {
    try {
      const next = deps.renew(current);
      return next instanceof Promise ? renewed(next) : goesOn();
    } catch (error) {
      return { goesOn: false, reason: reasonOf(error) };
    }
  };
}

function reasonOf(error: unknown): ResetReason {
  const code = error instanceof Problem ? error.code : undefined;
  if (code === "data_lost") return "lost";
  return code?.startsWith("unknown_") ? "deleted" : "access";
}

function notLogged(of: LoggedRef): Problem {
  const what = "resource" in of ? "ApiResource" : "RootKey";
  return new Problem("not_acceptable", `Changes can't be followed here: spec.changes of the ${what} is not set`);
}

function positionGone(reason: ResetReason): Problem {
  return new Problem(
    "position_expired",
    `Changes behind this position are no longer known (${reason}); read again, and follow from the new position`,
  );
}
