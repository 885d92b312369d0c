// A loss of the stored data, as the leader reports it and as a person accepts it for the whole
// installation: docs/adr/0039.

import { acceptLossAnnotation } from "../../core/config/store-fields.ts";
import type { KeptStoreId } from "../keyring/store-id.ts";
import type { Publisher } from "../publish/publisher.ts";
import type { OperatorContext } from "./operator-context.ts";

/** At each begin of a leader. */
export function reportDataLoss(publisher: Publisher, { logger, audit, settings }: OperatorContext): void {
  const loss = publisher.dataLoss();
  if (loss !== undefined) {
    const advice = `Restore Redis from a backup, or accept the loss: ${acceptLossAnnotation}: "${loss}" on the Secret of the key ring`;
    logger.error("Redis lost the stored data; requests for data are refused", { loss, advice });
  } else if (publisher.hasOtherStore()) {
    logger.warn("Redis lost the stored data; serving it as it is");
    audit.write({
      action: "data_loss_accepted",
      facts: { why: settings.onDataLoss === "Serve" ? "Serve" : "Adopted" },
    });
  }
}

/** True when the loss was accepted just now, by the annotation of the Secret. */
export async function acceptAnnotatedLoss(
  publisher: Publisher,
  store: Pick<KeptStoreId, "accepted">,
  { audit }: Pick<OperatorContext, "audit">,
): Promise<boolean> {
  const loss = publisher.dataLoss();
  if (loss === undefined || (await store.accepted()) !== loss) return false;
  await publisher.acceptLoss();
  audit.write({ action: "data_loss_accepted", facts: { loss, why: "Annotated" } });
  return true;
}
