// `npm run draw:dashboards`: sends traffic to a fleet for some minutes, asks a real Prometheus what
// each panel asks, and draws the answers as pictures in out/dashboards/. No Grafana: the same
// queries over the same grid, so that a person can see whether they tell what they should.
// `--write` puts the one of key/value usage into docs/images/.

import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { dashboards } from "../../tools/dashboards/generate.ts";
import { bringPartsOf } from "../../tools/parts/groups.ts";
import { onPath } from "../../tools/parts/programs.ts";
import { type Finished, runCommand } from "../../tools/parts/run-command.ts";
import { readArguments, wholeNumber } from "../../tools/script-arguments.ts";
import { startScript } from "../../tools/start-script.ts";
import { startFleet } from "../support/fleet/fleet.ts";
import { type DrawnPanel, dashboardPage, type Line } from "./picture.ts";
import { startPrometheus, type TestPrometheus } from "./prometheus.ts";
import { usageManifests, usageRequests } from "./usage-traffic.ts";

startScript("npm run draw:dashboards");
const { values: flags, words } = readArguments({ write: { type: "boolean" } }, ["[MINUTES]"]);
const minutes = wholeNumber("MINUTES", words[0] ?? "4", 1);
const folder = fileURLToPath(new URL("../../out/dashboards", import.meta.url));
const docsPicture = (name: string): string => fileURLToPath(new URL(`../../docs/images/${name}`, import.meta.url));
const stepSeconds = 5;
const pictureWidth = 1400;

await bringPartsOf("draw:dashboards");
const fleet = await startFleet({ replicas: 2 });
try {
  const namespace = await fleet.api.namespace("shop");
  await fleet.api.apply(usageManifests(), { namespace });
  await fleet.ready(namespace);
  const prometheus = await startPrometheus(
    [...fleet.operators, ...fleet.replicas].map(({ adminUrl }) => ({ address: new URL(adminUrl).host, labels: {} })),
    [],
  );
  try {
    const began = Date.now();
    for (let turn = 0; Date.now() < began + minutes * 60_000; turn += 1) {
      await sendTurn(namespace, turn);
      await sleep(20 + 150 * (1 + Math.sin(turn / 200)));
    }
    await draw(prometheus, namespace, began / 1000);
    if (flags.write) await copyFile(join(folder, "jsonplane-key-value-usage.png"), docsPicture("usage-dashboard.png"));
  } finally {
    await prometheus.stop();
  }
} finally {
  await fleet.stop();
}

/** One request, and now and then a change and a login. */
async function sendTurn(namespace: string, turn: number): Promise<void> {
  const replica = fleet.replicas[turn % fleet.replicas.length];
  const request = usageRequests[turn % usageRequests.length];
  if (replica === undefined || request === undefined) return;
  await replica.send(`/${namespace}/web${request.path}`, request.options);
  if (turn % 150 !== 0) return;
  const spec = { cors: { allowedOrigins: [`https://host-${turn}.example.org`] } };
  const patch = JSON.stringify({ spec });
  await fleet.api.kubectl(["patch", "jproj", "web", "--namespace", namespace, "--type=merge", "-p", patch]);
}

async function draw(prometheus: TestPrometheus, namespace: string, since: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const range = { since, until: Date.now() / 1000, step: stepSeconds };
  for (const dashboard of dashboards) {
    const drawn: DrawnPanel[] = [];
    for (const panel of dashboard.rows.flatMap((row) => row.panels)) {
      const lines: Line[] = [];
      for (const { expr, legend } of panel.queries) {
        const filled = expr
          .replaceAll("$namespace", namespace)
          .replaceAll("$project", ".*")
          .replaceAll("$__rate_interval", "30s");
        for (const { labels, points } of await prometheus.range(filled, range)) {
          const name = legend.replace(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? "");
          lines.push({ name, points });
        }
      }
      drawn.push({ panel, lines });
    }
    const page = join(folder, `${dashboard.uid}.html`);
    await writeFile(page, dashboardPage(dashboard, drawn));
    await photograph(page);
  }
}

async function photograph(page: string): Promise<void> {
  const chromium = onPath("chromium", process.env) ?? onPath("google-chrome", process.env);
  if (!chromium) {
    process.stdout.write(`${page}\n`);
    return;
  }
  const picture = page.replace(/html$/, "png");
  const browse = (height: number, flag: string): Promise<Finished> => {
    const flags = ["--headless", "--no-sandbox", "--hide-scrollbars", `--window-size=${pictureWidth},${height}`, flag];
    return runCommand(chromium, [...flags, `file://${page}`], { timeout: 60_000 });
  };
  const { stdout } = await browse(800, "--dump-dom");
  const height = Number(/data-height="(\d+)"/.exec(stdout)?.[1] ?? 2200);
  await browse(height, `--screenshot=${picture}`);
  process.stdout.write(`${picture}\n`);
}
