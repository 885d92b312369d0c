// `npm run bench`: starts Redis JSON, jsonplane, bare fastify and json-server, lets each do the same work in turns, and prints
// ratios of one run. With --write it puts the table into docs/benchmarks.md. Only ratios mean anything: all share the cores.

import { startScript } from "../../tools/start-script.ts";
import { basic } from "../support/http/projects.ts";
import { readLength, readWrite } from "./bench-arguments.ts";
import { measureFirstSights } from "./external-tokens.ts";
import { findLoader, type Load, type Loader, type LoadRequest } from "./load.ts";
import { measureLogins } from "./logins.ts";
import { median } from "./median.ts";
import { measureNeighbours } from "./neighbours.ts";
import { type Operation, operations } from "./operations.ts";
import { writeSection } from "./page.ts";
import { type Row, table } from "./report.ts";
import { openStage } from "./stage.ts";
import { measureStages } from "./stages.ts";

startScript("npm run bench");
const writes = readWrite();
const { rounds, seconds } = readLength({ rounds: 3, seconds: 2 });
const load = { connections: 64, seconds };
/** V8 compiles what runs often, in steps, during the first seconds of load. */
const warmUp = { connections: 64, seconds: 5 };
const objects = 1_000;

const stage = await openStage(objects);
try {
  const loader = await findLoader();
  const { at } = stage;
  process.stdout.write(`${rounds} rounds of ${load.seconds} s, ${load.connections} connections, by ${loader.name}\n`);
  const rows: Row[] = [];
  const all = operations(at);
  for (const operation of all) rows.push(await measure(loader.load, operation));
  const stages = await measureStages(stage, all, { loader: loader.load, options: load, rounds });
  const logins = await measureLogins(at.plane, basic("ann", "bench"));
  const firstSights = await measureFirstSights();
  const neighbours = await measureNeighbours(loader.load);
  const text = table({
    rows,
    stages,
    logins,
    firstSights,
    neighbours,
    rounds,
    load,
    warmUp,
    loader: loader.name,
    objects,
  });
  process.stdout.write(text);
  if (writes) await writeSection("# Benchmarks", text);
} finally {
  await stage.close();
}

/** By turns, so that a machine whose speed drifts treats all alike; warm, as a server is that has run for a while. */
async function measure(loader: Loader, operation: Operation): Promise<Row> {
  const loads: Record<"plane" | "bare" | "jsonServer", Load[]> = { plane: [], bare: [], jsonServer: [] };
  const requests = (["plane", "bare", "jsonServer"] as const).flatMap((who) => {
    const request: LoadRequest | undefined = operation[who];
    return request === undefined ? [] : [{ who, request }];
  });
  for (const { request } of requests) await loader(request, warmUp);
  for (let round = 0; round < rounds; round += 1) {
    for (const { who, request } of requests) loads[who].push(await loader(request, load));
  }
  process.stdout.write(`${operation.name}: ${Math.round(median(loads.plane.map((each) => each.perSecond)))}/s\n`);
  return { name: operation.name, budget: operation.budget, ...loads };
}
