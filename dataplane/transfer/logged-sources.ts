// Where the logs of changes of what is exported begin and end. Refuses with `position_expired`.

import { Problem } from "../../core/errors/problem.ts";
import { type ClientPosition, laterOf } from "../changes/positions.ts";
import type { ChangeLogs } from "../store/ports/changes.ts";
import type { ExportPositions } from "./export-positions.ts";
import type { ExportPlan, ExportSource } from "./plan-export.ts";

export function loggedSources({ collections, documents }: ExportPlan): readonly ExportSource[] {
  return [...collections, ...documents].filter(({ of }) => of.changes !== undefined);
}

/** The position from which each log is read again: what the client sent, or now. */
export async function startsOf(store: ChangeLogs, plan: ExportPlan): Promise<ExportPositions> {
  const sent = plan.asked.since ?? plan.asked.position;
  const starts = new Map<string, ClientPosition>();
  for (const source of loggedSources(plan)) {
    const { name, of } = source;
    const position = sent?.get(name);
    if (position !== undefined) await requireKept(store, source, position);
    const start = position?.start ?? (await store.newestChange(of));
    starts.set(name, { start, seen: position?.seen ?? start });
  }
  return starts;
}

async function requireKept(store: ChangeLogs, { name, of }: ExportSource, position: ClientPosition): Promise<void> {
  for (const each of new Set([position.seen, position.start])) {
    const { outcome } = await store.changesAfter(of, each, 1);
    if (outcome !== "changes") throw positionGone(name, outcome);
  }
}

/** To be asked for once all is read that the position is to stand for. */
export async function endOf(store: ChangeLogs, { of }: ExportSource, last: string): Promise<ClientPosition> {
  return { start: last, seen: laterOf(last, await store.newestChange(of)) };
}

export function positionGone(name: string, reason: "expired" | "lost"): Problem {
  const why =
    reason === "expired"
      ? "has dropped them: keep them longer by `retention` and `maxEntries`"
      : "no longer has them, after a failover or a purge";
  return new Problem(
    "position_expired",
    `Changes that the export of \`${name}\` needs are gone; the log ${why}. Export everything again`,
  );
}
