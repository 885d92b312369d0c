// What is published, over all projects, as a rotation of the ring needs to know it: which keys seal
// it, and since when all of it is sealed again.

import type { ProjectRef } from "../../core/config/types.ts";
import type { Publisher } from "../publish/publisher.ts";
import type { SealedConfig } from "./rotate-fleet-ring.ts";

export interface SealedConfigDeps {
  readonly publisher: Pick<Publisher, "published" | "sealedWith" | "newest">;
  /**
   * Publisher.reseal of one project, at a moment when nothing else publishes this project: it
   * writes what was published when it began. To order it for later is good enough: it is asked for
   * again while something is left.
   */
  readonly resealProject: (ref: ProjectRef) => Promise<unknown>;
  /** The ring's first. */
  readonly sealingKid: () => string;
}

export function createSealedConfig(deps: SealedConfigDeps): SealedConfig {
  const { publisher, resealProject, sealingKid } = deps;
  /** The newest revision when nothing was left to be sealed again. */
  let resealedAt: number | undefined;

  return {
    async sealedWith() {
      const kids = new Set<string>();
      for (const ref of await publisher.published()) for (const kid of await publisher.sealedWith(ref)) kids.add(kid);
      return kids;
    },
    async reseal() {
      resealedAt = undefined;
      for (const ref of await publisher.published()) {
        const kids = await publisher.sealedWith(ref);
        if (![...kids].every((kid) => kid === sealingKid())) await resealProject(ref);
      }
    },
    resealedAtRevision() {
      // Not the newest of each moment, which a busy fleet is never done with.
      resealedAt ??= publisher.newest();
      return resealedAt;
    },
  };
}
