// What a reflector is created with, and what it reports of its work.

import type { Monotonic, Timers } from "../../core/timers.ts";
import type { KubeObject, KubeReader, ListScope, ResourceType } from "../kube/api.ts";
import type { WatchSink } from "./object-cache.ts";
import type { WatchTimes } from "./watch-times.ts";

export type ReflectorObservation =
  /**
   * `differences` to what was kept; after the first list, each is something that no watch had
   * delivered.
   */
  | { readonly what: "listed"; readonly objects: number; readonly differences: number; readonly first: boolean }
  /** The server has answered a watch. */
  | { readonly what: "watching" }
  /** The server has forgotten where the watch was: 410. */
  | { readonly what: "gone" }
  /** Not a byte for too long; the watch is replaced. */
  | { readonly what: "silent" }
  | { readonly what: "failed"; readonly error: unknown; readonly pauseMs: number }
  /**
   * A list lacks most or all of what is known: nothing is taken out before a second one says the
   * same.
   */
  /**
   * Looked at on purpose; so many objects were `behind` what the server has, and no watch had
   * delivered them.
   */
  | { readonly what: "compared"; readonly behind: number }
  | { readonly what: "sinkFailed"; readonly error: unknown };

export interface ReflectorOptions {
  readonly reader: KubeReader;
  readonly type: ResourceType;
  readonly scope: ListScope;
  readonly sink: WatchSink;
  /** What is kept of an object as the server sends it; absent = all. */
  readonly keep?: ((object: KubeObject) => KubeObject) | undefined;
  readonly timers: Timers;
  readonly monotonic: Monotonic;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly observe: (observation: ReflectorObservation) => void;
  readonly times?: Partial<WatchTimes>;
}
