// Says beside a heading whether changes of others show by themselves.

import type { LiveState } from "./follow-changes.ts";

const words: Readonly<Record<LiveState, readonly [string, string]>> = {
  live: ["Live", "What others change shows here by itself."],
  reconnecting: ["Reconnecting…", "The server can't be reached, so what you see may be out of date."],
  off: ["Not live", "What others change shows here when you load it again."],
};

export function LiveMark({ state }: { readonly state: LiveState | undefined }) {
  if (state === undefined) return null;
  const [word, sentence] = words[state];
  return (
    <span class={`live-mark ${state}`} title={sentence}>
      {word}
      <span class="visually-hidden">. {sentence}</span>
    </span>
  );
}
