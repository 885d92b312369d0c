// The open streams of a replica, and the feeds that they share. Limits how many a caller, a project
// and the replica may have. Ends a stream within a second when its caller may no longer read the
// same.

import type { ServerResponse } from "node:http";
import { keyOfProject } from "../../core/config/config-keys.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { FairShareLimiter } from "../admission/fair-share.ts";
import type { LoggedRef, LogPosition } from "../store/ports/changes.ts";
import { type Beginning, ChangeStream, type StreamDeps } from "./change-stream.ts";
import { Feed, type FeedDeps } from "./feed.ts";
import { resetReasonOf, type Source } from "./sources.ts";
import type { UnreadRoom } from "./unread-room.ts";

/** Of a request that follows changes, with a stream or by waiting for one response. */
export interface Permit {
  /** The feed of one of its sources. `end` = the newest entry that is known. */
  feedOf(source: LoggedRef, end: LogPosition): Feed;
  /** Gives the permit and its feeds back. */
  release(): void;
}

export interface OpenedStream {
  /** `<namespace>/<name>`. */
  readonly project: string;
  readonly beginning: Beginning;
  /** Each is asked every second, and when the project changes, whether it goes on. */
  readonly sources: readonly Source[];
  /** Its head was sent. */
  readonly response: ServerResponse;
  /** Called at the end. */
  release(): void;
}

export interface Streams {
  /** `project` = `<namespace>/<name>`. Throws Problem `too_many_streams` or `streams_busy`. */
  take(project: string, caller: string): Permit;
  open(opened: OpenedStream): void;
  /** Asks all streams of the project whether they go on. */
  checkProject(project: string): void;
  count(): number;
  /** Calls once this closes, or now where it has closed. Returns what cancels that. */
  onClose(call: () => void): () => void;
  /** Ends all streams: their clients connect again. */
  close(): void;
}

export interface StreamsDeps extends FeedDeps {
  readonly random?: () => number;
  /** Bounds what a project's streams compute in one turn of the event loop. */
  readonly fairShare: Pick<FairShareLimiter, "of">;
  readonly room: UnreadRoom;
  /** Streams of this replica; see the parts below. */
  readonly maxStreams: number;
  readonly onRefused: (limit: "caller" | "project" | "replica") => void;
}

/** Of the replica's streams, the part that one project may have, and of these one caller. */
const projectPart = 1 / 2;
const callerPart = 1 / 4;
const tickMs = 1_000;

interface OpenFeed {
  readonly feed: Feed;
  followers: number;
}

interface CheckedStream {
  readonly stream: ChangeStream;
  readonly sources: readonly Source[];
  /** Deciding again may take longer than the time until the next check. */
  isChecking: boolean;
}

export function createStreams(deps: StreamsDeps): Streams {
  const { clock, timers, random = Math.random, maxStreams, onRefused, fairShare, room } = deps;
  const feeds = new Map<string, OpenFeed>();
  const takePermit = createPermits(maxStreams, onRefused);
  const open = new Map<string, Set<CheckedStream>>();
  let stopTicking: (() => void) | undefined;
  const closing = new Set<() => void>();
  let isClosed = false;

  const join = (of: LoggedRef, end: LogPosition): { readonly feed: Feed; readonly leave: () => void } => {
    const project = keyOfProject(of.project);
    const name = "resource" in of ? `${project}/api/${of.resource}` : `${project}/json/${of.rootKey}`;
    const current = feeds.get(name);
    const shared = current?.feed.isGone === false ? current : { feed: new Feed(deps, of, end), followers: 0 };
    feeds.set(name, shared);
    shared.followers += 1;
    const leave = (): void => {
      shared.followers -= 1;
      if (shared.followers > 0) return;
      shared.feed.close();
      if (feeds.get(name) === shared) feeds.delete(name);
    };
    return { feed: shared.feed, leave };
  };

  const tick = (): void => {
    stopTicking = open.size === 0 ? undefined : timers.after(tickMs, tick);
    for (const streams of open.values()) for (const each of streams) void check(each);
  };

  return {
    take(project, caller) {
      const returns = [takePermit(project, `${project} ${caller}`)];
      return {
        feedOf(source, end) {
          const { feed, leave } = join(source, end);
          returns.push(leave);
          return feed;
        },
        release() {
          for (const giveBack of returns.splice(0)) giveBack();
        },
      };
    },
    open({ project, beginning, sources, response, release }) {
      // The client left before: no event will say so.
      if (response.destroyed) return release();
      const [first] = sources;
      const owner = first?.project() ?? beginning;
      const streamDeps: StreamDeps = {
        clock,
        timers,
        random,
        onFailure: deps.onFailure,
        takeRoom: (bytes, signal) => room.take(owner, bytes, signal),
        isRoomShort: () => room.isShort(owner),
        fairly: (work) => fairShare.of(first?.project()).runFairly(work),
        inSlot: async (read) => {
          const slot = await fairShare.of(first?.project()).acquire(1);
          let length: number | undefined;
          try {
            const found = await read();
            length = found.outcome === "batch" ? found.length : 0;
            return found;
          } finally {
            slot.release(length);
          }
        },
      };
      const stream = new ChangeStream(streamDeps, beginning, response);
      if (isClosed) stream.end();
      const each = { stream, sources, isChecking: false };
      const siblings = open.get(project) ?? new Set();
      open.set(project, siblings.add(each));
      response.once("close", () => {
        siblings.delete(each);
        if (siblings.size === 0) open.delete(project);
        release();
      });
      stopTicking ??= timers.after(tickMs, tick);
    },
    checkProject(project) {
      for (const each of open.get(project) ?? []) void check(each);
    },
    count: () => [...open.values()].reduce((sum, { size }) => sum + size, 0),
    onClose(call) {
      // Each call ends by itself, even if two are the same function.
      const own = (): void => call();
      if (isClosed) own();
      else closing.add(own);
      return () => closing.delete(own);
    },
    close() {
      isClosed = true;
      for (const call of [...closing]) call();
      stopTicking?.();
      for (const streams of open.values()) for (const { stream } of streams) stream.end();
    },
  };
}

async function check(each: CheckedStream): Promise<void> {
  if (each.isChecking) return;
  each.isChecking = true;
  const { stream, sources } = each;
  try {
    if (await areAllowed(sources)) stream.tick(Math.min(...sources.map((source) => source.expiresAt())));
    else stream.reset("access");
  } catch (error) {
    const reason = resetReasonOf(error);
    // Whether it may go on is not known, or its token has expired: the client connects again.
    if (reason === undefined) stream.end();
    else stream.reset(reason);
  } finally {
    each.isChecking = false;
  }
}

async function areAllowed(sources: readonly Source[]): Promise<boolean> {
  for (const source of sources) {
    const isStillAllowed = source.isStillAllowed();
    if (!(isStillAllowed instanceof Promise ? await isStillAllowed : isStillAllowed)) return false;
  }
  return true;
}

/** Returns how to give the permit back. Throws Problem `too_many_streams` or `streams_busy`. */
type TakePermit = (project: string, caller: string) => () => void;

function createPermits(maxStreams: number, onRefused: StreamsDeps["onRefused"]): TakePermit {
  const counts = createCounts();

  const fullLimit = (project: string, caller: string): "caller" | "project" | "replica" | undefined => {
    if (counts.of(caller) >= maxStreams * projectPart * callerPart) return "caller";
    if (counts.of(project) >= maxStreams * projectPart) return "project";
    return counts.all() >= maxStreams ? "replica" : undefined;
  };

  return (project, caller) => {
    const limit = fullLimit(project, caller);
    if (limit === undefined) return counts.add([project, caller]);
    onRefused(limit);
    if (limit !== "caller") throw new Problem("streams_busy", "Too many clients follow changes here; try again", later);
    throw new Problem(
      "too_many_streams",
      "The caller follows changes too many times at once; follow several sources over one connection",
      later,
    );
  };
}

const later = { headers: { "Retry-After": "5" } };

interface Counts {
  of(name: string): number;
  all(): number;
  /** Counts each name once more, and one more in all; returns how to undo that. */
  add(names: readonly string[]): () => void;
}

function createCounts(): Counts {
  const counts = new Map<string, number>();
  let all = 0;
  return {
    of: (name) => counts.get(name) ?? 0,
    all: () => all,
    add(names) {
      all += 1;
      for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
      return () => {
        all -= 1;
        for (const name of names) {
          const left = (counts.get(name) ?? 0) - 1;
          if (left === 0) counts.delete(name);
          else counts.set(name, left);
        }
      };
    },
  };
}
