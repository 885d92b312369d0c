// Measures how long what objects have lost still works: from the event of a deletion, or of lowered
// access, until replicas have acknowledged what was published after it.

import type { Monotonic } from "../../core/timers.ts";
import type { ApiKey, CustomResource, Project, ProjectUser } from "../model/objects.ts";
import { isDeleting } from "../model/project-objects.ts";
import type { RolloutState } from "../publish/acknowledgements.ts";

export interface Revocations {
  /** An object of the Project `<namespace>/<name>` was deleted, or lost access. */
  wanted(key: string): void;
  /**
   * Runs a pass over the Project. What it publishes is without all that was lost before it began;
   * what it does not publish waits for the next one.
   */
  during<T>(key: string, pass: () => Promise<T>): Promise<T>;
  /** The pass has published that, by this revision. */
  published(key: string, revision: number): void;
  /** Replicas may have acknowledged more. */
  settle(): void;
  /** Since the oldest event that replicas have not acknowledged; 0 = there is none. */
  oldestSeconds(): number;
}

export interface RevocationsDeps {
  readonly monotonic: Monotonic;
  readonly rolloutOf: (revision: number) => RolloutState;
  readonly observe: (seconds: number) => void;
}

export function createRevocations({ monotonic, rolloutOf, observe }: RevocationsDeps): Revocations {
  /** By key, since when: for the next pass, and for the one under way. */
  const waiting = new Map<string, number>();
  const underWay = new Map<string, number>();
  let unacknowledged: readonly { readonly since: number; readonly revision: number }[] = [];

  const settle = (): void => {
    const { over = [], left = [] } = Object.groupBy(unacknowledged, ({ revision }) =>
      // Without a replica nobody serves it.
      rolloutOf(revision) === "waiting" ? "left" : "over",
    );
    unacknowledged = left;
    for (const { since } of over) observe((monotonic() - since) / 1000);
  };

  return {
    wanted(key) {
      if (!waiting.has(key)) waiting.set(key, monotonic());
    },
    async during(key, pass) {
      move(key, waiting, underWay);
      try {
        return await pass();
      } finally {
        move(key, underWay, waiting);
      }
    },
    published(key, revision) {
      const since = underWay.get(key);
      if (since !== undefined) unacknowledged = [...unacknowledged, { since, revision }];
      underWay.delete(key);
      // Replicas may serve all of it already: a pass need not change anything.
      settle();
    },
    settle,
    oldestSeconds() {
      settle();
      const moments = [...waiting.values(), ...underWay.values(), ...unacknowledged.map(({ since }) => since)];
      return moments.length === 0 ? 0 : (monotonic() - moments.reduce((a, b) => Math.min(a, b))) / 1000;
    },
  };
}

function move(key: string, from: Map<string, number>, to: Map<string, number>): void {
  const since = from.get(key);
  if (since !== undefined) to.set(key, since);
  from.delete(key);
}

export type WhyRevoked = "deleted" | "lowered";

/**
 * What is served of a suspended Project keeps the access that it had; only what is deleted ends.
 */
export function actsAtOnce(why: WhyRevoked, project: Project | undefined): boolean {
  return why === "deleted" || project?.spec.suspend !== true;
}

/** Whether something that the object had before is to be refused from now on. */
export function loses(object: CustomResource, before: CustomResource | undefined): boolean {
  if (before === undefined || isDeleting(before)) return false;
  if (isDeleting(object)) return true;
  if (isCredential(object) && isCredential(before)) {
    const { role, access } = object.spec;
    return (role === "Users" && before.spec.role !== role) || (access === "Read" && before.spec.access !== access);
  }
  if (object.kind !== "Project" || before.kind !== "Project") return false;
  const { serving } = object.spec;
  return serving !== before.spec.serving && (serving === "Off" || before.spec.serving === "ReadWrite");
}

function isCredential(object: CustomResource): object is ApiKey | ProjectUser {
  return object.kind === "ApiKey" || object.kind === "ProjectUser";
}
