// A box that scrolls sideways, with a shadow on the side where it goes on.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export function Sideways({ children }: { readonly children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const [sides, setSides] = useState("");
  const look = (): void => {
    const { scrollLeft = 0, scrollWidth = 0, clientWidth = 0 } = box.current ?? {};
    const hasRight = scrollLeft + clientWidth < scrollWidth - 1;
    setSides(`${scrollLeft > 0 ? "more-left" : ""} ${hasRight ? "more-right" : ""}`.trim());
  };
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    const observer = new ResizeObserver(look);
    for (const each of [current, ...current.children]) observer.observe(each);
    return () => observer.disconnect();
  }, []);
  return (
    <div class={`sideways ${sides}`}>
      <div ref={box} class="scrolls" onScroll={look}>
        {children}
      </div>
    </div>
  );
}
