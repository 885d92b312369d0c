// Writes to sessions that the store refused, or whose outcome it did not say: each is tried again until the store has it. Where several
// servers keep sessions, each has its own line, and none waits for another. A replica that stops forgets them.

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
  /** Seconds for which its access tokens may be valid, from whenever the store knows of the end. */
  readonly tokensLive: number;
}

export interface SessionRefresh extends OfSession {
  /** Unix seconds. */
  readonly lastRefresh: number;
}

export interface UnfinishedWrites<Write extends OfSession> {
  /** In place of an earlier one of the same session. */
  add(write: Write): void;
  has(sessionId: string): boolean;
  /** Milliseconds since what keeps this project's sessions had none, 0 while it has none. */
  unfinishedFor(project: ProjectRef): number;
  close(): void;
}

export interface UnfinishedWritesDeps<Write> {
  readonly write: (write: Write) => Promise<unknown>;
  /** Names what keeps a project's sessions (store/ports/sessions.ts). */
  readonly keeperOf: (project: ProjectRef) => string;
  readonly timers: Timers;
  readonly monotonic: () => number;
}

/** Those of one keeper, oldest first; never empty. */
interface Line<Write> {
  readonly writes: Map<string, Write>;
  since: number;
}

const retryMs = 1_000;
/**
 * Beyond this the longest line forgets its oldest, so that no server's lose their place to another one's: a session that was ended is
 * refused here, and lives on in the store.
 */
const maxUnfinished = 10_000;

export function createUnfinishedWrites<Write extends OfSession>(
  deps: UnfinishedWritesDeps<Write>,
): UnfinishedWrites<Write> {
  const { keeperOf, timers, monotonic } = deps;
  const tasks = createNamedTasks();
  let lines = new Map<string, Line<Write>>();
  let stop: (() => void) | undefined;
  let isClosed = false;

  const tryAgainLater = (): void => {
    if (isClosed || stop !== undefined || lines.size === 0) return;
    stop = timers.after(retryMs, () => {
      stop = undefined;
      lines = regrouped(lines, keeperOf);
      for (const [keeper, { writes }] of lines) tasks.start(keeper, () => tryAll([...writes.values()]));
      tryAgainLater();
    });
  };

  /** One after the other, and no further than to the first that the store does not take. */
  const tryAll = async (writes: readonly Write[]): Promise<void> => {
    for (const write of writes) {
      if (isClosed || !(await isOver(write))) return;
      // Another one of the session may have come meanwhile.
      forget(write.id, write);
    }
  };

  const isOver = async (write: Write): Promise<boolean> => {
    try {
      await deps.write(write);
      return true;
    } catch (error) {
      // Anything else is a defect, which the store's own figures show; another try would end alike.
      return !isStoreFailure(error);
    }
  };

  const forget = (id: string, write?: Write): void => {
    for (const [keeper, line] of lines) {
      if (write === undefined || line.writes.get(id) === write) line.writes.delete(id);
      if (line.writes.size === 0) lines.delete(keeper);
    }
  };

  const forgetBeyond = (most: number): void => {
    const all = [...lines.values()].map(({ writes }) => writes);
    if (all.reduce((sum, { size }) => sum + size, 0) <= most) return;
    const longest = all.reduce((most, each) => (each.size > most.size ? each : most));
    const [oldest] = longest.keys();
    if (oldest !== undefined) forget(oldest);
  };

  return {
    add(write) {
      const keeper = keeperOf(write.project);
      const line = lines.get(keeper) ?? { writes: new Map<string, Write>(), since: monotonic() };
      forget(write.id);
      line.writes.set(write.id, write);
      lines.set(keeper, line);
      forgetBeyond(maxUnfinished);
      tryAgainLater();
    },
    has: (sessionId) => [...lines.values()].some(({ writes }) => writes.has(sessionId)),
    unfinishedFor(project) {
      const line = lines.get(keeperOf(project));
      return line === undefined ? 0 : monotonic() - line.since;
    },
    close() {
      isClosed = true;
      stop?.();
    },
  };
}

/** By what keeps the sessions now: a Cluster may have moved them, or put a follower in the place of a server. */
function regrouped<Write extends OfSession>(
  lines: ReadonlyMap<string, Line<Write>>,
  keeperOf: (project: ProjectRef) => string,
): Map<string, Line<Write>> {
  const keepers = new Map<string, string>();
  const found = new Map<string, Line<Write>>();
  for (const { writes, since } of lines.values()) {
    for (const write of writes.values()) {
      const project = keyOfProject(write.project);
      const keeper = keepers.get(project) ?? keeperOf(write.project);
      keepers.set(project, keeper);
      const line = found.get(keeper) ?? { writes: new Map<string, Write>(), since };
      line.since = Math.min(line.since, since);
      line.writes.set(write.id, write);
      found.set(keeper, line);
    }
  }
  return found;
}
