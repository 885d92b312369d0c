// Tabs over one panel. The arrow keys lead from tab to tab, and the Tab key into the panel.

import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";

export interface TabsProps {
  readonly label: string;
  readonly tabs: readonly string[];
  /** Index of the tab. */
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
  readonly children: ComponentChildren;
}

export function Tabs({ label, tabs, chosen, onChoose, children }: TabsProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const step = ({ key }: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: tabs.length - 1 }[key];
    if (by === undefined) return;
    const next = (chosen + by) % tabs.length;
    list.current?.querySelectorAll("button").item(next).focus();
    onChoose(next);
  };
  return (
    <>
      <div ref={list} role="tablist" class="tabs" aria-label={`Views: ${label}`} onKeyDown={step}>
        {tabs.map((tab, index) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`${id}-${index}`}
            aria-controls={`${id}-panel`}
            aria-selected={index === chosen}
            tabIndex={index === chosen ? 0 : -1}
            onClick={() => onChoose(index)}
          >
            {tab}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  );
}
