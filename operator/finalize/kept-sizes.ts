// Has replicas measure data that are kept, a few at a time: the operator can't reach them. What was
// found is on record with the next look at the project, and does not change from then on, since no
// replica writes data that it does not serve.

import { keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import type { KeptSize } from "../../core/config/data-order.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { type DataEntry, type DataRecord, isDataKept } from "../model/data-record.ts";
import type { RolloutState } from "../publish/acknowledgements.ts";
import type { Purges } from "../publish/purges.ts";
import { entryKeyOf } from "./data-plan.ts";

export interface KeptSizes {
  /** What was measured of the project's data and may not be on record yet, by entry. */
  of(project: ProjectRef): ReadonlyMap<string, KeptSize>;
  /** Takes up what was measured, and orders the next measurements. */
  look(config: MeasuringConfig): Promise<void>;
}

export interface MeasuringConfig {
  readonly purges: Pick<Purges, "order" | "forget" | "sizes">;
  readonly records: ReadonlyMap<string, DataRecord>;
  /** The rollout state of everything that was published until now. */
  readonly rollout: RolloutState;
}

export interface KeptSizesDeps {
  readonly hasProject: (key: string) => boolean;
  /**
   * False of a project that is never looked at: its namespace is not known, or another
   * installation looks after its Project.
   */
  readonly looksAt: (key: string) => boolean;
  /** Has the project looked at. */
  readonly enqueue: (key: string) => void;
}

/** Replicas read all orders with every look. */
const maxOrders = 50;

interface Unmeasured {
  readonly key: string;
  readonly entry: DataEntry;
}

export function createKeptSizes({ hasProject, looksAt, enqueue }: KeptSizesDeps): KeptSizes {
  let found: ReadonlyMap<string, ReadonlyMap<string, KeptSize>> = new Map();

  return {
    of: (project) => found.get(keyOfProject(project)) ?? new Map(),
    async look({ purges, records, rollout }) {
      const known = [...records].filter(([key]) => looksAt(key));
      const unmeasured = unmeasuredOf(known, hasProject);
      const ordered = await purges.sizes();
      // It is on record, or the data are kept no more.
      for (const id of ordered.keys()) if (!unmeasured.has(id)) await purges.forget(id);
      found = measuredOf(ordered, unmeasured);
      for (const key of found.keys()) enqueue(key);
      // A replica that still serves them may take another write.
      if (rollout !== "programmed") return;
      const next = [...unmeasured].filter(([id]) => !ordered.has(id)).slice(0, Math.max(0, maxOrders - ordered.size));
      for (const [id, { key, entry }] of next) {
        await purges.order(id, { what: "size", of: entry.what, project: projectOfKey(key), name: entry.name });
      }
    },
  };
}

function measuredOf(
  ordered: ReadonlyMap<string, KeptSize | undefined>,
  unmeasured: ReadonlyMap<string, Unmeasured>,
): ReadonlyMap<string, ReadonlyMap<string, KeptSize>> {
  const sizes = new Map<string, Map<string, KeptSize>>();
  for (const [id, size] of ordered) {
    const measured = unmeasured.get(id);
    if (measured !== undefined && size !== undefined) put(sizes, measured, size);
  }
  return sizes;
}

function put(sizes: Map<string, Map<string, KeptSize>>, { key, entry }: Unmeasured, size: KeptSize): void {
  const ofProject = sizes.get(key) ?? new Map<string, KeptSize>();
  sizes.set(key, ofProject.set(entryKeyOf(entry), size));
}

/** By id of the order: another one when the same data are kept a second time. */
function unmeasuredOf(
  records: Iterable<readonly [string, DataRecord]>,
  hasProject: KeptSizesDeps["hasProject"],
): ReadonlyMap<string, Unmeasured> {
  const unmeasured = new Map<string, Unmeasured>();
  for (const [key, { entries }] of records) {
    for (const entry of entries) {
      if (entry.size !== undefined || !isDataKept(entry, { hasProject: hasProject(key) })) continue;
      unmeasured.set(`${entry.uid}:size:${entry.retainedAt ?? ""}`, { key, entry });
    }
  }
  return unmeasured;
}
