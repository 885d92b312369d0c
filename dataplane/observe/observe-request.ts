// Turns the end of a request into its metrics, its usage figures and its log line: the one place that knows all three.

import { projectName } from "../../core/config/config-keys.ts";
import type { LiveProject } from "../config/directory.ts";
import type { Ending, Exchange } from "../http/exchange.ts";
import type { Target } from "../route/route.ts";
import type { AccessLog } from "./access-log.ts";
import type { Metrics } from "./metrics.ts";
import type { CounterSeries, HistogramSeries } from "./tallies.ts";
import { type Usage, unknownRootKey } from "./usage.ts";

export interface RequestObservers {
  readonly metrics: Metrics;
  readonly usage: Usage;
  readonly accessLog: AccessLog;
}

/** One kind of thing that requests are counted by: resources, or root keys. */
interface Family {
  requests(counted: Counted, status: number): CounterSeries;
  seconds(counted: Counted): HistogramSeries;
}

/** What one resource or root key is counted in, found once. */
interface Series {
  /** By method, then by status. */
  readonly requests: Map<string, Map<number, CounterSeries>>;
  readonly seconds: HistogramSeries;
}

interface Counted {
  readonly project: LiveProject;
  readonly name: string;
  readonly method: string;
}

const unknownName = unknownRootKey;
const otherMethod = "other";
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export interface RequestObserver {
  ended(exchange: Exchange, ending: Ending): void;
  /** What was refused before it was a request. */
  refused(requestId: string, ending: Omit<Ending, "seconds">): void;
}

export function createRequestObserver(observers: RequestObservers): RequestObserver {
  const { metrics, usage, accessLog } = observers;
  const countApi = createFamilyCounter({
    requests: (counted, status) =>
      metrics.apiRequests.series({ ...projectLabels(counted), resource: counted.name, method: counted.method, status }),
    seconds: (counted) => metrics.apiSeconds.series({ ...projectLabels(counted), resource: counted.name }),
  });
  const countKv = createFamilyCounter({
    requests: (counted, status) =>
      metrics.kvRequests.series({ ...projectLabels(counted), root_key: counted.name, method: counted.method, status }),
    seconds: (counted) => metrics.kvSeconds.series({ ...projectLabels(counted), root_key: counted.name }),
  });

  const countOther = (exchange: Exchange, method: string, ending: Ending): void => {
    const target = otherTarget(exchange);
    metrics.otherRequests.series({ target, method, status: ending.status }).increment();
    metrics.otherSeconds.series({ target }).observe(ending.seconds);
  };

  return {
    ended(exchange, ending) {
      const { project, target } = exchange;
      const method = methods.has(exchange.request.method) ? exchange.request.method : otherMethod;
      const name = project && target ? countedName(project, target) : undefined;
      if (!project || !target || name === undefined) countOther(exchange, method, ending);
      else if (target.kind === "document") {
        countKv({ project, name, method }, ending);
        usage.record(projectName(project.config), name, ending);
      } else countApi({ project, name, method }, ending);
      accessLog.request(exchange, ending);
    },
    refused(requestId, { status, code }) {
      metrics.otherRequests.series({ target: "(no request)", method: otherMethod, status }).increment();
      accessLog.refusal(requestId, { status, code });
    },
  };
}

/** The resource or root key that a request is counted under; undefined for all other requests. */
function countedName(project: LiveProject, target: Target): string | undefined {
  switch (target.kind) {
    case "collection":
    case "object":
      return project.resources.has(target.resource) ? target.resource : unknownName;
    case "document":
      return project.rootKeys.has(target.rootKey) ? target.rootKey : unknownName;
    default:
      return undefined;
  }
}

function createFamilyCounter(family: Family): (counted: Counted, ending: Ending) => void {
  const bound = new WeakMap<LiveProject, Map<string, Series>>();
  return (counted, ending) => {
    const series = seriesOf(bound, family, counted);
    let ofMethod = series.requests.get(counted.method);
    if (!ofMethod) {
      ofMethod = new Map();
      series.requests.set(counted.method, ofMethod);
    }
    let counter = ofMethod.get(ending.status);
    if (!counter) {
      counter = family.requests(counted, ending.status);
      ofMethod.set(ending.status, counter);
    }
    counter.increment();
    series.seconds.observe(ending.seconds);
  };
}

function seriesOf(bound: WeakMap<LiveProject, Map<string, Series>>, family: Family, counted: Counted): Series {
  let named = bound.get(counted.project);
  if (!named) {
    named = new Map();
    bound.set(counted.project, named);
  }
  let series = named.get(counted.name);
  if (!series) {
    series = { requests: new Map(), seconds: family.seconds(counted) };
    named.set(counted.name, series);
  }
  return series;
}

function projectLabels({ project }: Counted): { readonly namespace: string; readonly project: string } {
  return { namespace: project.config.namespace, project: project.config.name };
}

function otherTarget({ project, target }: Exchange): string {
  if (!project) return "(no project)";
  return target?.kind ?? "(no target)";
}
