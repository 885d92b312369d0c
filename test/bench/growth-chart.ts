// Draws how the cost of operations grows with a collection: time per request against that of the smallest size, both axes logarithmic.

export interface Curve {
  readonly name: string;
  /** Size, and how many times as long a request takes as at the first size. */
  readonly points: readonly (readonly [number, number])[];
}

const colours = ["#2563eb", "#d97706", "#16a34a", "#9333ea", "#dc2626", "#0f766e", "#a16207"];
const frame = { width: 720, height: 380, left: 56, right: 190, top: 24, bottom: 44 };
const ticks = [0.5, 1, 2, 5, 10];

export function growthChart(curves: readonly Curve[]): string {
  const sizes = curves[0]?.points.map(([size]) => size) ?? [];
  const [first, last] = [sizes[0] ?? 1, sizes.at(-1) ?? 1];
  const [lowest, highest] = [Math.log(ticks[0] ?? 1), Math.log(ticks.at(-1) ?? 1)];
  const inner = { width: frame.width - frame.left - frame.right, height: frame.height - frame.top - frame.bottom };
  const x = (size: number): number => frame.left + (Math.log(size / first) / Math.log(last / first)) * inner.width;
  const y = (factor: number): number => {
    const clamped = Math.min(highest, Math.max(lowest, Math.log(factor)));
    return frame.top + (1 - (clamped - lowest) / (highest - lowest)) * inner.height;
  };
  const grid = ticks.map(
    (tick) =>
      `<line x1="${frame.left}" x2="${frame.left + inner.width}" y1="${y(tick)}" y2="${y(tick)}" stroke="${tick === 1 ? "#888" : "#ddd"}"/>` +
      `<text x="${frame.left - 8}" y="${y(tick) + 4}" text-anchor="end">${tick} ×</text>`,
  );
  const columns = sizes.map(
    (size) =>
      `<text x="${x(size)}" y="${frame.height - frame.bottom + 20}" text-anchor="middle">${size.toLocaleString("en")}</text>`,
  );
  const lines = curves.map(({ points }, at) => {
    const path = points.map(([size, factor]) => `${x(size).toFixed(1)},${y(factor).toFixed(1)}`).join(" ");
    return `<polyline fill="none" stroke="${colours[at % colours.length]}" stroke-width="2" points="${path}"/>`;
  });
  const legend = curves.map(
    ({ name }, at) =>
      `<text x="${frame.width - frame.right + 16}" y="${frame.top + 18 + at * 20}" fill="${colours[at % colours.length]}">${name}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${frame.width} ${frame.height}" font-family="system-ui, sans-serif" font-size="12">
<title>How the time of a request grows with the objects in its resource</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="${frame.left}" y="14">time of a request, against the same with ${first.toLocaleString("en")} objects</text>
${[...grid, ...columns, ...lines, ...legend].join("\n")}
<text x="${frame.left + inner.width / 2}" y="${frame.height - 6}" text-anchor="middle">objects in the resource</text>
</svg>
`;
}
