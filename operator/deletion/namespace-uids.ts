// Says of which namespace a Project is, by UID: data belong to it, and never to a later one of its
// name. A Project never leaves its namespace, so the UID in the data inventory of this very Project
// is proof. Without one, or while it is being deleted, the API server is asked in each pass. Where
// there is no Project, the watch is enough if it has the namespace.

import type { KubeReader } from "../kube/api.ts";
import { namespaceType } from "../kube/objects.ts";
import { isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import type { PublishedProject } from "../publish/writer-session.ts";

export interface NamespaceUids {
  /** Undefined when there is no such namespace. Throws the failure of the API server. */
  of(objects: ProjectObjects, published: PublishedProject): Promise<string | undefined>;
}

export interface NamespaceUidsDeps {
  readonly api: Pick<KubeReader, "get">;
  /** UID of the namespace in the watch cache; undefined = it is not there. */
  readonly watched: (namespace: string) => string | undefined;
}

export function createNamespaceUids({ api, watched }: NamespaceUidsDeps): NamespaceUids {
  return {
    async of({ ref: { namespace }, project }, published) {
      const known = project === undefined ? watched(namespace) : publishedUid(project.metadata.uid, published);
      // A Project whose deletion waits may outlive its namespace.
      if (known !== undefined && (project === undefined || !isDeleting(project))) return known;
      return (await api.get(namespaceType, { namespace: "", name: namespace }))?.metadata.uid;
    },
  };
}

/** UID of the namespace that this very Project was published from. */
function publishedUid(projectUid: string, { data }: PublishedProject): string | undefined {
  if (data === undefined || data.projectUid !== projectUid) return undefined;
  const own = data.entries.filter(({ purgeFromRevision }) => purgeFromRevision === undefined);
  const uids = new Set(own.map(({ namespaceUid }) => namespaceUid));
  return uids.size === 1 ? uids.values().next().value : undefined;
}
