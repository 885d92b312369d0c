// Whether the CustomResourceDefinition of a kind stands: one that is deleted takes all its objects
// along, which says nothing of them.

import { describeError } from "../../core/log/describe-error.ts";
import type { Kind } from "../../core/manifests/object.ts";
import type { Monotonic } from "../../core/timers.ts";
import type { KubeReader } from "../kube/api.ts";
import { customTypes, definitionType } from "../kube/objects.ts";
import { isDeleting } from "../model/project-objects.ts";

export interface Definitions {
  /**
   * True where the API server, asked after this call, has the definition and nobody deletes it.
   * False where it can't be asked.
   */
  stands(kind: Kind): Promise<boolean>;
}

export interface DefinitionsDeps {
  readonly api: Pick<KubeReader, "get">;
  /**
   * False where only some namespaces are watched: definitions belong to the cluster, and can't be
   * asked for.
   */
  readonly asks: boolean;
  readonly monotonic: Monotonic;
  /** Called with each answer, or failure, for which deletions wait. */
  readonly onWait: (kind: Kind, why: string) => void;
}

/** Thousands of Projects wait for one definition: they share the answer that it doesn't stand. */
const sharedMs = 2_000;

export function createDefinitions({ api, asks, monotonic, onWait }: DefinitionsDeps): Definitions {
  /** When a definition was found not to stand. */
  const missedAt = new Map<Kind, number>();

  /** Undefined = it stands. */
  const faultOf = async (kind: Kind): Promise<string | undefined> => {
    const { plural, group } = customTypes[kind];
    try {
      const found = await api.get(definitionType, { namespace: "", name: `${plural}.${group}` });
      if (found === undefined) return "missing";
      return isDeleting(found) ? "deleting" : undefined;
    } catch (error) {
      return describeError(error);
    }
  };

  return {
    async stands(kind) {
      const missed = missedAt.get(kind);
      if (!asks) return true;
      if (missed !== undefined && monotonic() - missed < sharedMs) return false;
      const fault = await faultOf(kind);
      if (fault === undefined) missedAt.delete(kind);
      else {
        missedAt.set(kind, monotonic());
        onWait(kind, fault);
      }
      return fault === undefined;
    },
  };
}
