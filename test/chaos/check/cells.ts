// Checks what was read of a cell by what its one writer did: nothing that nobody wrote, nothing
// older than what was acknowledged before, nothing that was seen and is gone. A write that was
// refused is never seen; one of unknown outcome may be, once.

import { type Entry, grouped, type Loss, only, type Read, type Write } from "../history.ts";
import { type CheckResult, joined } from "./check-result.ts";

export function checkCells(entries: readonly Entry[]): CheckResult {
  const losses = only(entries, "loss");
  const reads = grouped(only(entries, "read"), ({ cell }) => cell);
  const writes = grouped(only(entries, "write"), ({ cell }) => cell);
  const cells = new Set([...reads.keys(), ...writes.keys()]);
  return joined(
    [...cells].map((cell) => checkCell({ cell, writes: writes.get(cell) ?? [], reads: reads.get(cell) ?? [], losses })),
  );
}

interface Cell {
  readonly cell: string;
  /** In the order of their writer. */
  readonly writes: readonly Write[];
  readonly reads: readonly Read[];
  readonly losses: readonly Loss[];
}

/** The place of nothing, before the first write. */
const untouched = -1;

function checkCell(cell: Cell): CheckResult {
  const violations: string[] = [];
  const lost = new Set<number>();
  const late = new Set<number>();
  const seen: { readonly read: Read; readonly at: number }[] = [];
  for (const read of [...cell.reads].sort((a, b) => a.from - b.from)) {
    const places = placesOf(cell, read);
    const faults = places.map((at) => ({ at, fault: faultOf(cell, seen, { read, at }) }));
    const legal = faults.filter(({ fault }) => fault === undefined).map(({ at }) => at);
    const [first] = legal;
    if (first === undefined) {
      violations.push(faults.at(-1)?.fault ?? `${cell.cell}: read ${read.value}, which nobody wrote`);
      continue;
    }
    const at = legal.at(-1) ?? first;
    const hidden = newerDone(cell, { read, at });
    if (!mayBeLate(cell, at)) for (const gone of hidden) lost.add(gone);
    else if (hidden.length > 0) late.add(at);
    seen.push({ read, at: first });
  }
  return { violations, lost: lost.size, late: late.size };
}

/** Writes that may have left what was read, oldest first. */
function placesOf({ writes }: Cell, { value }: Read): readonly number[] {
  const places = writes.flatMap((write, at) => (write.value === value ? [at] : []));
  return value === null ? [untouched, ...places] : places;
}

interface Sight {
  readonly read: Read;
  readonly at: number;
}

/** Why the cell can't have been in this state; undefined when it can. */
function faultOf(cell: Cell, seen: readonly Sight[], sight: Sight): string | undefined {
  const { read, at } = sight;
  const write = cell.writes[at];
  const what = `${cell.cell}: read ${read.value} at ${Math.round(read.from)}`;
  if (write?.outcome === "refused") return `${what}, which was refused`;
  if (write !== undefined && write.from > read.to) return `${what}, before it was sent`;
  if (mayBeLate(cell, at)) return undefined;
  const hidden = newerDone(cell, sight).find((newer) => !mayBeLost(cell, cell.writes[newer]));
  if (hidden !== undefined) return `${what}, after ${cell.writes[hidden]?.value} was acknowledged`;
  const gone = seen.find((before) => before.at > at && before.read.to < read.from && !lostBetween(cell, before, read));
  if (gone !== undefined) return `${what}, after ${gone.read.value} had been read`;
  return undefined;
}

/** Acknowledged before the read began, and newer than what it saw. */
function newerDone({ writes }: Cell, { read, at }: Sight): readonly number[] {
  return writes.flatMap((write, newer) =>
    newer > at && write.outcome === "done" && write.to < read.from ? [newer] : [],
  );
}

/**
 * A value that is put as a whole may arrive after a later one; an object's update is bound to the
 * version that it read.
 */
function mayBeLate({ cell, writes }: Cell, at: number): boolean {
  return cell.startsWith("register:") && writes[at]?.outcome === "unknown";
}

function mayBeLost({ losses }: Cell, write: Write | undefined): boolean {
  return write !== undefined && losses.some(({ from, to }) => write.to >= from && write.to <= to);
}

/**
 * What was seen may have been lost by the time of the read: it was there during a time of loss, not
 * yet safe.
 */
function lostBetween({ losses, writes }: Cell, before: Sight, read: Read): boolean {
  const write = writes[before.at];
  return losses.some(
    ({ from, to }) =>
      before.read.to >= from && read.to >= from && write !== undefined && write.from <= to && write.to >= from,
  );
}
