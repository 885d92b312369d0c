// A page in order of creation, of a collection whose owners' entries are all there; throws where
// they are not.

import type { Store } from "../../../dataplane/store/port.ts";
import type { Page, PageRange } from "../../../dataplane/store/ports/lists.ts";
import type { CollectionRef, Visibility } from "../../../dataplane/store/ports/refs.ts";

export async function pageByCreation(
  store: Pick<Store, "pageByCreation">,
  collection: CollectionRef,
  visible: Visibility,
  range: PageRange,
): Promise<Page> {
  const { outcome, ...page } = await store.pageByCreation(collection, visible, range);
  if (outcome === "not_ready") throw new Error("The entries of owners are not ready");
  return page as Page;
}
