// Which store this installation's data are in, as it remembers across its restarts, and what is to
// be done when Redis is another one.

import { randomUUID } from "node:crypto";
import type { ExpectedStore } from "./publish-scripts.ts";

export type DataLossPolicy = "Refuse" | "Serve";

export interface StoreIdentity {
  readonly policy: DataLossPolicy;
  /** Undefined = none is known yet. */
  expected(): Promise<string | undefined>;
  /** Remembers the id of the store that was found, or made. */
  keep(id: string): Promise<void>;
  /** Name of the loss that a person has accepted for the whole installation. */
  accepted(): Promise<string | undefined>;
  /** Name of the loss that was accepted last for the whole installation. */
  lastAccepted(): Promise<string | undefined>;
  /** Remembers that this loss is accepted. */
  keepAccepted(loss: string): Promise<void>;
}

/** `accepts` = a person allowed taking this Redis as it is. */
export async function expectedStore(
  identity: StoreIdentity,
  { accepts }: { readonly accepts: boolean },
): Promise<ExpectedStore> {
  const made = { newId: randomUUID(), loss: randomUUID().slice(0, 8) };
  const strict = accepts ? "accept" : "refuse";
  const policy = identity.policy === "Serve" ? "serve" : strict;
  return { policy, id: await identity.expected(), lastAccepted: await identity.lastAccepted(), ...made };
}
