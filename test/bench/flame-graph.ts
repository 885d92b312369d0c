// Draws a tree of calls as a flame graph in SVG: who calls stands below whom it calls, and a box is as wide as its time. Leaves out
// what would be too narrow to be seen, and more when the picture would get too large.

import { type Call, type Part, partNames } from "./profile-tree.ts";

const colours: Readonly<Record<Part, string>> = {
  "Node's HTTP": "#93c5fd",
  "Node's sockets": "#bfdbfe",
  "Node, other": "#dbeafe",
  fastify: "#c4b5fd",
  "Redis client": "#fca5a5",
  router: "#fde68a",
  "authentication, policy": "#fcd34d",
  validation: "#fdba74",
  store: "#fb923c",
  "log line, metrics": "#fef08a",
  "pipeline, answer": "#fbbf24",
  "other packages": "#e9d5ff",
  garbage: "#d4d4d4",
  "engine and system calls": "#e5e5e5",
};

const width = 1200;
const rowHeight = 17;
const legendHeight = 44;
const letterWidth = 6.3;
const maxBytes = 140_000;
const narrowest = 1.5;

export function flameGraph(root: Call, title: string): string {
  for (let least = narrowest; ; least *= 1.3) {
    const svg = draw(root, title, least);
    if (svg.length <= maxBytes) return svg;
  }
}

interface Box {
  readonly call: Call;
  readonly x: number;
  readonly width: number;
  readonly depth: number;
}

function draw(root: Call, title: string, least: number): string {
  const boxes = boxesOf(root, least);
  const depth = Math.max(...boxes.map((box) => box.depth));
  const height = legendHeight + (depth + 1) * rowHeight + 4;
  const lines = boxes.map((box) => boxText(box, root.total, height));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, monospace" font-size="10.5">
<title>${escaped(title)}</title>
<rect width="100%" height="100%" fill="#fff"/>
${legend()}
${lines.join("\n")}
</svg>
`;
}

function boxesOf(root: Call, least: number): readonly Box[] {
  const boxes: Box[] = [];
  const addBoxes = (calls: Iterable<Call>, x: number, depth: number): void => {
    let left = x;
    for (const call of [...calls].sort((one, other) => other.total - one.total)) {
      const wide = (call.total / root.total) * width;
      if (wide < least) break;
      boxes.push({ call, x: left, width: wide, depth });
      addBoxes(call.calls.values(), left, depth + 1);
      left += wide;
    }
  };
  addBoxes(root.calls.values(), 0, 0);
  return boxes;
}

function boxText({ call, x, width: wide, depth }: Box, all: number, height: number): string {
  const y = height - (depth + 1) * rowHeight - 2;
  const share = ((100 * call.total) / all).toFixed(1);
  const letters = Math.floor((wide - 4) / letterWidth);
  const label =
    letters < 4 ? "" : `<text x="${(x + 2).toFixed(1)}" y="${y + 12}">${escaped(cut(call.name, letters))}</text>`;
  const box = `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0.5, wide - 0.5).toFixed(1)}" height="${rowHeight - 1}" fill="${colours[call.part]}"/>`;
  return `<g><title>${escaped(call.name)} ${share} %</title>${box}${label}</g>`;
}

function legend(): string {
  const column = width / 7;
  const entries = partNames().map((part, at) => {
    const [x, y] = [(at % 7) * column, Math.floor(at / 7) * 18 + 4];
    return `<rect x="${x.toFixed(0)}" y="${y}" width="12" height="12" fill="${colours[part]}"/><text x="${(x + 16).toFixed(0)}" y="${y + 10}">${escaped(part)}</text>`;
  });
  return entries.join("\n");
}

function cut(name: string, letters: number): string {
  return name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
