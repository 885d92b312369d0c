// Counters and histograms whose series are counted with one addition: prom-client builds and hashes a text of all labels at each
// observation, which took a seventh of a small request. They are registered with prom-client, which writes them out.

import type { Metric, Registry } from "prom-client";

type Labels<L extends string> = Readonly<Record<L, string | number>>;

interface Value {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

interface TallyOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  readonly registers: readonly Registry[];
}

/** What a registry asks of a metric. Code that counts often keeps the series. */
abstract class Tally<L extends string, S> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  readonly aggregator = "sum";
  abstract readonly type: "counter" | "histogram";
  readonly #series = new Map<string, S>();

  constructor({ name, help, labelNames, registers }: TallyOptions<L>) {
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    // prom-client's types name its own classes only.
    for (const registry of registers) registry.registerMetric(this as unknown as Metric);
  }

  /** The one series of these labels. */
  series(labels: Labels<L>): S {
    const key = JSON.stringify(this.labelNames.map((name) => labels[name]));
    let series = this.#series.get(key);
    if (series === undefined) {
      series = this.begin(labels);
      this.#series.set(key, series);
    }
    return series;
  }

  async get() {
    const { name, help, type, aggregator } = this;
    return {
      name,
      help,
      type,
      aggregator,
      values: [...this.#series.values()].flatMap((series) => this.values(series)),
    };
  }

  protected abstract begin(labels: Labels<L>): S;
  protected abstract values(series: S): readonly Value[];
}

export class CounterSeries {
  readonly labels: Value["labels"];
  value = 0;

  constructor(labels: Value["labels"]) {
    this.labels = labels;
  }

  increment(): void {
    this.value += 1;
  }
}

export class CounterTally<L extends string> extends Tally<L, CounterSeries> {
  readonly type = "counter";

  protected begin(labels: Labels<L>): CounterSeries {
    return new CounterSeries(labels);
  }

  protected values({ labels, value }: CounterSeries): readonly Value[] {
    return [{ labels, value }];
  }
}

export class HistogramSeries {
  readonly labels: Value["labels"];
  readonly #bounds: readonly number[];
  /** How many were at most each bound and above the one before; the last one is of what is above all. */
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: Value["labels"], bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at += 1;
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#sum += value;
  }

  /** As Prometheus wants them: each bucket with all that is below it. */
  values(name: string): readonly Value[] {
    let count = 0;
    const buckets = this.#counts.map((own, at) => {
      count += own;
      return { metricName: `${name}_bucket`, labels: { le: this.#bounds[at] ?? "+Inf", ...this.labels }, value: count };
    });
    const sum = { metricName: `${name}_sum`, labels: this.labels, value: this.#sum };
    return [...buckets, sum, { metricName: `${name}_count`, labels: this.labels, value: count }];
  }
}

export class HistogramTally<L extends string> extends Tally<L, HistogramSeries> {
  readonly type = "histogram";
  readonly #bounds: readonly number[];

  /** `buckets`: upper bounds, ascending. */
  constructor(options: TallyOptions<L> & { readonly buckets: readonly number[] }) {
    super(options);
    this.#bounds = options.buckets;
  }

  protected begin(labels: Labels<L>): HistogramSeries {
    return new HistogramSeries(labels, this.#bounds);
  }

  protected values(series: HistogramSeries): readonly Value[] {
    return series.values(this.name);
  }
}
