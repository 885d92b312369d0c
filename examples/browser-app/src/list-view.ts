// list-view.ts: writes a page of tasks into the table, and says which task the person wants to
// change.

import { element } from "./elements.ts";
import type { ShownPage } from "./task-list.ts";
import type { Task } from "./tasks.ts";

export interface ListActions {
  setDone(task: Task, done: boolean): void;
  edit(task: Task): void;
}

export function showPage({ tasks, from, count, hasNext }: ShownPage, actions: ListActions): void {
  const table = element("rows", HTMLTableSectionElement);
  const focused = document.activeElement?.closest("tr")?.dataset["id"];
  const part = document.activeElement?.getAttribute("data-part");
  table.replaceChildren(...tasks.map((task) => rowOf(task, actions)));
  // A row that is drawn anew keeps the focus, for those who use the keyboard.
  if (part !== null && part !== undefined) {
    table.querySelector<HTMLElement>(`tr[data-id="${focused}"] [data-part="${part}"]`)?.focus();
  }
  const to = from + tasks.length - 1;
  element("place", HTMLElement).textContent = tasks.length === 0 ? "No tasks" : `${from} to ${to} of ${count}`;
  element("previous", HTMLButtonElement).disabled = from === 1;
  element("next", HTMLButtonElement).disabled = !hasNext;
}

function rowOf(task: Task, actions: ListActions): HTMLTableRowElement {
  const copy = element("row", HTMLTemplateElement).content.cloneNode(true) as DocumentFragment;
  const row = copy.querySelector("tr");
  if (row === null) throw new Error("The template has no row");
  row.dataset["id"] = task.id;
  row.classList.toggle("done", task.done === true);
  const done = element("done", HTMLInputElement, row);
  done.checked = task.done === true;
  done.ariaLabel = `${task.title} is done`;
  done.addEventListener("change", () => actions.setDone(task, done.checked));
  element("title", HTMLElement, row).textContent = task.title;
  element("priority", HTMLElement, row).textContent = String(task.priority);
  element("due", HTMLElement, row).textContent = task.due ?? "–";
  const edit = element("edit", HTMLButtonElement, row);
  edit.ariaLabel = `Edit ${task.title}`;
  edit.addEventListener("click", () => actions.edit(task));
  return row;
}
