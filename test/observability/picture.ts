// Draws what panels show, as one page of SVG.

import type { Dashboard, Panel } from "../../tools/dashboards/declare.ts";

export interface Line {
  readonly name: string;
  /** Unix seconds and value. */
  readonly points: readonly (readonly [number, number])[];
}

export interface DrawnPanel {
  readonly panel: Panel;
  readonly lines: readonly Line[];
}

const colours = ["#3274d9", "#e0812c", "#56a64b", "#b877d9", "#e02f44", "#37872d", "#8f3bb8", "#fa6400"];
const width = 620;
const height = 150;

export function dashboardPage({ title, description }: Dashboard, panels: readonly DrawnPanel[]): string {
  return `<!doctype html><meta charset="utf-8"><title>${escaped(title)}</title>
<style>body{font:14px system-ui;margin:16px;color:#222}main{display:grid;grid-template-columns:repeat(24,1fr);gap:10px}
section{border:1px solid #ddd;border-radius:4px;padding:8px}h2{font-size:14px;margin:0}p{margin:2px 0;color:#666;font-size:12px}
b{font-size:34px;font-weight:500}svg{width:100%}ul{margin:0;padding:0;list-style:none;font-size:11px}li{display:inline-block;margin-right:10px}</style>
<h1>${escaped(title)}</h1><p>${escaped(description)}</p><main>${panels.map(panelHtml).join("\n")}</main>
<script>document.documentElement.dataset.height = document.documentElement.offsetHeight + 32</script>`;
}

function panelHtml({ panel, lines }: DrawnPanel): string {
  const drawn = panel.kind === "figure" ? figures(lines) : chart(panel, lines);
  return `<section style="grid-column:span ${panel.width}"><h2>${escaped(panel.title)}</h2><p>${escaped(panel.description)}</p>${drawn}</section>`;
}

function figures(lines: readonly Line[]): string {
  const last = lines.map(({ name, points }) => `<b>${shown(points.at(-1)?.[1], "short")}</b> ${escaped(name)}`);
  return last.length === 0 ? "<b>–</b>" : last.join("<br>");
}

function chart({ kind, unit }: Panel, lines: readonly Line[]): string {
  const all = lines.flatMap(({ points }) => points).filter(([, value]) => Number.isFinite(value));
  if (all.length === 0) return "<p>nothing to show</p>";
  const times = all.map(([time]) => time);
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const top = Math.max(...all.map(([, value]) => value)) || 1;
  const x = (time: number): number => 60 + ((time - from) / (to - from || 1)) * (width - 70);
  const y = (value: number): number => height - 8 - (value / top) * (height - 20);
  const shapes = lines.map(({ points }, index) => {
    const colour = colours[index % colours.length];
    const drawn = points.filter(([, value]) => Number.isFinite(value));
    if (kind === "bars") {
      return drawn
        .map(
          ([time, value]) =>
            `<rect x="${x(time)}" y="${y(value)}" width="3" height="${height - 8 - y(value)}" fill="${colour}" opacity=".5"/>`,
        )
        .join("");
    }
    return `<polyline fill="none" stroke="${colour}" stroke-width="1.4" points="${drawn.map(([time, value]) => `${x(time)},${y(value)}`).join(" ")}"/>`;
  });
  const legend = lines.map(
    ({ name }, index) => `<li style="color:${colours[index % colours.length]}">${escaped(name)}</li>`,
  );
  const axis = [0, top / 2, top].map(
    (value) => `<text x="2" y="${y(value) + 4}" font-size="10">${shown(value, unit)}</text>`,
  );
  return `<svg viewBox="0 0 ${width} ${height}">${axis.join("")}${shapes.join("")}</svg><ul>${legend.join("")}</ul>`;
}

function shown(value: number | undefined, unit: string): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  if (unit === "s") return value < 1 ? `${(value * 1000).toPrecision(3)} ms` : `${value.toPrecision(3)} s`;
  if (unit === "percentunit") return `${(value * 100).toPrecision(3)} %`;
  if (unit === "bytes" && value < 2 ** 20) return `${Math.round(value / 2 ** 10)} KiB`;
  if (unit === "bytes") return `${Math.round(value / 2 ** 20)} MiB`;
  return value.toLocaleString("en", { maximumSignificantDigits: 4 });
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
