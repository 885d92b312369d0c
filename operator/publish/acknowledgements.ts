// What the replicas have acknowledged, looked at often while somebody waits for it and now and then otherwise. While Redis is
// away the last look stands, and nothing new is programmed.

import { projectName } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Gateway } from "../../core/redis/gateway.ts";
import { pause, type Timers } from "../../core/timers.ts";
import { liveReplicas, type ReplicaState } from "./replicas.ts";

/** `programmed` = every live replica can no longer serve anything older than the revision. */
export type Reach = "programmed" | "waiting" | "no_replicas";

export interface ReplicaRefusal {
  /** `resource:<name>`, `rootkey:<name>`, `user:<hash>`, `key:<sha256>`, `project`, `signing`. */
  readonly field: string;
  readonly reason: string;
}

export interface Acknowledgements {
  /** As of the last look. */
  reachOf(revision: number): Reach;
  /** Fields of the project that some live replica can't use. */
  refusalsOf(ref: ProjectRef): readonly ReplicaRefusal[];
  /** Resolves when the revision is programmed, or with what holds after `withinMs`. Looks every 25 ms meanwhile. */
  reached(revision: number, withinMs: number, signal?: AbortSignal): Promise<Reach>;
  /** Names of the projects of which some live replica can't use a field. */
  refusedProjects(): ReadonlySet<string>;
  /** How many replicas are live, and how many fields they refuse, together. */
  figures(): { readonly live: number; readonly refusals: number };
  stop(): void;
}

export interface AcknowledgementsDeps {
  readonly gateway: Gateway;
  readonly timers: Timers;
  /** Told after a look that saw something else than the one before. */
  readonly onChange?: () => void;
}

const eagerMs = 25;
const idleMs = 1_000;

export function createAcknowledgements({ gateway, timers, onChange }: AcknowledgementsDeps): Acknowledgements {
  let replicas: readonly ReplicaState[] = [];
  let seen = "";
  let stopped = false;
  let stopTimer: (() => void) | undefined;
  /** One look at a time, whoever asks. */
  let looking: Promise<void> | undefined;

  const look = (): Promise<void> => {
    looking ??= liveReplicas(gateway)
      .then(
        (found) => {
          replicas = found;
          const now = JSON.stringify(found);
          if (now === seen || stopped) return;
          seen = now;
          onChange?.();
        },
        () => undefined,
      )
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
  const idle = (): void => {
    if (stopped) return;
    stopTimer = timers.after(idleMs, () => void look().then(idle));
  };
  void look().then(idle);

  const reachOf = (revision: number): Reach => {
    if (replicas.length === 0) return "no_replicas";
    return replicas.every((replica) => replica.revision >= revision) ? "programmed" : "waiting";
  };

  return {
    reachOf,
    refusalsOf(ref) {
      const project = projectName(ref);
      return replicas.flatMap(({ nacks }) => nacks.filter((nack) => nack.project === project));
    },
    async reached(revision, withinMs, signal) {
      let waited = 0;
      await look();
      while (reachOf(revision) !== "programmed" && waited < withinMs && !stopped && signal?.aborted !== true) {
        // Nobody to wait for: whoever comes reads the newest.
        if (reachOf(revision) === "no_replicas") break;
        await pause(timers, eagerMs, signal).catch(() => undefined);
        waited += eagerMs;
        await look();
      }
      return reachOf(revision);
    },
    refusedProjects: () => new Set(replicas.flatMap(({ nacks }) => nacks.map(({ project }) => project))),
    figures: () => ({
      live: replicas.length,
      refusals: replicas.reduce((sum, { nacks }) => sum + nacks.length, 0),
    }),
    stop() {
      stopped = true;
      stopTimer?.();
    },
  };
}
