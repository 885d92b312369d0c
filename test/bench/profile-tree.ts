// Turns a V8 CPU profile into one tree of calls with the time of each, and says to which part of the program a call belongs.

/** As V8's profiler gives it. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

export interface Call {
  readonly name: string;
  readonly part: Part;
  /** Microseconds in itself, and with all that it calls. */
  self: number;
  total: number;
  readonly calls: Map<string, Call>;
}

const parts = [
  "Node's HTTP",
  "Node's sockets",
  "Node, other",
  "fastify",
  "Redis client",
  "router",
  "authentication, policy",
  "validation",
  "store",
  "log line, metrics",
  "pipeline, answer",
  "other packages",
  "garbage",
  "engine and system calls",
] as const;

export type Part = (typeof parts)[number];

/** The first that matches decides. */
const places: readonly (readonly [RegExp, Part])[] = [
  [/^node:(?:_http|http|internal\/http)/, "Node's HTTP"],
  [/^node:(?:net|stream|internal\/streams|internal\/stream_base|buffer|internal\/buffer)/, "Node's sockets"],
  [/^node:/, "Node, other"],
  [/\/node_modules\/(?:fastify|@fastify|find-my-way|avvio|light-my-request|process-warning|proxy-addr)\//, "fastify"],
  [
    /\/node_modules\/(?:ioredis|@ioredis|redis-|denque|standard-as-callback|cluster-key-slot)|\/core\/redis\//,
    "Redis client",
  ],
  [/\/dataplane\/(?:route|config)\//, "router"],
  [/\/dataplane\/(?:authenticate|authorize)\//, "authentication, policy"],
  [/\/dataplane\/validate\/|\/core\/(?:json|schema)\/|\/node_modules\/(?:ajv|ajv-formats|re2js)\//, "validation"],
  [/\/dataplane\/store\//, "store"],
  [/\/dataplane\/observe\/|\/core\/log\/|\/node_modules\/prom-client\//, "log line, metrics"],
  [/\/dataplane\//, "pipeline, answer"],
  [/\/node_modules\//, "other packages"],
];

/** Time in which there was nothing to do, and what the profiler takes for itself. */
function isNoWork({ functionName, url }: ProfileNode["callFrame"]): boolean {
  return functionName === "(idle)" || url.startsWith("node:inspector");
}

/** Without what is no work. */
export function treeOf(profile: CpuProfile): Call {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const times = new Map<number, number>();
  for (const [at, id] of profile.samples.entries()) {
    times.set(id, (times.get(id) ?? 0) + Math.max(0, profile.timeDeltas[at] ?? 0));
  }
  const root = newCall("all", "engine and system calls");
  const add = (id: number, into: Call): void => {
    const node = nodes.get(id);
    if (!node || isNoWork(node.callFrame)) return;
    const call = callIn(into, node);
    call.self += times.get(id) ?? 0;
    for (const child of node.children ?? []) add(child, call);
  };
  // The first node is V8's own root.
  for (const child of profile.nodes[0]?.children ?? []) add(child, root);
  total(root);
  return root;
}

/** Microseconds in each part, the largest first. */
export function timesByPart(root: Call): ReadonlyMap<Part, number> {
  const times = new Map<Part, number>();
  walk(root, (call) => times.set(call.part, (times.get(call.part) ?? 0) + call.self));
  return new Map([...times].filter(([, time]) => time > 0).sort(([, left], [, right]) => right - left));
}

/** Microseconds in each function itself, wherever it was called from, the largest first. */
export function timesByFunction(root: Call): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  walk(root, (call) => times.set(call.name, (times.get(call.name) ?? 0) + call.self));
  return new Map([...times].sort(([, left], [, right]) => right - left));
}

export function partNames(): readonly Part[] {
  return parts;
}

function callIn(parent: Call, { callFrame }: ProfileNode): Call {
  const name = nameOf(callFrame);
  const known = parent.calls.get(name);
  if (known) return known;
  const call = newCall(name, partOf(callFrame, parent));
  parent.calls.set(name, call);
  return call;
}

function newCall(name: string, part: Part): Call {
  return { name, part, self: 0, total: 0, calls: new Map() };
}

/** Function and file, without folders. */
function nameOf({ functionName, url, lineNumber }: ProfileNode["callFrame"]): string {
  const called = functionName || "(anonymous)";
  return url === "" ? called : `${called} ${url.slice(url.lastIndexOf("/") + 1)}:${lineNumber + 1}`;
}

/** What has no file of its own, built into the engine or made while it runs, belongs to who calls it. */
function partOf({ functionName, url }: ProfileNode["callFrame"], parent: Call): Part {
  if (functionName === "(garbage collector)") return "garbage";
  return places.find(([pattern]) => pattern.test(url))?.[1] ?? parent.part;
}

function total(call: Call): number {
  call.total = call.self;
  for (const each of call.calls.values()) call.total += total(each);
  return call.total;
}

function walk(call: Call, visit: (call: Call) => void): void {
  visit(call);
  for (const each of call.calls.values()) walk(each, visit);
}
