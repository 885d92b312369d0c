// Says how much somebody else has changed, at most every ten seconds, so that a screen reader isn't
// kept busy by a busy list.

import { useEffect, useRef, useState } from "preact/hooks";

const pauseMs = 10_000;

export interface News {
  /** Empty once nothing has changed for ten seconds. */
  readonly text: string;
  readonly add: (count: number) => void;
}

export function useNews(): News {
  const [text, setText] = useState("");
  const waiting = useRef(0);
  const timer = useRef<number>(undefined);
  const say = (): void => {
    const count = waiting.current;
    waiting.current = 0;
    setText(count === 0 ? "" : `Somebody else changed ${count === 1 ? "1 object" : `${count} objects`}.`);
    timer.current = count === 0 ? undefined : window.setTimeout(say, pauseMs);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    text,
    add: (count) => {
      waiting.current += count;
      if (count > 0 && timer.current === undefined) say();
    },
  };
}
