// conflict-dialog.ts: shows what somebody else has written meanwhile beside one's own change, and
// asks which is to stay.

import { element } from "./elements.ts";
import type { Changes, Task } from "./tasks.ts";

const dialog = element("conflict", HTMLDialogElement);
const names = { title: "Title", priority: "Priority", due: "Due", done: "Done" } as const;

/** Whether somebody else has changed what the person has seen, and changes now. */
export function isConflict(seen: Task, current: Task, changes: Changes): boolean {
  return Object.keys(names).some((name) => {
    const field = name as keyof typeof names;
    return field in changes && seen[field] !== current[field] && changes[field] !== current[field];
  });
}

/** Whether the person wants to write their own change over the other one. */
export async function wantsOwn(current: Task, changes: Changes): Promise<boolean> {
  const rows = Object.entries(names).flatMap(([name, label]) => {
    const field = name as keyof typeof names;
    if (!(field in changes) || worded(current[field]) === worded(changes[field])) return [];
    return [comparison(label, worded(current[field]), worded(changes[field]))];
  });
  element("differences", HTMLTableSectionElement).replaceChildren(...rows);
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  return dialog.returnValue === "own";
}

function worded(value: string | number | boolean | undefined): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value === undefined ? "–" : String(value);
}

function comparison(...texts: readonly string[]): HTMLTableRowElement {
  const row = document.createElement("tr");
  for (const [at, text] of texts.entries()) {
    const cell = document.createElement(at === 0 ? "th" : "td");
    cell.textContent = text;
    row.append(cell);
  }
  return row;
}
