// Writes to sessions that the store refused, or whose outcome is unknown: each is repeated until
// the store has it. Each primary has its own queue. A replica that stops forgets them.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { isStoreFailure } from "../../core/errors/store-errors.ts";
import { createNamedTasks } from "../../core/named-tasks.ts";
import type { Timers } from "../../core/timers.ts";

interface OfSession {
  readonly project: ProjectRef;
  readonly id: string;
}

/** A session that was ended here: until the store knows, other replicas let it go on. */
export interface SessionEnd extends OfSession {
  /** Seconds for which its access tokens may be valid once the store knows of the end. */
  readonly tokenLifetimeSeconds: number;
}

export interface SessionRefresh extends OfSession {
  /** Unix seconds. */
  readonly lastRefresh: number;
}

export interface UnfinishedWrites<Write extends OfSession> {
  /** Replaces an earlier one of the same session. */
  add(write: Write): void;
  has(sessionId: string): boolean;
  /** Milliseconds since the primary of this project's sessions had none, 0 while it has none. */
  unfinishedFor(project: ProjectRef): number;
  close(): void;
}

interface UnfinishedWritesDeps<Write> {
  readonly write: (write: Write) => Promise<unknown>;
  /** Names the primary of a project's sessions (store/ports/sessions.ts). */
  readonly primaryOf: (project: ProjectRef) => string;
  readonly timers: Timers;
  readonly monotonic: () => number;
}

/** Of one primary, oldest first; never empty. */
interface RetryQueue<Write> {
  readonly writes: Map<string, Write>;
  since: number;
}

const retryMs = 1_000;
/** Beyond this the longest queue drops its oldest write: that session stays in the store. */
const maxUnfinished = 10_000;

export function createUnfinishedWrites<Write extends OfSession>(
  deps: UnfinishedWritesDeps<Write>,
): UnfinishedWrites<Write> {
  const { primaryOf, timers, monotonic } = deps;
  const tasks = createNamedTasks();
  let queues = new Map<string, RetryQueue<Write>>();
  let stop: (() => void) | undefined;
  let isClosed = false;

  const tryAgainLater = (): void => {
    if (isClosed || stop !== undefined || queues.size === 0) return;
    stop = timers.after(retryMs, () => {
      stop = undefined;
      queues = regrouped(queues, primaryOf);
      for (const [primary, { writes }] of queues) tasks.start(primary, () => tryAll([...writes.values()]));
      tryAgainLater();
    });
  };

  /** One after another, up to the first that the store does not take. */
  const tryAll = async (writes: readonly Write[]): Promise<void> => {
    for (const write of writes) {
      if (isClosed || !(await tryOnce(write))) return;
      // Another write of the session may have come during this one.
      forget(write.id, write);
    }
  };

  const tryOnce = async (write: Write): Promise<boolean> => {
    try {
      await deps.write(write);
      return true;
    } catch (error) {
      // Anything else is a defect, which the store's own figures show; another try would end alike.
      return !isStoreFailure(error);
    }
  };

  const forget = (id: string, write?: Write): void => {
    for (const [primary, queue] of queues) {
      if (write === undefined || queue.writes.get(id) === write) queue.writes.delete(id);
      if (queue.writes.size === 0) queues.delete(primary);
    }
  };

  const forgetBeyond = (most: number): void => {
    const all = [...queues.values()].map(({ writes }) => writes);
    if (all.reduce((sum, { size }) => sum + size, 0) <= most) return;
    const longest = all.reduce((most, each) => (each.size > most.size ? each : most));
    const [oldest] = longest.keys();
    if (oldest !== undefined) forget(oldest);
  };

  return {
    add(write) {
      const primary = primaryOf(write.project);
      const queue = queues.get(primary) ?? { writes: new Map<string, Write>(), since: monotonic() };
      forget(write.id);
      queue.writes.set(write.id, write);
      queues.set(primary, queue);
      forgetBeyond(maxUnfinished);
      tryAgainLater();
    },
    has: (sessionId) => [...queues.values()].some(({ writes }) => writes.has(sessionId)),
    unfinishedFor(project) {
      const queue = queues.get(primaryOf(project));
      return queue === undefined ? 0 : monotonic() - queue.since;
    },
    close() {
      isClosed = true;
      stop?.();
    },
  };
}

/** By the current primary of the sessions: it may have changed. */
function regrouped<Write extends OfSession>(
  queues: ReadonlyMap<string, RetryQueue<Write>>,
  primaryOf: (project: ProjectRef) => string,
): Map<string, RetryQueue<Write>> {
  const primaries = new Map<string, string>();
  const found = new Map<string, RetryQueue<Write>>();
  for (const { writes, since } of queues.values()) {
    for (const write of writes.values()) {
      const project = keyOfProject(write.project);
      const primary = primaries.get(project) ?? primaryOf(write.project);
      primaries.set(project, primary);
      const queue = found.get(primary) ?? { writes: new Map<string, Write>(), since };
      queue.since = Math.min(queue.since, since);
      queue.writes.set(write.id, write);
      found.set(primary, queue);
    }
  }
  return found;
}
