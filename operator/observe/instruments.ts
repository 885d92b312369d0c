// Short ways to make metrics on one registry. Label values are a closed list each, such as kinds, results and reasons, or
// bounded in number, such as namespaces.

import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Read when Prometheus asks; each entry is one series. */
export type Readings = Iterable<{ readonly labels?: Readonly<Record<string, string>>; readonly value: number }>;

export interface Instruments {
  counter(name: string, help: string, labels?: readonly string[]): Counter<string>;
  seconds(name: string, help: string, labels?: readonly string[]): Histogram<string>;
  /** Series that are not among the readings any more are gone. */
  read(
    metric: { readonly name: string; readonly help: string; readonly labels?: readonly string[] },
    read: () => Readings,
  ): void;
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600];

export function instrumentsOn(registry: Registry): Instruments {
  const registers = [registry];
  return {
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: [...labels], registers }),
    seconds: (name, help, labels = []) =>
      new Histogram({ name, help, labelNames: [...labels], buckets: secondsBuckets, registers }),
    read({ name, help, labels = [] }, read) {
      new Gauge<string>({
        name,
        help,
        labelNames: [...labels],
        registers,
        collect() {
          this.reset();
          // One without labels is there from the beginning, and `reset` leaves it at 0.
          if (labels.length === 0) this.remove();
          for (const { labels: of = {}, value } of read()) this.set(of, value);
        },
      });
    },
  };
}
