// Says how much is stored of a collection or a root key that nobody serves, as the operator's order asks: in small steps, since bytes that no
// quota asked for are not counted yet.

import type { KeptSize, SizeOrder } from "../../core/config/data-order.ts";
import type { ByteCounts, Sizes } from "../store/ports/sizes.ts";
import type { GoesOn } from "./purge-whole.ts";

/** Of one look; the next one goes on where it ended, and purges come in between. */
const maxSteps = 100;

/** Undefined when it was ended before all is counted. */
export async function measureKept(
  store: Sizes & ByteCounts,
  { of, project, name }: SizeOrder,
  goesOn: GoesOn,
): Promise<KeptSize | undefined> {
  if (of === "rootkey") return { objects: 0, bytes: (await store.documentSize({ project, rootKey: name })).bytes };
  const collection = { project, resource: name };
  for (let step = 0; step <= maxSteps; step += 1) {
    const { objects, bytes, isCounted } = await store.collectionSize(collection);
    // Counting what is gone would leave a key behind.
    if (objects === 0) return { objects, bytes: 0 };
    if (isCounted) return { objects, bytes };
    if (!(await goesOn())) return undefined;
    await store.countBytes(collection);
  }
  return undefined;
}
