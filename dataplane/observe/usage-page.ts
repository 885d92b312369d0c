// The usage figures as a small page for a person: tables only, no script, readable without styles.

import type { ProjectUsage, UsageBucket } from "./usage.ts";

export interface PageProject {
  readonly name: string;
  readonly usage: ProjectUsage;
}

const style =
  "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}" +
  "table{border-collapse:collapse;margin:.5rem 0 2rem}td,th{padding:.2rem .8rem;text-align:right;border-bottom:1px solid #8884}" +
  "th:first-child,td:first-child{text-align:left}";

export function usagePage(projects: readonly PageProject[]): string {
  const sections = projects.map(section).join("");
  const body = sections || "<p>No Key/Value request within the last hour.</p>";
  return (
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Key/Value usage</title>` +
    `<meta name="viewport" content="width=device-width"><style>${style}</style><h1>Key/Value usage</h1>${body}</html>`
  );
}

function section({ name, usage }: PageProject): string {
  const keys = Object.entries(usage.rootKeys)
    .map(([key, figures]) => `<tr><td>${escapeHtml(key)}</td><td>${figures.requestsLastHour}</td></tr>`)
    .join("");
  return (
    `<h2>${escapeHtml(name)}</h2><p>Requests in the last hour: <strong>${usage.requestsLastHour}</strong></p>` +
    "<table><thead><tr><th>Five minutes from (UTC)</th><th>Statuses</th><th>Mean time</th></tr></thead>" +
    `<tbody>${usage.buckets.map(row).join("")}</tbody></table>` +
    `<table><thead><tr><th>Root key</th><th>Requests in the last hour</th></tr></thead><tbody>${keys}</tbody></table>`
  );
}

function row(bucket: UsageBucket): string {
  const start = new Date(bucket.start * 1000).toISOString().slice(11, 16);
  const statuses = Object.entries(bucket.statuses)
    .map(([status, count]) => `${status} × ${count}`)
    .join(", ");
  const mean = bucket.meanMilliseconds === null ? "–" : `${bucket.meanMilliseconds.toFixed(1)} ms`;
  return `<tr><td>${start}</td><td>${statuses || "–"}</td><td>${mean}</td></tr>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
