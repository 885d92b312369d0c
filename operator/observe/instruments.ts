// Short ways to make metrics on one registry. Label values are a closed list each, such as kinds,
// results and reasons, or bounded in number, such as namespaces.

import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** One series. */
export interface Reading {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Instruments {
  counter(name: string, help: string, labels?: readonly string[]): Counter<string>;
  seconds(name: string, help: string, labels?: readonly string[]): Histogram<string>;
  /** Read when Prometheus asks; undefined = no series. */
  gauge(name: string, help: string, read: () => number | undefined): void;
  /** The same with labels. Series that are not among the readings any more are gone. */
  gauges(name: string, help: string, labels: readonly string[], read: () => Iterable<Reading>): void;
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600];

export function instrumentsOn(registry: Registry): Instruments {
  const registers = [registry];
  return {
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: [...labels], registers }),
    seconds: (name, help, labels = []) =>
      new Histogram({ name, help, labelNames: [...labels], buckets: secondsBuckets, registers }),
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          const value = read();
          if (value === undefined) this.remove();
          else this.set(value);
        },
      });
    },
    gauges(name, help, labels, read) {
      new Gauge<string>({
        name,
        help,
        labelNames: [...labels],
        registers,
        collect() {
          this.reset();
          for (const { labels: of, value } of read()) this.set(of, value);
        },
      });
    },
  };
}
