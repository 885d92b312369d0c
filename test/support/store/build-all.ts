// Builds what a collection's indexes lack, as the preparer of a replica does. Rejects where that
// never comes to an end.

import type { Store } from "../../../dataplane/store/port.ts";
import type { CollectionRef } from "../../../dataplane/store/ports/refs.ts";

/** Calls until nothing is building; another replica at work makes it wait. */
export async function buildAll(store: Store, collection: CollectionRef): Promise<void> {
  for (let calls = 0; calls < 10_000; calls += 1) {
    const progress = await store.buildIndexes(collection);
    if (progress === "done") return;
    if (progress === "busy") await new Promise((resume) => setTimeout(resume, 5));
  }
  throw new Error("The indexes are never built");
}
