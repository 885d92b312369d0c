// Checks what subscribers were told of changes: of an object in the order of its writes, only of
// objects that they may see, and in the end of everything. They are told to list again only where
// something was lost, or their position is older than a short log.

import { type Entry, grouped, only, type Reset, type Told } from "../history.ts";
import type { CheckResult } from "./check-result.ts";

export function checkSubscribers(entries: readonly Entry[]): Partial<CheckResult> {
  const told = only(entries, "told");
  const owners = new Map(only(entries, "made").map(({ id, owner }) => [id, owner]));
  const firstLoss = Math.min(...only(entries, "loss").map(({ from }) => from));
  const ofConnections = grouped(told, ({ subscriber, connection }) => `${subscriber}, connection ${connection}`);
  return {
    violations: [
      ...[...ofConnections].flatMap(([connection, all]) => disorder(connection, all)),
      ...told.flatMap((each) => ofOthers(each, owners.get(each.id))),
      ...only(entries, "reset").flatMap((each) => needless(each, firstLoss)),
      ...only(entries, "compared").flatMap(({ subscriber, differences }) =>
        differences.map((difference) => `${subscriber} differs from a list in the end: ${difference}`),
      ),
    ],
  };
}

function disorder(connection: string, told: readonly Told[]): readonly string[] {
  const newest = new Map<string, number>();
  return told.flatMap(({ id, version, at }) => {
    if (version === undefined) return [];
    const before = newest.get(id) ?? version;
    newest.set(id, Math.max(before, version));
    return version < before ? [`${connection} was told ${version} of ${id} at ${Math.round(at)}, after ${before}`] : [];
  });
}

function ofOthers({ subscriber, sees, id, event, at }: Told, owner: string | undefined): readonly string[] {
  if (sees === undefined || owner === undefined || owner === sees) return [];
  return [`${subscriber} was told of a ${event} of ${id} at ${Math.round(at)}, which ${owner} owns`];
}

function needless({ subscriber, reason, isTrimmed, at }: Reset, firstLoss: number): readonly string[] {
  const isExplained = (reason === "expired" && isTrimmed) || (reason === "lost" && at >= firstLoss);
  return isExplained ? [] : [`${subscriber} had to list again at ${Math.round(at)} for no reason: ${reason}`];
}
