// The usage figures as a page: tables only, no script, light or dark, readable without styles.

import type { UsageReport } from "../quotas/quotas.ts";
import type { ProjectUsage, UsageBucket, UsageFigures } from "./usage.ts";

export interface PageProject {
  /** `<namespace>/<project>` */
  readonly name: string;
  readonly usage: ProjectUsage;
  /** Use of the project's quotas; empty where it has none. */
  readonly quotas: UsageReport["quotas"];
}

interface UsagePage {
  readonly projects: readonly PageProject[];
  /** Projects that had requests, or have a quota, as well and are not shown here. */
  readonly further: number;
}

const style = `
:root{color-scheme:light dark;--line:light-dark(#d9dde3,#363b43);--soft:light-dark(#5d6673,#9aa3b0);--card:light-dark(#fff,#1d2025);
--bar:light-dark(#cfe0fb,#27405f);--warn:light-dark(#9a5b00,#f0b45c);--bad:light-dark(#b3261e,#ff8a80)}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;background:light-dark(#f5f6f8,#141619)}
h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:0;overflow-wrap:anywhere}h1 a,h2 a{color:inherit;text-decoration:none}h1 a:hover,h2 a:hover{text-decoration:underline}
header p,.none{color:var(--soft);margin:.25rem 0 1.5rem}
section{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:1rem 1.25rem;margin:0 0 1.25rem;overflow-x:auto}
.total{margin:.25rem 0 1rem}.total strong{font-size:1.5rem;font-variant-numeric:tabular-nums}
table{border-collapse:collapse;width:100%;margin:0 0 1rem;font-variant-numeric:tabular-nums;white-space:nowrap}
th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px solid var(--line);font-weight:400;width:1%}th.wide,td.bar{width:auto}
tbody th.wide{white-space:normal;overflow-wrap:anywhere;min-width:8rem}
thead th{color:var(--soft);font-size:.85rem;font-weight:600}th:first-child{text-align:left;padding-left:0}
tbody tr:last-child>*{border-bottom:0}td.bar{min-width:7rem;background:linear-gradient(var(--bar),var(--bar)) no-repeat 0/calc(var(--part)*.75) 70%}
.warn,thead .warn{color:var(--warn)}.bad,thead .bad{color:var(--bad)}`;

export function usagePage({ projects, further }: UsagePage): string {
  const sections = projects.map(section).join("");
  const more =
    further > 0
      ? `<p class="none">${number(further)} more projects had requests or have quotas; each has a page of its own.</p>`
      : "";
  const body = sections + more || '<p class="none">No request to a root key within the last hour.</p>';
  return (
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Requests to root keys</title>` +
    `<meta name="viewport" content="width=device-width"><style>${style}</style>` +
    '<header><h1><a href="/usage">Requests to root keys</a></h1><p>The last hour as this replica counted it, in steps of five ' +
    `minutes; the last one is under way. Times are UTC.</p></header>${body}</html>`
  );
}

function section({ name, usage, quotas }: PageProject): string {
  const label = escapeHtml(name);
  const requests = usage.requestsLastHour;
  const address = escapeHtml(`/usage/${name}`);
  return (
    `<section><h2><a href="${address}">${label}</a></h2>` +
    `<p class="total"><strong>${number(requests)}</strong> ${requests === 1 ? "request" : "requests"} in the last hour</p>` +
    `${quotaTable(quotas)}${bucketTable(usage)}${rootKeyTable(usage)}</section>`
  );
}

function quotaTable(quotas: UsageReport["quotas"]): string {
  const rows = Object.entries(quotas).map(([kind, { used, limit }]) => {
    const part = `${Math.min(100, (100 * used) / limit).toFixed(1)}%`;
    return (
      `<tr><th scope="row">${kind}</th><td class="bar" style="--part:${part}">${number(used)}</td>` +
      `<td>${number(limit)}</td></tr>`
    );
  });
  if (rows.length === 0) return "";
  return (
    '<table><thead><tr><th scope="col">Quota</th><th scope="col" class="wide">Used</th><th scope="col">Limit</th></tr></thead>' +
    `<tbody>${rows.join("")}</tbody></table>`
  );
}

function bucketTable({ buckets }: UsageFigures): string {
  const statuses = [...new Set(buckets.flatMap((bucket) => Object.keys(bucket.statuses)))].sort();
  const most = Math.max(1, ...buckets.map(requestsOf));
  const heads = statuses.map((status) => `<th scope="col"${toneOf(status)}>${status}</th>`).join("");
  const rows = buckets.map((bucket) => {
    const requests = requestsOf(bucket);
    const counts = statuses.map((status) => `<td${toneOf(status)}>${numberOrNothing(bucket.statuses[status])}</td>`);
    const part = `${((100 * requests) / most).toFixed(1)}%`;
    return (
      `<tr><th scope="row">${clockTime(bucket.start)}</th><td class="bar" style="--part:${part}">${number(requests)}</td>` +
      `${counts.join("")}<td>${milliseconds(bucket.meanMilliseconds)}</td></tr>`
    );
  });
  return (
    `<table><thead><tr><th scope="col">From</th><th scope="col" class="wide">Requests</th>${heads}<th scope="col">Mean time</th></tr></thead>` +
    `<tbody>${rows.join("")}</tbody></table>`
  );
}

function rootKeyTable({ rootKeys }: ProjectUsage): string {
  const rows = Object.entries(rootKeys).map(([name, figures]) => {
    const refused = ofClass(figures, "4");
    const failed = ofClass(figures, "5");
    return (
      `<tr><th scope="row" class="wide">${escapeHtml(name)}</th><td>${number(requestsIn(figures))}</td>` +
      `<td class="warn">${numberOrNothing(refused)}</td><td class="bad">${numberOrNothing(failed)}</td>` +
      `<td>${milliseconds(hourMean(figures))}</td></tr>`
    );
  });
  if (rows.length === 0) return "";
  return (
    '<table><thead><tr><th scope="col" class="wide">Root key</th><th scope="col">Requests</th><th scope="col" class="warn">4xx</th>' +
    `<th scope="col" class="bad">5xx</th><th scope="col">Mean time</th></tr></thead><tbody>${rows.join("")}</tbody></table>`
  );
}

function requestsOf({ statuses }: UsageBucket): number {
  return Object.values(statuses).reduce((sum, count) => sum + count, 0);
}

/** Of the buckets, as statuses and mean are; the last hour may begin up to five minutes earlier. */
function requestsIn({ buckets }: UsageFigures): number {
  return buckets.reduce((sum, bucket) => sum + requestsOf(bucket), 0);
}

function ofClass({ buckets }: UsageFigures, firstDigit: string): number {
  const entries = buckets.flatMap(({ statuses }) => Object.entries(statuses));
  return entries.reduce((sum, [status, count]) => (status.startsWith(firstDigit) ? sum + count : sum), 0);
}

function hourMean(figures: UsageFigures): number | null {
  const requests = requestsIn(figures);
  const total = figures.buckets.reduce((sum, bucket) => sum + (bucket.meanMilliseconds ?? 0) * requestsOf(bucket), 0);
  return requests === 0 ? null : total / requests;
}

function toneOf(status: string): string {
  if (status.startsWith("4")) return ' class="warn"';
  return status.startsWith("5") ? ' class="bad"' : "";
}

function clockTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().slice(11, 16);
}

function number(count: number): string {
  return count.toLocaleString("en");
}

function numberOrNothing(count: number | undefined): string {
  return count ? number(count) : "";
}

function milliseconds(mean: number | null): string {
  if (mean === null) return "";
  return `${mean.toFixed(mean < 100 ? 1 : 0)} ms`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
