// PromQL that several panels share.

export interface Counted {
  readonly metric: string;
  readonly selector: string;
  readonly by: readonly string[];
  /** `1h`, `5m` */
  readonly window: string;
}

/**
 * How much a counter counted within the window. `increase` alone misses what a series counts before its first scrape, which is all
 * there is where somebody asks once: a series that wasn't there when the window began adds what it began with.
 */
export function counted({ metric, selector, by, window }: Counted): string {
  const series = `${metric}{${selector}}`;
  const begun = `(min_over_time(${series}[${window}]) unless ${series} offset ${window})`;
  return `sum by (${by.join(", ")}) ((increase(${series}[${window}]) + ${begun}) or increase(${series}[${window}]) or ${begun})`;
}

/** Seconds on average within the window; nothing where there was no request. */
export function meanSeconds({ metric, selector, by, window }: Counted): string {
  const part = (suffix: string): string => counted({ metric: `${metric}_${suffix}`, selector, by, window });
  return `${part("sum")} / (${part("count")} > 0)`;
}

export function quantile(part: number, { metric, selector, by, window }: Counted): string {
  const labels = ["le", ...by].join(", ");
  return `histogram_quantile(${part}, sum by (${labels}) (rate(${metric}_bucket{${selector}}[${window}])))`;
}
