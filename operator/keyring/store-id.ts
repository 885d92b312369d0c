// What an installation remembers of its store: annotations of the Secret of the fleet's key ring, which every backup holds and which
// is there before anything is written to Redis.

import { acceptLossAnnotation } from "../../core/config/store-fields.ts";
import { annotationsOf, withAnnotations } from "../kube/annotations.ts";
import type { KubeApi, ObjectName } from "../kube/api.ts";
import { secretType } from "../kube/resource-types.ts";
import type { DataLossPolicy, StoreIdentity } from "../publish/store-identity.ts";

export const storeIdAnnotation = "jsonplane.io/store-id";

export interface StoreIdDeps {
  /** Bound to leadership. */
  readonly api: Pick<KubeApi, "get" | "replace">;
  readonly secret: ObjectName;
  readonly policy: DataLossPolicy;
}

export interface KeptStoreId extends StoreIdentity {
  /** Writes an annotation of the Secret, and remembers it for a Secret that is made anew. */
  note(name: string, value: string): Promise<void>;
  /** What an annotation of the Secret says now. */
  noted(name: string): Promise<string | undefined>;
  /** What the Secret has to say, also one that is made anew or that somebody wrote over. */
  annotations(): Readonly<Record<string, string>>;
}

export function createStoreId({ api, secret, policy }: StoreIdDeps): KeptStoreId {
  /** The Secret may be deleted while this process runs, and is made anew by it. */
  const known = new Map<string, string>();
  const noted = async (name: string): Promise<string | undefined> =>
    annotationsOf(await api.get(secretType, secret))[name];
  const note = async (name: string, value: string): Promise<void> => {
    const found = await api.get(secretType, secret);
    // Put back by a rotation's next look, with what annotations() says.
    if (found !== undefined) await api.replace(secretType, withAnnotations(found, { [name]: value }));
    known.set(name, value);
  };
  return {
    policy,
    note,
    noted,
    async expected() {
      const id = known.get(storeIdAnnotation) ?? (await noted(storeIdAnnotation));
      if (id !== undefined) known.set(storeIdAnnotation, id);
      return id;
    },
    keep: (id) => note(storeIdAnnotation, id),
    accepted: () => noted(acceptLossAnnotation),
    annotations: () => Object.fromEntries(known),
  };
}
