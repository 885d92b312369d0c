// Says of which namespace a Project is, by UID: data belong to it, and never to a later one of its name. What is watched may be
// behind, so that it counts only where it agrees with what was published; else the API server is asked.

import type { ProjectRef } from "../../core/config/types.ts";
import type { KubeReader } from "../kube/api.ts";
import { namespaceType } from "../kube/resource-types.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import type { PublishedProject } from "../model/published-project.ts";

export interface NamespaceUids {
  /** Undefined when there is no such namespace. Throws the failure of the API server. */
  of(objects: ProjectObjects, published: PublishedProject): Promise<string | undefined>;
}

export interface NamespaceUidsDeps {
  readonly api: Pick<KubeReader, "get">;
  /** As far as it is watched. */
  readonly watched: (namespace: string) => string | undefined;
}

export function createNamespaceUids({ api, watched }: NamespaceUidsDeps): NamespaceUids {
  /** UID of a Project → of its namespace, where the watch says another. A Project never leaves its namespace. */
  const proven = new Map<string, string>();

  const ask = async ({ namespace }: ProjectRef): Promise<string | undefined> =>
    (await api.get(namespaceType, { namespace: "", name: namespace }))?.metadata.uid;

  return {
    async of({ ref, project }, published) {
      const seen = watched(ref.namespace);
      if (seen === undefined) return await ask(ref);
      if (project === undefined) return seen;
      const { uid } = project.metadata;
      const known = proven.get(uid);
      if (known !== undefined && known !== seen) return known;
      proven.delete(uid);
      if (agrees(seen, uid, published)) return seen;
      const live = await ask(ref);
      if (live !== undefined && live !== seen) proven.set(uid, live);
      return live;
    },
  };
}

/** The Project was published of this very namespace: it is not a new one in a later namespace, nor was it taken for one. */
function agrees(namespaceUid: string, projectUid: string, { parts, data }: PublishedProject): boolean {
  if ((parts?.project.uid ?? data?.projectUid) !== projectUid) return false;
  return (data?.entries ?? []).every(
    (entry) => entry.namespaceUid === namespaceUid || entry.purgeFromRevision !== undefined,
  );
}
