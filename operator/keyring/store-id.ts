// What an installation remembers of its store: annotations of the Secret of the fleet's key ring, which every backup holds and which
// is there before anything is written to Redis.

import { acceptLossAnnotation } from "../../core/config/store-fields.ts";
import type { KubeApi, KubeObject, ObjectName } from "../kube/api.ts";
import { secretType } from "../kube/resource-types.ts";
import type { DataLossPolicy, StoreIdentity } from "../publish/store-identity.ts";
import { withAnnotations } from "./ring-secret.ts";

export const storeIdAnnotation = "jsonplane.io/store-id";

export interface StoreIdDeps {
  /** Bound to leadership. */
  readonly api: Pick<KubeApi, "get" | "replace">;
  readonly secret: ObjectName;
  readonly policy: DataLossPolicy;
}

export interface KeptStoreId extends StoreIdentity {
  /** What the Secret has to say, also one that is made anew or that somebody wrote over. */
  annotations(): Readonly<Record<string, string>>;
}

export function createStoreId({ api, secret, policy }: StoreIdDeps): KeptStoreId {
  /** The Secret may be deleted while this process runs, and is made anew by it. */
  let known: string | undefined;
  const noted = async (name: string): Promise<string | undefined> => notesOf(await api.get(secretType, secret))[name];
  return {
    policy,
    async expected() {
      known ??= await noted(storeIdAnnotation);
      return known;
    },
    async keep(id) {
      const found = await api.get(secretType, secret);
      // Put back by a rotation's next look, with what annotations() says.
      if (found !== undefined) await api.replace(secretType, withAnnotations(found, { [storeIdAnnotation]: id }));
      known = id;
    },
    accepted: () => noted(acceptLossAnnotation),
    annotations: () => (known === undefined ? {} : { [storeIdAnnotation]: known }),
  };
}

function notesOf(secret: KubeObject | undefined): Readonly<Record<string, string>> {
  return (secret?.metadata.annotations ?? {}) as Readonly<Record<string, string>>;
}
