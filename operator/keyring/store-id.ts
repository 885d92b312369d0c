// What an installation remembers of its store: annotations of the Secret of the fleet's key ring,
// which every backup holds and which is there before anything is written to Redis.

import { acceptLossAnnotation } from "../../core/config/store-fields.ts";
import type { KubeApi, ObjectName } from "../kube/api.ts";
import { annotationsOf, secretType, withAnnotations } from "../kube/objects.ts";
import type { DataLossPolicy, StoreIdentity } from "../publish/store-identity.ts";

const storeIdAnnotation = "jsonplane.io/store-id";
/**
 * The loss that was accepted last: its name is used up, also where a snapshot of Redis brings it
 * back.
 */
const acceptedLossAnnotation = "jsonplane.io/accepted-data-loss";

export interface StoreIdDeps {
  /** Bound to leadership. */
  readonly api: Pick<KubeApi, "get" | "replace">;
  readonly secret: ObjectName;
  readonly policy: DataLossPolicy;
}

export interface KeptStoreId extends StoreIdentity {
  /** The annotations that the Secret must have, also one that was recreated or overwritten. */
  annotations(): Readonly<Record<string, string>>;
}

export function createStoreId({ api, secret, policy }: StoreIdDeps): KeptStoreId {
  /** The Secret may be deleted while this process runs, which then recreates it. */
  const known = new Map<string, string>();
  const getAnnotation = async (name: string): Promise<string | undefined> =>
    annotationsOf(await api.get(secretType, secret))[name];
  const setAnnotation = async (name: string, value: string): Promise<void> => {
    const found = await api.get(secretType, secret);
    // Put back by a rotation's next look, with what annotations() says.
    if (found !== undefined) await api.replace(secretType, withAnnotations(found, { [name]: value }));
    known.set(name, value);
  };
  return {
    policy,
    async expected() {
      const id = known.get(storeIdAnnotation) ?? (await getAnnotation(storeIdAnnotation));
      if (id !== undefined) known.set(storeIdAnnotation, id);
      return id;
    },
    keep: (id) => setAnnotation(storeIdAnnotation, id),
    accepted: () => getAnnotation(acceptLossAnnotation),
    lastAccepted: async () => known.get(acceptedLossAnnotation) ?? (await getAnnotation(acceptedLossAnnotation)),
    keepAccepted: (loss) => setAnnotation(acceptedLossAnnotation, loss),
    annotations: () => Object.fromEntries(known),
  };
}
