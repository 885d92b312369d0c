// The objects that Projects store, as series: one for each Project, so that costs can be shared out, and no more than Prometheus can bear.

import { projectOfKey } from "../../core/config/config-keys.ts";

export interface StoredSeries {
  readonly namespace: string;
  readonly project: string;
  readonly count: number;
}

/** As many Projects as one installation is made for. */
const maxSeries = 10_000;

/** `counts` by `<namespace>/<name>`. By name, so that the same Projects have a series each time; all others are added up in one. */
export function storedSeriesOf(counts: ReadonlyMap<string, number>, max = maxSeries): readonly StoredSeries[] {
  const all = counts.size > max ? [...counts].sort(([one], [other]) => (one < other ? -1 : 1)) : [...counts];
  const series = all.slice(0, max).map(([key, count]) => {
    const { namespace, name } = projectOfKey(key);
    return { namespace, project: name, count };
  });
  const others = all.slice(max);
  if (others.length === 0) return series;
  const count = others.reduce((sum, [, each]) => sum + each, 0);
  return [...series, { namespace: "(others)", project: "(others)", count }];
}
