// form-errors.ts: shows a problem beside the fields that it is about. The field `title` has the
// pointer `/title`; its message goes into the element that its aria-describedby names.

/** What of a problem is for people. */
export interface ShownProblem {
  readonly detail: string;
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
}

export function showErrors(form: HTMLFormElement, problem: ShownProblem | undefined): void {
  const messages = new Map(problem?.errors?.map(({ pointer, message }) => [pointer, message]));
  const fields = [...form.querySelectorAll<HTMLInputElement>("[name][aria-describedby]")];
  for (const field of fields) {
    const message = messages.get(`/${field.name}`);
    messages.delete(`/${field.name}`);
    field.setAttribute("aria-invalid", String(message !== undefined));
    write(form, `#${field.getAttribute("aria-describedby")}`, message);
  }
  const isElsewhere = problem !== undefined && ((problem.errors ?? []).length === 0 || messages.size > 0);
  showAlert(form, isElsewhere ? problem.detail : "");
  fields.find((field) => field.getAttribute("aria-invalid") === "true")?.focus();
}

/** Shows what concerns the form as a whole; an empty message removes the one before. */
export function showAlert(form: HTMLFormElement, message: string): void {
  write(form, "[role=alert]", message);
}

function write(form: HTMLFormElement, selector: string, message = ""): void {
  const place = form.querySelector(selector);
  if (place !== null) place.textContent = message;
}
