// Turns the end of a request into metrics, usage figures and its log line.

import type { Clock } from "../../core/clock.ts";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { LiveProject } from "../config/directory.ts";
import type { Ending, IncomingRequest, RequestContext, RequestCounters } from "../http/exchange.ts";
import type { Target } from "../route/route.ts";
import type { CounterSeries, HistogramSeries, Metrics } from "./metrics.ts";
import { type Usage, unknownRootKey } from "./usage.ts";

interface RequestObservers {
  readonly metrics: Metrics;
  readonly usage: Usage;
  readonly accessLog: AccessLog;
}

/** One kind of thing that requests are counted by: resources, or root keys. */
interface Family {
  requests(counted: Counted, method: string, status: number): CounterSeries;
  seconds(counted: Counted): HistogramSeries;
  /** What else is kept of each request. */
  record?(counted: Counted, ending: Pick<Ending, "status" | "seconds">): void;
}

interface Counted {
  readonly project: ProjectRef;
  /** `<namespace>/<name>`. */
  readonly projectName: string;
  readonly name: string;
}

const unknownName = unknownRootKey;
const otherMethod = "other";
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

interface RequestObserver {
  /** The counters for a method of a resource or root key; undefined for all others. */
  countersOf(project: LiveProject, target: Target, method: string): RequestCounters | undefined;
  ended(incoming: IncomingRequest, ending: Ending): void;
  /** What was refused before it was a request. */
  refused(requestId: string, ending: Pick<Ending, "status" | "code">): void;
}

export function createRequestObserver(observers: RequestObservers): RequestObserver {
  const { metrics, usage, accessLog } = observers;
  const ofApi: Family = {
    requests: (counted, method, status) =>
      metrics.apiRequests.series({ ...projectLabels(counted), resource: counted.name, method, status }),
    seconds: (counted) => metrics.apiSeconds.series({ ...projectLabels(counted), resource: counted.name }),
  };
  const ofKv: Family = {
    requests: (counted, method, status) =>
      metrics.rootKeyRequests.series({ ...projectLabels(counted), root_key: counted.name, method, status }),
    seconds: (counted) => metrics.rootKeySeconds.series({ ...projectLabels(counted), root_key: counted.name }),
    record: ({ projectName, name }, ending) => usage.record(projectName, name, ending),
  };

  const countersOf = (project: LiveProject, target: Target, method: string): RequestCounters | undefined => {
    switch (target.kind) {
      case "collection":
      case "object": {
        const name = project.resources.has(target.resource) ? target.resource : unknownName;
        return new SeriesCounters(ofApi, countedOf(project, name), method);
      }
      case "document": {
        const name = project.rootKeys.has(target.rootKey) ? target.rootKey : unknownName;
        return new SeriesCounters(ofKv, countedOf(project, name), method);
      }
      default:
        return undefined;
    }
  };

  const countOther = (method: string, ending: Ending): void => {
    const target = otherTarget(ending.context);
    metrics.otherRequests.series({ target, method, status: ending.status }).increment();
    metrics.otherSeconds.series({ target }).observe(ending.seconds);
  };

  return {
    countersOf,
    ended(incoming, ending) {
      const { method: asked } = incoming.request;
      const method = methods.has(asked) ? asked : otherMethod;
      const { project, target, counters: found } = ending.context;
      const counters = found ?? (project && target && countersOf(project, target, method));
      if (counters === undefined) countOther(method, ending);
      else counters.count(ending);
      accessLog.request(incoming, ending);
    },
    refused(requestId, { status, code }) {
      metrics.otherRequests.series({ target: "(no request)", method: otherMethod, status }).increment();
      accessLog.refusal(requestId, { status, code });
    },
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

  count(ending: Pick<Ending, "status" | "seconds">): void {
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
  return { namespace: project.namespace, project: project.name };
}

function countedOf({ config }: LiveProject, name: string): Counted {
  return { project: config, projectName: keyOfProject(config), name };
}

function otherTarget({ project, target }: RequestContext): string {
  if (!project) return "(no project)";
  return target?.kind ?? "(no target)";
}

/**
 * One JSON line per request: who asked what of which project, and how it ended. Never with
 * credentials, bodies or queries. It is joined from pieces: serialising an object costs a fifth of
 * a request.
 */
interface AccessLog {
  request(incoming: IncomingRequest, ending: Ending): void;
  refusal(requestId: string, ending: Pick<Ending, "status" | "code">): void;
}

const pathLimit = 1024;
/** W3C Trace Context §3.2: version `ff` and zero ids are invalid; later versions append fields. */
const traceparentPattern =
  /^(?:00(?=.{53}$)|(?!00|ff)[0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:$|-)/;
const silent: AccessLog = Object.freeze({ request: () => undefined, refusal: () => undefined });

/** The trace and the span that sent the request; empty where the header is none. */
function traceMembers(traceparent: string | readonly string[]): string {
  const [, traceId, spanId] = traceparentPattern.exec(String(traceparent)) ?? [];
  return traceId === undefined ? "" : `,"traceId":"${traceId}","parentSpanId":"${spanId}"`;
}

export function createAccessLog(logger: Logger, clock: Clock): AccessLog {
  if (!logger.writes("info")) return silent;
  const lineStart = createLineStart(clock);
  // Few pieces and few calls: each piece is an object until the line is written.
  const writeRequest = ({ request, requestId, rawUrl }: IncomingRequest, ending: Ending): void => {
    const { project, proof } = ending.context;
    const projectMembers =
      project === undefined ? "" : `,"namespace":"${project.config.namespace}","project":"${project.config.name}"`;
    const queryStart = rawUrl.indexOf("?");
    // Without the query, whose filters are data.
    const path = rawUrl.slice(0, Math.min(queryStart < 0 ? rawUrl.length : queryStart, pathLimit));
    const quotedPath = needsEscaping.test(path) ? JSON.stringify(path) : `"${path}"`;
    const { traceparent } = request.headers;
    const trace = traceparent === undefined ? "" : traceMembers(traceparent);
    const code = ending.code === undefined ? "" : `,"code":"${ending.code}"`;
    const microseconds = Math.round(ending.seconds * 1_000_000);
    const milliseconds = Math.floor(microseconds / 1_000);
    const duration = `${milliseconds}.${threeDigits[microseconds - milliseconds * 1_000]}`;
    logger.line(
      `${lineStart()}${requestId}"${projectMembers},"method":"${request.method}","path":${quotedPath}${proof?.logMembers ?? ""}${trace},"status":${ending.status}${code},"durationMs":${duration}}`,
    );
  };
  return {
    request: writeRequest,
    refusal: (requestId, { status, code }) => logger.info("Malformed request refused", { requestId, status, code }),
  };
}

/** All but the printable ASCII characters that JSON leaves as they are. */
const needsEscaping = /[^ !#-[\]-~]/;

/** `000` to `999`: three digits from here cost less than those of `toFixed`. */
const threeDigits = Array.from({ length: 1_000 }, (_, value) => String(value).padStart(3, "0"));

/** Returns the start of a line, up to the request's id, cached for a millisecond. */
function createLineStart(clock: Clock): () => string {
  let millisecond = Number.NaN;
  let text = "";
  return function lineStart() {
    const now = clock.now();
    if (now === millisecond) return text;
    millisecond = now;
    text = `{"time":"${new Date(now).toISOString()}","level":"info","message":"Request","requestId":"`;
    return text;
  };
}
