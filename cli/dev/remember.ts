// Turns what a compilation found into what is known from now on: which versions are live, what Secrets were resolved, and
// which graves are done with.

import type { CompiledFolder } from "./compile-folder.ts";
import type { Grave, Knowledge, KnownObject } from "./dev-state.ts";

export function remember(known: Knowledge, compiled: CompiledFolder, done: readonly Grave[]): Knowledge {
  const accepted = new Set(compiled.verdicts.filter((verdict) => verdict.accepted).map(({ uid }) => uid));
  const objects = new Map<string, KnownObject>();
  for (const [subject, object] of known.objects) {
    const { live, ...rest } = object;
    const status = compiled.statuses.get(object.uid) ?? object.status;
    // An accepted version is the live one; a refused one leaves the one before.
    const former = accepted.has(object.uid) || live === undefined ? {} : { live };
    objects.set(subject, { ...rest, ...former, ...(status !== undefined && { status }) });
  }
  return { objects, graves: known.graves.filter((grave) => !done.includes(grave)) };
}
