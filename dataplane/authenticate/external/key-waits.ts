// What happens to requests whose token names a missing key. The operator is asked for it, at most
// once a minute for each issuer (more often in dev mode). The requests wait for two seconds at
// most, until the configuration changes; later ones in that minute are refused at once. A wrong
// signature asks for the keys too, without a wait.

import { keyOfProject } from "../../../core/config/config-keys.ts";
import type { IssuerConfig } from "../../../core/config/types.ts";
import type { WantedKeys } from "../../../core/config/wanted-keys.ts";
import { recentlyUsed } from "../../../core/recently-used.ts";
import type { Timers } from "../../../core/timers.ts";
import type { Directory, LiveProject } from "../../config/directory.ts";

interface KeyWaits {
  /**
   * The issuer once its configuration is no longer `issuer`; undefined when that took too long, or
   * the issuer is gone. Undefined instead of a promise where the request does not wait.
   */
  nextOf(project: LiveProject, issuer: IssuerConfig): Promise<IssuerConfig | undefined> | undefined;
  /** Asks the operator for the issuer's keys, unless somebody has in this minute. */
  want(project: LiveProject, issuer: IssuerConfig): void;
  close(): void;
}

interface KeyWaitsDeps {
  readonly directory: Pick<Directory, "project" | "onChange">;
  readonly timers: Timers;
  readonly monotonic: () => number;
  /** Called with missing keys. */
  readonly wantKeys: (wanted: WantedKeys) => void;
  /** Milliseconds between two such calls for one issuer. */
  readonly betweenWantsMs: number;
}

export const waitMs = 2_000;
/** Requests that wait for one issuer; each occupies its connection. */
export const maxWaiting = 100;
/** Issuers whose last request for keys is remembered. */
const maxRemembered = 10_000;

interface Waiter {
  readonly project: LiveProject;
  readonly issuer: IssuerConfig;
  readonly resolve: (issuer: IssuerConfig | undefined) => void;
}

interface Wait {
  readonly project: string;
  readonly since: number;
  readonly waiters: Set<Waiter>;
  stopTimer: () => void;
}

export function createKeyWaits({ directory, timers, monotonic, wantKeys, betweenWantsMs }: KeyWaitsDeps): KeyWaits {
  const last = recentlyUsed<Wait>(maxRemembered);
  /** Those whose two seconds are not over. */
  const open = new Set<Wait>();

  const end = (wait: Wait): void => {
    open.delete(wait);
    wait.stopTimer();
    for (const { resolve } of wait.waiters) resolve(undefined);
    wait.waiters.clear();
  };

  const begin = (project: string, issuer: IssuerConfig): Wait => {
    const wait: Wait = { project, since: monotonic(), waiters: new Set(), stopTimer: () => undefined };
    last.set(`${project} ${issuer.name}`, wait);
    open.add(wait);
    wait.stopTimer = timers.after(waitMs, () => end(wait));
    wantKeys({ project, issuer: issuer.name });
    return wait;
  };

  /** Undefined while it is the same, and where that can't be known. */
  const changedOf = async ({
    project,
    issuer,
  }: Omit<Waiter, "resolve">): Promise<{ now: IssuerConfig | undefined } | undefined> => {
    const found = await directory.project(project.config);
    if (found.outcome === "unavailable") return undefined;
    // A Project that was deleted and created again under the name is another one.
    const isSame = found.outcome === "found" && found.value.config.uid === project.config.uid;
    const now = isSame ? found.value.issuers.get(issuer.url) : undefined;
    return now === issuer ? undefined : { now };
  };

  /** Does nothing for a request that was answered. */
  const checkAgain = async (wait: Wait, waiter: Waiter): Promise<void> => {
    const changed = await changedOf(waiter);
    if (changed !== undefined && wait.waiters.delete(waiter)) waiter.resolve(changed.now);
  };

  // Look-ups change in the same step, so this may come before them: `checkAgain` runs later.
  const stop = directory.onChange((name) => {
    for (const wait of open) {
      if (wait.project !== name) continue;
      for (const waiter of wait.waiters) queueMicrotask(() => void checkAgain(wait, waiter));
    }
  });

  /** Of this minute. */
  const recentOf = (project: LiveProject, issuer: IssuerConfig): Wait | undefined => {
    const known = last.get(`${keyOfProject(project.config)} ${issuer.name}`);
    return known !== undefined && monotonic() - known.since < betweenWantsMs ? known : undefined;
  };

  return {
    want(project, issuer) {
      if (recentOf(project, issuer) === undefined) begin(keyOfProject(project.config), issuer);
    },
    nextOf(project, issuer) {
      const recent = recentOf(project, issuer);
      if (recent !== undefined && (!open.has(recent) || recent.waiters.size >= maxWaiting)) return undefined;
      const wait = recent ?? begin(keyOfProject(project.config), issuer);
      return new Promise((resolve) => {
        const waiter = { project, issuer, resolve };
        wait.waiters.add(waiter);
        // It may have changed since the request began.
        void checkAgain(wait, waiter);
      });
    },
    close() {
      stop();
      for (const wait of open) end(wait);
    },
  };
}
