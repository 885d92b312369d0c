// What dev mode says. Each message is printed once, and shown in the overview while it is true.
// What the overview shows anyway, of manifests and credentials, is only printed.

import type { Level, ShownNews } from "../../../pages/overview/state.ts";
import type { Published } from "../apply/compile-folder.ts";
import type { DevState } from "../data-folder/dev-state.ts";

/** What messages depend on: the state after the last pass. */
export interface MessageFacts {
  readonly known: DevState;
  readonly published: Published;
  /** What the last pass could not use, as its messages say it. */
  readonly faults?: readonly string[];
}

export interface DevMessage {
  /** As it is printed. */
  readonly text: string;
  /** Absent of what the overview shows anyway. */
  readonly shown?: ShownMessageOptions;
}

export interface ShownMessageOptions {
  readonly level: Level;
  /** A later message about the same takes its place. */
  readonly about: string;
  /** Absent = until another one takes its place. */
  readonly isTrue?: (facts: MessageFacts) => boolean;
}

export interface MessageLog {
  say(message: DevMessage): void;
  /** What is true now, oldest first. */
  current(facts: MessageFacts): readonly ShownNews[];
}

const maxKept = 200;

export function createMessageLog(print: (line: string) => void): MessageLog {
  const kept = new Map<string, { readonly text: string; readonly shown: ShownMessageOptions }>();
  return {
    say({ text, shown }) {
      print(text);
      if (shown === undefined) return;
      kept.delete(shown.about);
      kept.set(shown.about, { text, shown });
      for (const about of [...kept.keys()].slice(0, -maxKept)) kept.delete(about);
    },
    current(facts) {
      for (const [about, { shown }] of kept) if (shown.isTrue?.(facts) === false) kept.delete(about);
      return [...kept].map(([about, { text, shown }]) => ({ level: shown.level, about, text }));
    },
  };
}
