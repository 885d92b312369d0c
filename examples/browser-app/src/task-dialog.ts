// task-dialog.ts: asks for the fields of a task, with the errors of an attempt beside them.
// Undefined if the person cancels.

import { element } from "./elements.ts";
import { type ShownProblem, showAlert, showErrors } from "./form-errors.ts";
import type { Changes, Fields } from "./tasks.ts";

const dialog = element("task", HTMLDialogElement);
const form = element("task-form", HTMLFormElement);
const title = element("task-title", HTMLInputElement);
const priority = element("task-priority", HTMLInputElement);
const due = element("task-due", HTMLInputElement);

export interface Attempt {
  readonly heading: string;
  readonly fields: Changes;
  readonly problem?: ShownProblem;
  /** What became of the attempt, where that is no problem of the server's. */
  readonly alert?: string;
}

export async function askForTask({ heading, fields, problem, alert }: Attempt): Promise<Fields | undefined> {
  element("task-heading", HTMLElement).textContent = heading;
  title.value = fields.title ?? "";
  priority.value = String(fields.priority ?? 2);
  due.value = fields.due ?? "";
  dialog.returnValue = "";
  dialog.showModal();
  showErrors(form, problem);
  if (alert !== undefined) showAlert(form, alert);
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  return dialog.returnValue === "save" ? typed() : undefined;
}

/** What the form has now. */
export function typed(): Fields {
  return {
    title: title.value.trim(),
    priority: Number(priority.value),
    ...(due.value !== "" && { due: due.value }),
  };
}
