// Finds the functions of the product that a process runs for one thing that is asked of it, a
// request or a change, once it is warm: V8's precise coverage counts them, and conditions of
// breakpoints note in which order they begin.

import type { Inspector } from "./inspector.ts";

export interface Trace {
  /** What came of it, such as the status of an answer. */
  readonly outcome: string;
  /** In the order in which they begin. */
  readonly files: readonly TracedFile[];
}

export interface TracedFile {
  /** Below the repository, such as `dataplane/pipeline.ts`. */
  readonly path: string;
  readonly functions: readonly TracedFunction[];
}

export interface TracedFunction {
  readonly name: string;
  /** An asynchronous one counts once per resumption, too. */
  readonly count: number;
}

/**
 * How often it is counted; what runs by itself meanwhile, such as a timer, is not in all of them.
 */
const attempts = 20;
/** Times that long without a function that begins, after which no further one is waited for. */
const patience = 30;
/** Milliseconds between two looks at a replica that may be quiet. */
const settleMs = 15;
/** Looks that find nothing before it is. */
const quietRounds = 3;

interface Coverage {
  readonly result: readonly {
    readonly scriptId: string;
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

interface Counted extends TracedFunction {
  readonly key: string;
  readonly path: string;
  readonly scriptId: string;
  readonly startOffset: number;
}

export interface Traced {
  /** Has it done once more, and answers with what came of it when it is over. */
  readonly ask: () => Promise<string>;
  /**
   * How often it is asked before the first time that counts: caches are filled, connections are
   * open.
   */
  readonly warmUps: number;
  /**
   * File and function that it begins with, where the process does other things by itself; absent =
   * whatever begins first.
   */
  readonly begin?: { readonly path: string; readonly name: string } | undefined;
}

export async function trace(inspector: Inspector, { ask, warmUps, begin }: Traced): Promise<Trace> {
  await inspector.call("Profiler.enable");
  await inspector.call("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  for (let at = 0; at < warmUps; at += 1) await ask();
  let outcome = "";
  let counted: readonly Counted[] | undefined;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await countedUntilQuiet(inspector);
    outcome = await ask();
    const found = await countedUntilQuiet(inspector);
    counted = counted === undefined ? found : inBoth(counted, found);
  }
  await inspector.call("Profiler.stopPreciseCoverage");
  const order = await orderOf(inspector, counted ?? [], { ask, begin });
  return { outcome, files: filesOf(counted ?? [], order) };
}

/**
 * What has run since it was asked last, until nothing of the product does: a replica observes the
 * end of a request after its answer.
 */
async function countedUntilQuiet(inspector: Inspector): Promise<readonly Counted[]> {
  const all = new Map<string, Counted>();
  for (let quiet = 0; quiet < quietRounds; quiet += 1) {
    await pause(settleMs);
    const found = countedIn(await inspector.call<Coverage>("Profiler.takePreciseCoverage"));
    if (found.length > 0) quiet = 0;
    for (const each of found) all.set(each.key, { ...each, count: each.count + (all.get(each.key)?.count ?? 0) });
  }
  return [...all.values()];
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

const root = new URL("../../", import.meta.url).href;
/** Below the repository, or below the folder of another installation. */
const product = /(?:^|\/)((?:core|dataplane|operator|cli)\/[^?]+\.[jt]s)$/;

function countedIn({ result }: Coverage): readonly Counted[] {
  return result.flatMap(({ scriptId, url, functions }) => {
    const path = url.includes("/node_modules/") ? undefined : product.exec(url.replace(root, ""))?.[1];
    if (path === undefined) return [];
    return functions.flatMap(({ functionName, ranges: [range] }) => {
      if (range === undefined || range.count === 0) return [];
      const { startOffset, count } = range;
      const name = functionName === "" ? "(anonymous)" : functionName;
      return [{ key: `${scriptId}:${startOffset}`, path, scriptId, startOffset, name, count }];
    });
  });
}

/** What runs each time, as often as in the one where it ran least. */
function inBoth(one: readonly Counted[], other: readonly Counted[]): readonly Counted[] {
  const counts = new Map(other.map(({ key, count }) => [key, count]));
  return one.flatMap((each) => {
    const count = counts.get(each.key);
    return count === undefined ? [] : [{ ...each, count: Math.min(count, each.count) }];
  });
}

interface Location {
  readonly scriptId: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** Keys of the functions as they begin, each once, from the one that it begins with. */
async function orderOf(
  inspector: Inspector,
  counted: readonly Counted[],
  { ask, begin }: Pick<Traced, "ask" | "begin">,
): Promise<readonly string[]> {
  const isFirst = ({ path, name }: Counted): boolean =>
    begin === undefined || (path === begin.path && name === begin.name);
  const firstKeys = new Set(counted.filter(isFirst).map(({ key }) => key));
  await inspector.call("Debugger.enable");
  const stops = await stopsOf(inspector, counted);
  await inspector.call("Runtime.evaluate", { expression: forget });
  await Promise.all(stops.map((stop) => noteAt(inspector, stop)));
  await untilNothingBegins(inspector);
  await inspector.call("Runtime.evaluate", { expression: forget });
  await ask();
  let met: readonly string[] = [];
  for (let quiet = 0; met.length < stops.length && quiet < patience; quiet += 1) {
    await pause(settleMs);
    const keys = await notedIn(inspector);
    const start = keys.findIndex((key) => firstKeys.has(key));
    const now = start < 0 ? [] : [...new Set(keys.slice(start))];
    if (now.length > met.length) quiet = 0;
    met = now;
  }
  await inspector.call("Debugger.disable");
  return met;
}

/** Where the process notes the keys of functions that begin. */
const noted = "globalThis.tracedFunctions";
const forget = `${noted} = []`;

/**
 * On a busy machine, what was asked for before may go on long after its answer. Not waited for
 * beyond some seconds: timers never stop.
 */
async function untilNothingBegins(inspector: Inspector): Promise<void> {
  let before = -1;
  for (let quiet = 0, looks = 0; quiet < patience && looks < 5 * patience; looks += 1) {
    await pause(settleMs);
    const now = (await notedIn(inspector)).length;
    quiet = now === before ? quiet + 1 : 0;
    before = now;
  }
}

/**
 * A breakpoint whose condition notes its function and is never true, so that nothing stops. Nothing
 * is noted where one is already.
 */
async function noteAt(inspector: Inspector, { of, location }: Stop): Promise<void> {
  const condition = `${noted}.push(${JSON.stringify(of.key)}) === 0`;
  await inspector.call("Debugger.setBreakpoint", { location, condition }).catch(() => undefined);
}

async function notedIn(inspector: Inspector): Promise<readonly string[]> {
  const { result } = await inspector.call<{ readonly result: { readonly value: readonly string[] } }>(
    "Runtime.evaluate",
    { expression: noted, returnByValue: true },
  );
  return result.value;
}

interface Stop {
  readonly of: Counted;
  readonly location: Location;
}

/** Without those where it can't stop, as in what initialises a class's members. */
async function stopsOf(inspector: Inspector, counted: readonly Counted[]): Promise<readonly Stop[]> {
  const stops = [...Map.groupBy(counted, (each) => each.scriptId)].map(async ([scriptId, functions]) => {
    const lineStarts = await lineStartsOf(inspector, scriptId);
    return await Promise.all(
      functions.map(async (of) => {
        const params = { start: locationAt(lineStarts, scriptId, of.startOffset), restrictToFunction: true };
        const { locations } = await inspector.call<{ locations: readonly Location[] }>(
          "Debugger.getPossibleBreakpoints",
          params,
        );
        return locations.slice(0, 1).map((location) => ({ of, location }));
      }),
    );
  });
  return (await Promise.all(stops)).flat(2);
}

async function lineStartsOf(inspector: Inspector, scriptId: string): Promise<readonly number[]> {
  const { scriptSource } = await inspector.call<{ scriptSource: string }>("Debugger.getScriptSource", { scriptId });
  return [0, ...[...scriptSource.matchAll(/\n/g)].map(({ index }) => index + 1)];
}

function locationAt(lineStarts: readonly number[], scriptId: string, offset: number): Location {
  const lineNumber = lineStarts.findLastIndex((start) => start <= offset);
  return { scriptId, lineNumber, columnNumber: offset - (lineStarts[lineNumber] ?? 0) };
}

function filesOf(counted: readonly Counted[], order: readonly string[]): readonly TracedFile[] {
  const positions = new Map(order.map((key, at) => [key, at]));
  const placeOf = ({ key }: Counted): number => positions.get(key) ?? Number.POSITIVE_INFINITY;
  const sorted = [...counted].sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
  return [...Map.groupBy(sorted, ({ path }) => path)].map(([path, functions]) => ({
    path,
    functions: functions.map(({ name, count }) => ({ name, count })),
  }));
}
