// main.ts: signs in at the provider, shows a task, and saves it.

import { api } from "../plain-http/api.ts";
import { changeTask, createTask, type Fields, keysOfNewTask, type TaggedTask } from "../plain-http/tasks.ts";
import { showAlert, showErrors } from "../src/form-errors.ts";
import { keepDraft, takeDraft } from "./draft.ts";
import { completeSignIn, type Person, Refused, signIn, signOut, whyNotSignedIn } from "./session.ts";

const signInForm = find<HTMLFormElement>(document, "#sign-in");
const taskForm = find<HTMLFormElement>(document, "#task");
const who = find(document, "#who");
const status = find(taskForm, "[role=status]");
let person: Person | undefined;
let keyFor = keysOfNewTask();
/** What the person saw; undefined while there is no task yet. */
let seen: TaggedTask | undefined;

function find<E extends Element>(within: ParentNode, selector: string): E {
  const found = within.querySelector<E>(selector);
  if (found === null) throw new Error(`The page has no ${selector}`);
  return found;
}

signInForm.addEventListener("submit", (event) => {
  event.preventDefault();
  showAlert(signInForm, "");
  signIn().catch((error) => showAlert(signInForm, whyNotSignedIn(error)));
});

async function start(): Promise<void> {
  try {
    const signedIn = await completeSignIn();
    if (signedIn === undefined) return;
    // Whether the project takes the token is for the project to say.
    const { error } = await api.GET("/whoami");
    if (error !== undefined) throw new Refused(error);
    person = signedIn;
  } catch (error) {
    return showAlert(signInForm, whyNotSignedIn(error));
  }
  who.textContent = person.name;
  restoreDraft(person);
  signInForm.hidden = true;
  taskForm.hidden = false;
}

function typed(): Fields {
  const { title, priority } = Object.fromEntries(new FormData(taskForm));
  return { title: String(title), priority: Number(priority) };
}

function restoreDraft(of: Person): void {
  const draft = takeDraft(of);
  if (draft === undefined) return;
  for (const field of taskForm.querySelectorAll<HTMLInputElement>("[name]")) {
    field.value = draft.values[field.name] ?? "";
  }
  seen = draft.seen;
  keyFor = keysOfNewTask({ fields: typed(), key: draft.key });
  status.textContent = "What you typed is here again. Save it.";
}

taskForm.addEventListener("submit", async (event) => {
  event.preventDefault();
  const fields = typed();
  const outcome = seen === undefined ? await createTask(fields, keyFor(fields)) : await changeTask(seen, fields);
  showErrors(taskForm, outcome.kind === "refused" ? outcome.problem : undefined);
  status.textContent = "";
  if (outcome.kind === "saved") {
    seen = outcome.saved;
    status.textContent = "Saved";
  }
  if (outcome.kind === "unknown") {
    status.textContent = "No answer came: it is not known whether this was stored. It is safe to save it again.";
  }
  if (outcome.kind === "conflict") {
    seen = outcome.current;
    status.textContent = `Somebody else wrote "${seen.task.title}". Save again to write over it.`;
  }
});

find(document, "#sign-out").addEventListener("click", async () => {
  if (await signOut()) return;
  showAlert(signInForm, "You are signed out here. Your session at the provider could not be ended, and may go on.");
});
addEventListener("signed-out", close);
addEventListener("sign-in-expired", () => {
  if (person !== undefined) {
    const values = Object.fromEntries([...new FormData(taskForm)].map(([name, value]) => [name, String(value)]));
    keepDraft(person, { values, seen, key: keyFor(typed()) });
  }
  close();
  showAlert(signInForm, "Your sign-in has ended. Sign in again: what you typed is kept.");
});

/** Nothing of this person stays in the page for the next one. */
function close(): void {
  signInForm.hidden = false;
  taskForm.hidden = true;
  taskForm.reset();
  who.textContent = "";
  status.textContent = "";
  person = undefined;
  seen = undefined;
  keyFor = keysOfNewTask();
}

void start();
