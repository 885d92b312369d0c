// main.ts: joins the parts of the app: signing in and out, the list, and what happens when the
// server refuses something.

import { api } from "./api.ts";
import { wantsOwn } from "./conflict-dialog.ts";
import { element } from "./elements.ts";
import { showAlert } from "./form-errors.ts";
import { showPage } from "./list-view.ts";
import { Refused, signIn, signOut, whyNotSignedIn } from "./session.ts";
import { type Attempt, askForTask } from "./task-dialog.ts";
import { createTaskList } from "./task-list.ts";
import { type Changes, createTask, keysOfNewTask, type Task } from "./tasks.ts";
import "./style.css";

const signInForm = element("sign-in", HTMLFormElement);
const message = element("message", HTMLElement);
const list = createTaskList((page) =>
  showPage(page, {
    setDone: (task, done) => void attempt(() => change(task, { done })),
    edit: (task) => void attempt(() => edit(task)),
  }),
);

/** Does something, and says what went wrong. */
async function attempt(action: () => Promise<void>): Promise<void> {
  message.textContent = "";
  try {
    await action();
  } catch (error) {
    message.textContent = sentenceFor(error);
  }
}

function sentenceFor(error: unknown): string {
  if (error instanceof Refused && error.problem.status === 401) {
    return unsaved === undefined ? "Please sign in again." : "Please sign in again. What you typed is kept.";
  }
  if (error instanceof Refused) return error.problem.detail;
  // What fetch throws if there is no answer.
  if (error instanceof TypeError) return "The server can't be reached. What you see may be out of date.";
  throw error;
}

const lost = "No answer came from the server, so it is not known whether this was stored. It is safe to save it again.";
const notSaved = "This is not saved yet.";
/**
 * What a person typed and could not save, because the session had ended: shown again to that
 * person.
 */
let unsaved: { readonly name: string; readonly show: () => Promise<void> } | undefined;
const isSignedIn = (): boolean => document.body.classList.contains("signed-in");

async function change(task: Task, changes: Changes): Promise<void> {
  const outcome = await list.change(task.id, changes);
  if (outcome.kind === "conflict" && (await wantsOwn(outcome.current.task, changes))) {
    await change(outcome.current.task, changes);
  }
  if (outcome.kind === "refused" && outcome.problem.status === 401) {
    if (changes.title !== undefined) {
      keep(() => edit(task, { heading: "Edit task", fields: { ...task, ...changes }, alert: notSaved }));
    }
    throw new Refused(outcome.problem);
  }
  if (outcome.kind === "refused") {
    message.textContent = `Not saved: ${outcome.problem.detail}`;
    if (outcome.problem.errors !== undefined) {
      await edit(task, { heading: "Edit task", fields: { ...task, ...changes }, problem: outcome.problem });
    }
  }
  if (outcome.kind === "unknown") await askAgain(task, changes);
}

async function askAgain(task: Task, changes: Changes): Promise<void> {
  // Only the form has text that must not be lost.
  if (changes.title === undefined) {
    message.textContent = "No answer came from the server, so it is not known whether this was stored. Try again.";
  } else if (isSignedIn()) {
    await edit(task, { heading: "Edit task", fields: { ...task, ...changes }, alert: lost });
  }
}

async function edit(task: Task, shown: Attempt = { heading: "Edit task", fields: task }): Promise<void> {
  const fields = await askForTask(shown);
  if (fields === undefined) return;
  message.textContent = "";
  const changes = { ...fields, due: fields.due ?? null };
  const isSame = fields.title === task.title && fields.priority === task.priority && fields.due === task.due;
  // After a lost answer something else may be stored.
  if (!isSame || shown.alert !== undefined) await change(task, changes);
}

function keep(show: () => Promise<void>): void {
  unsaved = { name: element("who", HTMLElement).textContent, show };
}

async function create(first: Attempt = { heading: "New task", fields: {} }, keyFor = keysOfNewTask()): Promise<void> {
  const { heading } = first;
  let shown = first;
  for (;;) {
    const fields = await askForTask(shown);
    if (fields === undefined) return;
    const outcome = await createTask(fields, keyFor(fields));
    if (outcome.kind === "saved") break;
    if (outcome.kind === "refused" && outcome.problem.status === 401) {
      keep(() => create({ heading, fields, alert: notSaved }, keyFor));
      throw new Refused(outcome.problem);
    }
    // The next person must not see what this one typed.
    if (!isSignedIn()) return;
    shown =
      outcome.kind === "refused" ? { heading, fields, problem: outcome.problem } : { heading, fields, alert: lost };
  }
  await list.load();
}

async function enter(): Promise<void> {
  const { data, error } = await api.GET("/whoami");
  if (error !== undefined) throw new Refused(error);
  await list.load();
  element("who", HTMLElement).textContent = data.name;
  signInForm.reset();
  document.body.classList.add("signed-in");
  const kept = unsaved;
  unsaved = undefined;
  if (kept?.name === data.name) await kept.show();
}

signInForm.addEventListener("submit", (event) => {
  event.preventDefault();
  const [name, password] = ["name", "password"].map((id) => element(id, HTMLInputElement).value);
  void attempt(async () => {
    showAlert(signInForm, "");
    try {
      await signIn(name ?? "", password ?? "");
    } catch (error) {
      showAlert(signInForm, whyNotSignedIn(error));
      return;
    }
    await enter();
  });
});
addEventListener("signed-out", () => {
  document.body.classList.remove("signed-in");
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  element("rows", HTMLElement).replaceChildren();
});
element("sign-out", HTMLButtonElement).addEventListener("click", () => void attempt(signOut));
element("new", HTMLButtonElement).addEventListener("click", () => void attempt(() => create()));
element("previous", HTMLButtonElement).addEventListener("click", () => void attempt(() => list.turn(-1)));
element("next", HTMLButtonElement).addEventListener("click", () => void attempt(() => list.turn(1)));
const order = element("order", HTMLSelectElement);
order.addEventListener("change", () => void attempt(() => list.load(order.value)));
