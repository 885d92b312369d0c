// The figures of docs/reference/http.md (Usage) for requests under /json, per project and root key,
// over the last hour: count, and per five minutes statuses and mean duration. Of this replica since
// it started.

import type { Clock } from "../../core/clock.ts";

const minuteSeconds = 60;
const bucketMinutes = 5;
const bucketCount = 12;
const hourMinutes = bucketMinutes * bucketCount;

/** Unknown root keys are counted under this one name. */
export const unknownRootKey = "(unknown)";

export interface UsageBucket {
  /** Unix seconds, a multiple of 300. */
  readonly start: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Mean of the requests' durations; null when there were none. */
  readonly meanMilliseconds: number | null;
}

export interface UsageFigures {
  /** Requests of the sixty minutes up to and with the current one. */
  readonly requestsLastHour: number;
  /** Oldest first; the last one is the five minutes under way. */
  readonly buckets: readonly UsageBucket[];
}

export interface ProjectUsage extends UsageFigures {
  readonly rootKeys: Readonly<Record<string, UsageFigures>>;
}

export interface Usage {
  /** `rootKey` is one of the project's, or `unknownRootKey`. */
  record(project: string, rootKey: string, ending: { readonly status: number; readonly seconds: number }): void;
  /** Figures of a project, all zero when nothing was asked of it. */
  project(project: string): ProjectUsage;
  /** Projects that had a request within the last hour. */
  projects(): readonly string[];
}

interface Minute {
  readonly minute: number;
  count: number;
  seconds: number;
  readonly statuses: Map<number, number>;
}

/** Minutes with at least one request, oldest first. */
type Series = Minute[];

export function createUsage(clock: Clock): Usage {
  const projects = new Map<string, Map<string, Series>>();
  let sweptAt = 0;

  const minuteNow = (): number => Math.floor(clock.now() / 1000 / minuteSeconds);

  const sweep = (now: number): void => {
    if (now === sweptAt) return;
    sweptAt = now;
    for (const [project, rootKeys] of projects) {
      forgetBefore(rootKeys, now - hourMinutes - bucketMinutes);
      if (rootKeys.size === 0) projects.delete(project);
    }
  };

  return {
    record(project, rootKey, ending) {
      const now = minuteNow();
      sweep(now);
      const rootKeys = getOrAdd(projects, project, () => new Map<string, Series>());
      const minute = currentMinute(
        getOrAdd(rootKeys, rootKey, () => []),
        now,
      );
      minute.count += 1;
      minute.seconds += ending.seconds;
      minute.statuses.set(ending.status, (minute.statuses.get(ending.status) ?? 0) + 1);
    },
    project(project) {
      const now = minuteNow();
      const rootKeys = projects.get(project) ?? new Map<string, Series>();
      const byKey = [...rootKeys].map(([name, series]) => [name, figures(series, now)] as const);
      return { ...figures([...rootKeys.values()].flat(), now), rootKeys: Object.fromEntries(byKey) };
    },
    projects() {
      sweep(minuteNow());
      return [...projects.keys()].sort();
    },
  };
}

function forgetBefore(rootKeys: Map<string, Series>, oldest: number): void {
  for (const [rootKey, series] of rootKeys) {
    const kept = series.findIndex((minute) => minute.minute > oldest);
    series.splice(0, kept < 0 ? series.length : kept);
    if (series.length === 0) rootKeys.delete(rootKey);
  }
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function currentMinute(series: Series, now: number): Minute {
  const last = series.at(-1);
  // A clock that stepped back counts into the newest minute: the series stays in order.
  if (last && last.minute >= now) return last;
  const made: Minute = { minute: now, count: 0, seconds: 0, statuses: new Map() };
  series.push(made);
  return made;
}

function figures(series: readonly Minute[], now: number): UsageFigures {
  const hour = series.filter((minute) => minute.minute > now - hourMinutes);
  const currentBucket = Math.floor(now / bucketMinutes);
  const buckets: UsageBucket[] = [];
  for (let bucket = currentBucket - bucketCount + 1; bucket <= currentBucket; bucket += 1) {
    buckets.push(bucketOf(bucket, series));
  }
  return { requestsLastHour: hour.reduce((sum, minute) => sum + minute.count, 0), buckets };
}

function bucketOf(bucket: number, series: readonly Minute[]): UsageBucket {
  const statuses: Record<string, number> = {};
  let count = 0;
  let seconds = 0;
  for (const minute of series) {
    if (Math.floor(minute.minute / bucketMinutes) !== bucket) continue;
    count += minute.count;
    seconds += minute.seconds;
    for (const [status, times] of minute.statuses) statuses[status] = (statuses[status] ?? 0) + times;
  }
  const start = bucket * bucketMinutes * minuteSeconds;
  return { start, statuses, meanMilliseconds: count === 0 ? null : rounded((seconds * 1000) / count) };
}

/** To the microsecond: what is behind it is noise of the clock and of adding up. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
