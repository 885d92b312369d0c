// Sums up what is kept of stored data without being served, for metrics that have no series of a single Project.

import { type DataRecord, isDataKept } from "../model/data-record.ts";

export interface KeptFigures {
  /** Projects of which something is kept, whether they are there or not. */
  readonly projects: number;
  /** Collections and root keys that are kept, measured and not. */
  readonly measured: number;
  readonly unmeasured: number;
  /** The bytes of those that were measured. */
  readonly bytes: number;
}

export const nothingKept: KeptFigures = { projects: 0, measured: 0, unmeasured: 0, bytes: 0 };

export function keptFigures(
  records: ReadonlyMap<string, DataRecord>,
  hasProject: (key: string) => boolean,
): KeptFigures {
  const figures = { ...nothingKept };
  for (const [key, { entries }] of records) {
    const kept = entries.filter((entry) => isDataKept(entry, { hasProject: hasProject(key) }));
    const sizes = kept.flatMap(({ size }) => (size === undefined ? [] : [size.bytes]));
    figures.projects += kept.length > 0 ? 1 : 0;
    figures.measured += sizes.length;
    figures.unmeasured += kept.length - sizes.length;
    figures.bytes += sizes.reduce((sum, bytes) => sum + bytes, 0);
  }
  return figures;
}
