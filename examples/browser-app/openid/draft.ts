// draft.ts: keeps what a person has typed while the provider's pages take the place of the app, in
// this tab only.

import type { TaggedTask } from "../plain-http/tasks.ts";
import type { Person } from "./session.ts";

export interface Draft {
  /** The form's values, by the names of its fields. */
  readonly values: Readonly<Record<string, string>>;
  /** The task that they change; undefined if it is a new one. */
  readonly seen: TaggedTask | undefined;
  /** Under which a new task may have been sent already. */
  readonly key: string;
}

interface Kept {
  readonly sub: string;
  readonly draft: Draft;
}

const place = "draft";

export function keepDraft({ sub }: Person, draft: Draft): void {
  const kept: Kept = { sub, draft };
  sessionStorage.setItem(place, JSON.stringify(kept));
}

/**
 * What this person has typed. Nothing is kept any longer then, nor if it was somebody else who had
 * typed it.
 */
export function takeDraft({ sub }: Person): Draft | undefined {
  const kept = JSON.parse(sessionStorage.getItem(place) ?? "null") as Kept | null;
  sessionStorage.removeItem(place);
  return kept?.sub === sub ? kept.draft : undefined;
}
