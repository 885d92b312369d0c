// The heading of a view. A new view gets the focus there, so that a person who does not see the
// page hears where it is, and the page's title names it.

import { useLayoutEffect, useRef } from "preact/hooks";
import { useConsole } from "./console-context.ts";
import type { LiveState } from "./live/follow-changes.ts";

export interface ViewHeadingProps {
  readonly name: string;
  /** What the page's title says, where that isn't the name alone. */
  readonly titled?: string;
  readonly live?: LiveState | undefined;
}

export function ViewHeading({ name, titled = name, live }: ViewHeadingProps) {
  const { title } = useConsole();
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = titled === title ? `${title} console` : `${titled} – ${title} console`;
  }, [titled, title]);
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <div class="view-heading">
      <h1 ref={heading} tabIndex={-1}>
        {name}
      </h1>
      <LiveMark state={live} />
    </div>
  );
}

const words: Readonly<Record<LiveState, readonly [string, string]>> = {
  live: ["Live", "What others change shows here by itself."],
  reconnecting: ["Reconnecting…", "The server can't be reached, so what you see may be out of date."],
  off: ["Not live", "What others change shows here when you load it again."],
};

/** Whether changes of others show by themselves. */
function LiveMark({ state }: { readonly state: LiveState | undefined }) {
  if (state === undefined) return null;
  const [word, sentence] = words[state];
  return (
    <span class={`live-mark ${state}`} title={sentence}>
      {word}
      <span class="visually-hidden">. {sentence}</span>
    </span>
  );
}
