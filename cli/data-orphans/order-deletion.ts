// Has the operator delete what was selected. Names go into the annotation of the key ring's Secret,
// some at a time, each with the time until which its data were retained. Then it waits until the
// operator has read them and replicas have deleted the data.

import { pause, type Timers } from "../../core/timers.ts";
import { isConflict, type KubeApi, type KubeObject, type ObjectName } from "../../operator/kube/api.ts";
import { annotationsOf, secretType, withAnnotations, wordsIn } from "../../operator/kube/objects.ts";
import type { DataInventory } from "../../operator/model/data-inventory.ts";
import { deletionAnnotation, maxAnnotationBytes, requestName } from "../../operator/stored-data/deletion-requests.ts";
import { StartRefused } from "../start-refused.ts";
import { nameOf, type RetainedItem } from "./retained-item.ts";

export interface OrderDeps {
  readonly api: Pick<KubeApi, "get" | "replace">;
  readonly secret: ObjectName;
  /** The operator's record of a project, as it is now. */
  readonly recordOf: (project: RetainedItem["project"]) => Promise<DataInventory | undefined>;
  readonly timers: Timers;
  readonly now: () => number;
  readonly monotonic: () => number;
  /** Takes one line at a time. */
  readonly out: (line: string) => void;
  readonly timeoutMs: number;
}

/** The most bytes of the annotation, so that other requests have room. */
const maxBatchBytes = maxAnnotationBytes / 2;
const pollMs = 500;
const maxConflicts = 10;

interface Ordered {
  readonly item: RetainedItem;
  readonly text: string;
}

/**
 * Reports the outcome of each, including deletions that are under way already, which are only
 * awaited. Returns the exit code: 1 when something is not deleted.
 */
export async function orderDeletion(items: readonly RetainedItem[], deps: OrderDeps): Promise<number> {
  const until = deps.monotonic() + deps.timeoutMs;
  let isAll = true;
  for (const batch of batchesOf(items, new Date(deps.now()).toISOString())) {
    const isWritten = await write(batch.filter(isNew), until, deps);
    if (!isWritten) sayNotOrdered(batch.filter(isNew), deps.out);
    const followed = isWritten ? batch : batch.filter((ordered) => !isNew(ordered));
    if (!(await follow(followed, until, deps)) || !isWritten) isAll = false;
  }
  return isAll ? 0 : 1;
}

/** What was retained at exactly that time, and nothing later. */
function* batchesOf(items: readonly RetainedItem[], now: string): Iterable<readonly Ordered[]> {
  let batch: Ordered[] = [];
  let bytes = 0;
  for (const item of items) {
    const text = `${requestName(item.project, item.entry)}@${item.entry.retainedAt ?? now}`;
    if (bytes + text.length >= maxBatchBytes) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push({ item, text });
    bytes += text.length + 1;
  }
  if (batch.length > 0) yield batch;
}

function isNew({ item: { state } }: Ordered): boolean {
  return state !== "Deleting";
}

/** False when the annotation had no room for them: the operator would read none of them. */
async function write(batch: readonly Ordered[], until: number, deps: OrderDeps): Promise<boolean> {
  if (batch.length === 0) return true;
  while (!(await writtenBeside(batch, deps))) {
    if (deps.monotonic() >= until) return false;
    await pause(deps.timers, pollMs);
  }
  return true;
}

async function writtenBeside(batch: readonly Ordered[], { api, secret }: OrderDeps): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await api.get(secretType, secret);
    if (found === undefined) throw new StartRefused(`There is no Secret ${secret.namespace}/${secret.name}`);
    const text = [...new Set([...namesIn(found), ...batch.map((ordered) => ordered.text)])].join("\n");
    if (Buffer.byteLength(text) > maxAnnotationBytes) return false;
    try {
      await api.replace(secretType, withAnnotations(found, { [deletionAnnotation]: text }));
      return true;
    } catch (error) {
      if (!isConflict(error) || attempt >= maxConflicts) throw error;
    }
  }
}

/** True when all of them are deleted. */
async function follow(batch: readonly Ordered[], until: number, deps: OrderDeps): Promise<boolean> {
  const { api, secret, out, timers, monotonic } = deps;
  let open = batch;
  let isAll = true;
  const deleting = new Set(batch.filter((ordered) => !isNew(ordered)));
  for (;;) {
    const untaken = new Set(namesIn(await api.get(secretType, secret)));
    const records = await recordsOf(open, deps);
    const states = open.map((ordered) => stateOf(ordered, { untaken, records, deleting }));
    for (const [at, { item }] of open.entries()) sayDone(item, states[at], out);
    isAll &&= !states.includes("left");
    open = open.filter((_, at) => states[at] === "waiting");
    if (open.length === 0) return isAll;
    if (monotonic() >= until) return sayOpen(open, untaken, out);
    await pause(timers, pollMs);
  }
}

function sayDone(item: RetainedItem, state: "deleted" | "left" | "waiting" | undefined, out: OrderDeps["out"]): void {
  if (state === "deleted") out(`${nameOf(item)}: deleted`);
  if (state === "left") out(`${nameOf(item)}: not deleted, an object names them by now, or they are kept again`);
}

function sayOpen(open: readonly Ordered[], untaken: ReadonlySet<string>, out: OrderDeps["out"]): false {
  for (const { item, text } of open) {
    const why = untaken.has(text)
      ? "the operator has not taken it up yet: is the operator running and leading?"
      : "replicas have not deleted the data yet: does one run?";
    out(`${nameOf(item)}: ordered, ${why} The order stands`);
  }
  return false;
}

function sayNotOrdered(batch: readonly Ordered[], out: OrderDeps["out"]): void {
  for (const { item } of batch) {
    out(
      `${nameOf(item)}: not ordered: the operator has not processed earlier orders; check that one is leading, then run this again`,
    );
  }
}

/** Each record is read once, however much of its project is selected. */
async function recordsOf(
  open: readonly Ordered[],
  { recordOf }: OrderDeps,
): Promise<ReadonlyMap<string, DataInventory | undefined>> {
  const projects = new Map(open.map(({ item: { project } }) => [requestName(project), project]));
  return new Map(await Promise.all([...projects].map(async ([name, ref]) => [name, await recordOf(ref)] as const)));
}

interface SeenState {
  readonly untaken: ReadonlySet<string>;
  readonly records: ReadonlyMap<string, DataInventory | undefined>;
  /** What was seen to be under way: that is final. */
  readonly deleting: Set<Ordered>;
}

function stateOf(ordered: Ordered, { untaken, records, deleting }: SeenState): "deleted" | "left" | "waiting" {
  const { project, entry } = ordered.item;
  const entries = records.get(requestName(project))?.entries ?? [];
  const now = entries.find(({ what, name }) => what === entry.what && name === entry.name);
  if (now === undefined) return "deleted";
  // Another object has the name now. It took over the data, unless they were being deleted before,
  // or it started empty.
  if (now.uid !== entry.uid) return deleting.has(ordered) || now.startedEmpty === true ? "deleted" : "left";
  if (now.purgeFromRevision === undefined) return untaken.has(ordered.text) ? "waiting" : "left";
  deleting.add(ordered);
  return "waiting";
}

function namesIn(secret: KubeObject | undefined): readonly string[] {
  return wordsIn(annotationsOf(secret)[deletionAnnotation]);
}
