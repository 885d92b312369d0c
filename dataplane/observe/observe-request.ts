// Turns the end of a request into its metrics, its usage figures and its log line: the one place that knows all three.

import { projectName } from "../../core/config/config-keys.ts";
import type { AnswerBudget } from "../admission/memory-budgets.ts";
import type { LiveProject } from "../config/directory.ts";
import type { Ending, Exchange, RequestCounters } from "../http/exchange.ts";
import type { Target } from "../route/route.ts";
import type { AccessLog } from "./access-log.ts";
import type { Metrics } from "./metrics.ts";
import type { CounterSeries, HistogramSeries } from "./tallies.ts";
import { type Usage, unknownRootKey } from "./usage.ts";

export interface RequestObservers {
  readonly metrics: Metrics;
  readonly usage: Usage;
  readonly accessLog: AccessLog;
  /** Where answers are counted until they are handed over. */
  readonly answers: Pick<AnswerBudget<Exchange>, "ended">;
}

/** One kind of thing that requests are counted by: resources, or root keys. */
interface Family {
  requests(counted: Counted, method: string, status: number): CounterSeries;
  seconds(counted: Counted): HistogramSeries;
  /** What else is kept of each request. */
  record?(counted: Counted, ending: Ending): void;
}

interface Counted {
  readonly project: LiveProject;
  readonly name: string;
}

const unknownName = unknownRootKey;
const otherMethod = "other";
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export interface RequestObserver {
  /** What requests of this method for a resource or a root key are counted in; undefined for all others. */
  countersOf(project: LiveProject, target: Target, method: string): RequestCounters | undefined;
  ended(exchange: Exchange, ending: Ending): void;
  /** What was refused before it was a request. */
  refused(requestId: string, ending: Omit<Ending, "seconds">): void;
}

export function createRequestObserver(observers: RequestObservers): RequestObserver {
  const { metrics, usage, accessLog, answers } = observers;
  const ofApi = createFamilyCounters({
    requests: (counted, method, status) =>
      metrics.apiRequests.series({ ...projectLabels(counted), resource: counted.name, method, status }),
    seconds: (counted) => metrics.apiSeconds.series({ ...projectLabels(counted), resource: counted.name }),
  });
  const ofKv = createFamilyCounters({
    requests: (counted, method, status) =>
      metrics.kvRequests.series({ ...projectLabels(counted), root_key: counted.name, method, status }),
    seconds: (counted) => metrics.kvSeconds.series({ ...projectLabels(counted), root_key: counted.name }),
    record: ({ project, name }, ending) => usage.record(projectName(project.config), name, ending),
  });

  const countersOf = (project: LiveProject, target: Target, method: string): RequestCounters | undefined => {
    switch (target.kind) {
      case "collection":
      case "object":
        return ofApi(project, project.resources.has(target.resource) ? target.resource : unknownName, method);
      case "document":
        return ofKv(project, project.rootKeys.has(target.rootKey) ? target.rootKey : unknownName, method);
      default:
        return undefined;
    }
  };

  const countOther = (exchange: Exchange, method: string, ending: Ending): void => {
    const target = otherTarget(exchange);
    metrics.otherRequests.series({ target, method, status: ending.status }).increment();
    metrics.otherSeconds.series({ target }).observe(ending.seconds);
  };

  const countersAt = ({ counters, project, target }: Exchange, method: string): RequestCounters | undefined =>
    counters ?? (project && target && countersOf(project, target, method));

  return {
    countersOf,
    ended(exchange, ending) {
      answers.ended(exchange);
      const { method: asked } = exchange.request;
      const method = methods.has(asked) ? asked : otherMethod;
      const counters = countersAt(exchange, method);
      if (counters === undefined) countOther(exchange, method, ending);
      else counters.count(ending);
      accessLog.request(exchange, ending);
    },
    refused(requestId, { status, code }) {
      metrics.otherRequests.series({ target: "(no request)", method: otherMethod, status }).increment();
      accessLog.refusal(requestId, { status, code });
    },
  };
}

/** Those of a live project are found once for each name and method. */
function createFamilyCounters(family: Family): (project: LiveProject, name: string, method: string) => RequestCounters {
  const ofProject = new WeakMap<LiveProject, Map<string, SeriesCounters>>();
  return (project, name, method) => {
    let named = ofProject.get(project);
    if (named === undefined) {
      named = new Map();
      ofProject.set(project, named);
    }
    const key = `${method} ${name}`;
    let counters = named.get(key);
    if (counters === undefined) {
      counters = new SeriesCounters(family, { project, name }, method);
      named.set(key, counters);
    }
    return counters;
  };
}

class SeriesCounters implements RequestCounters {
  readonly #family: Family;
  readonly #counted: Counted;
  readonly #method: string;
  readonly #seconds: HistogramSeries;
  readonly #byStatus = new Map<number, CounterSeries>();

  constructor(family: Family, counted: Counted, method: string) {
    this.#family = family;
    this.#counted = counted;
    this.#method = method;
    this.#seconds = family.seconds(counted);
  }

  count(ending: Ending): void {
    let requests = this.#byStatus.get(ending.status);
    if (requests === undefined) {
      requests = this.#family.requests(this.#counted, this.#method, ending.status);
      this.#byStatus.set(ending.status, requests);
    }
    requests.increment();
    this.#seconds.observe(ending.seconds);
    this.#family.record?.(this.#counted, ending);
  }
}

function projectLabels({ project }: Counted): { readonly namespace: string; readonly project: string } {
  return { namespace: project.config.namespace, project: project.config.name };
}

function otherTarget({ project, target }: Exchange): string {
  if (!project) return "(no project)";
  return target?.kind ?? "(no target)";
}
