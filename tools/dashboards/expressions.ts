// PromQL that several panels share.

export interface Counted {
  readonly metric: string;
  readonly selector: string;
  readonly by: readonly string[];
  /** `1h`, `5m` */
  readonly window: string;
}

/** The slowest scrape interval that first values are known with. */
const scrapeSeconds = 120;

/**
 * How much a counter of the data plane counted within the window, exact: its last value less the
 * one that it entered the window with, so that steps of one window each add up to the whole.
 * `increase` alone misses what a series counts before its first scrape, which is all there is where
 * somebody asks once, and extrapolates the rest. By series, the first that applies:
 *
 * 1. it fell within the window (the container was restarted): Prometheus' estimate;
 * 2. it was there when the window began: the difference;
 * 3. it was not there, though its replica was scraped then or did not run yet: all that it counted;
 * 4. nothing was scraped when the window began: Prometheus' estimate of what was seen. The series
 *    may count since weeks ago.
 */
export function counted({ metric, selector, by, window }: Counted): string {
  const series = `${metric}{${selector}}`;
  const estimate = `increase(${series}[${window}])`;
  const last = `last_over_time(${series}[${window}])`;
  const looked = `jsonplane_projects offset ${window}`;
  const startedWithin = `process_start_time_seconds > time() - ${secondsOf(window) + scrapeSeconds}`;
  const ways = [
    `(${estimate} and resets(${series}[${window}]) > 0)`,
    `(${last} - ${series} offset ${window} >= 0)`,
    `(${last} unless ${series} offset ${window} and on (instance) (${looked} or ${startedWithin}))`,
    estimate,
  ];
  return `sum by (${by.join(", ")}) (${ways.join(" or ")})`;
}

function secondsOf(window: string): number {
  const [, count, unit] = /^(\d+)([smh])$/.exec(window) ?? [];
  if (count === undefined || unit === undefined) throw new Error(`${window} is no window like 5m`);
  return Number(count) * { s: 1, m: 60, h: 3600 }[unit as "s" | "m" | "h"];
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
