// Checks a collection against each rule of docs/reference/changes.md, as a client sees it. Deletes
// the objects that it created.

import { Collection, type Target } from "./collection.ts";
import { Differs } from "./differs.ts";
import { jsonRules } from "./rules/json-form.ts";
import { positionRules } from "./rules/positions.ts";
import type { Rule } from "./rules/rule.ts";
import { eventsRule, streamRules, unloggedRule } from "./rules/streams.ts";

export interface CheckedRule {
  readonly says: string;
  /** Absent where the rule holds. */
  readonly differs?: string;
}

/** `onChecked` is called for each rule in turn. */
export async function checkChanges(
  target: Target,
  onChecked: (checked: CheckedRule) => void = () => undefined,
  /** Called with what deletes the objects, for when the process is interrupted. */
  onOpened: (deleteOwn: () => Promise<void>) => void = () => undefined,
): Promise<readonly CheckedRule[]> {
  const collection = await Collection.open(target);
  onOpened(() => collection.deleteOwn());
  const unlogged = target.unlogged === undefined ? [] : [unloggedRule(target.unlogged)];
  const checked: CheckedRule[] = [];
  try {
    for (const rule of [...streamRules, ...positionRules, ...jsonRules, ...unlogged, eventsRule]) {
      const one = await checkedRule(rule, collection);
      checked.push(one);
      onChecked(one);
    }
  } finally {
    collection.endStreams();
    await collection.deleteOwn();
  }
  return checked;
}

async function checkedRule({ says, check }: Rule, collection: Collection): Promise<CheckedRule> {
  try {
    await check(collection);
    return { says };
  } catch (failure) {
    if (!(failure instanceof Differs)) throw failure;
    return { says, differs: failure.message };
  } finally {
    collection.endStreams();
  }
}
