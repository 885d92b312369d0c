// main.ts: joins the parts of the app: signing in and out, the list, and what happens when the
// server refuses something or the network is away.

import { Problem } from "@jsonplane/client";
import { isConflict, wantsOwn } from "./conflict-dialog.ts";
import { element } from "./elements.ts";
import { showAlert } from "./form-errors.ts";
import { showPage } from "./list-view.ts";
import { type Attempt, askForTask, typed } from "./task-dialog.ts";
import { openTaskList, type ShownPage, type TaskList } from "./task-list.ts";
import { api, type Changes, type Fields, type Task } from "./tasks.ts";
import "./style.css";

const signInForm = element("sign-in", HTMLFormElement);
const message = element("message", HTMLElement);
const who = element("who", HTMLElement);
const order = element("order", HTMLSelectElement);
let list: TaskList | undefined;
/** Writes that the server hasn't answered. */
let waiting = 0;

/** Shows the dialog again with what was typed. */
type Again = (fields: Changes) => Promise<void>;
/** Of the dialog that is open. */
let asking: Again | undefined;
/** What a person typed and could not save, because the session had ended: only for that person. */
let unsaved: { readonly name: string; readonly show: () => Promise<void> } | undefined;

const notSaved = "This is not saved yet.";
const gone = "The task is not there any more. Save this as a new one?";
const signInAgain = "Please sign in again.";

/** Does something, and says what went wrong. */
async function attempt(action: () => Promise<unknown>): Promise<void> {
  message.textContent = "";
  try {
    await action();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    message.textContent = error.code === "no_response" ? "The server can't be reached." : error.detail;
  }
}

/** The network may come back much later. */
async function waitFor(write: Promise<unknown>): Promise<void> {
  waiting += 1;
  await write.finally(() => {
    waiting -= 1;
  });
}

async function change(seen: Task, changes: Changes): Promise<void> {
  const current = list?.get(seen.id);
  if (list === undefined || current === undefined) {
    // Only the form has text that must not be lost.
    if ("done" in changes) message.textContent = "This task is not there any more.";
    else await create({ heading: "New task", fields: { ...seen, ...changes }, alert: gone });
  } else if (!isConflict(seen, current, changes)) {
    await waitFor(list.change(seen.id, changes)).catch((error: unknown) => refused(error, current, changes));
  } else if (await wantsOwn(current, changes)) {
    await change(current, changes);
  }
}

async function refused(error: unknown, seen: Task, changes: Changes): Promise<void> {
  // Somebody was faster: then the list has theirs by now.
  if (api.isProblem(error, "precondition_failed") || api.isProblem(error, "not_found"))
    return await change(seen, changes);
  const fields = { ...seen, ...changes };
  if (hasSignedOut(error) && !("done" in changes)) keep(againFor(seen), fields);
  if (hasSignedOut(error)) return;
  if (!(error instanceof Problem)) throw error;
  message.textContent = `Not saved: ${error.detail}`;
  if (error.errors.length > 0) await edit(seen, { heading: "Edit task", fields, problem: error });
}

async function edit(task: Task, shown: Attempt = { heading: "Edit task", fields: task }): Promise<void> {
  const fields = await ask(shown, againFor(task));
  if (fields === undefined) return;
  message.textContent = "";
  const names = (["title", "priority", "due"] as const).filter((name) => fields[name] !== task[name]);
  const changes: Changes = Object.fromEntries(names.map((name) => [name, fields[name]]));
  if (names.length > 0) await change(task, changes);
}

function againFor(task: Task): Again {
  return (fields) => edit(task, { heading: "Edit task", fields, alert: notSaved });
}

async function create(shown: Attempt = { heading: "New task", fields: {} }): Promise<void> {
  const again: Again = (fields) => create({ heading: "New task", fields, alert: notSaved });
  const fields = await ask(shown, again);
  if (fields === undefined || list === undefined) return;
  await waitFor(list.create(fields)).catch(async (error: unknown) => {
    if (hasSignedOut(error)) return keep(again, fields);
    if (!(error instanceof Problem)) throw error;
    await create({ heading: "New task", fields, problem: error });
  });
}

async function ask(shown: Attempt, again: Again): Promise<Fields | undefined> {
  asking = again;
  return await askForTask(shown).finally(() => {
    asking = undefined;
  });
}

/** The client has given up a write because its person has gone, or the server has refused it so. */
function hasSignedOut(error: unknown): boolean {
  return (
    (error instanceof DOMException && error.name === "AbortError") || (error instanceof Problem && error.status === 401)
  );
}

function keep(again: Again, fields: Changes): void {
  unsaved = { name: who.textContent, show: () => again(fields) };
  message.textContent = `${signInAgain} What you typed is kept.`;
}

async function enter(): Promise<void> {
  const { name } = await api.whoAmI();
  const setDone = (task: Task, done: boolean) => void attempt(() => change(task, { done }));
  const show = (page: ShownPage) => showPage(page, { setDone, edit: (task) => void attempt(() => edit(task)) });
  list = openTaskList(show, { onState: showState, onError: leave });
  list.sortBy(order.value);
  await list.ready;
  who.textContent = name;
  signInForm.reset();
  document.body.classList.add("signed-in");
  const kept = unsaved;
  unsaved = undefined;
  if (kept?.name === name) await kept.show();
}

/** Nothing of this person is left on the page but what could not be saved. */
function leave(): void {
  if (list === undefined) return;
  void list.close();
  list = undefined;
  message.textContent = signInAgain;
  if (asking !== undefined) keep(asking, typed());
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  document.body.classList.remove("signed-in");
  element("rows", HTMLElement).replaceChildren();
}

function showState(state: "live" | "reconnecting"): void {
  element("offline", HTMLElement).hidden = state === "live";
}

/** The detail of a problem is written for people who write clients. */
function whyNotSignedIn(error: unknown): string {
  if (!(error instanceof Problem)) throw error;
  if (error.code === "invalid_credentials") return "The name or the password is wrong.";
  if (error.code === "login_throttled") return "Too many attempts. Try again later.";
  if (error.code !== "no_response") return error.detail;
  return "The server can't be reached, or does not allow this page's origin (cors.allowedOrigins).";
}

signInForm.addEventListener("submit", (event) => {
  event.preventDefault();
  const [username = "", password = ""] = ["name", "password"].map((id) => element(id, HTMLInputElement).value);
  void attempt(async () => {
    showAlert(signInForm, "");
    try {
      await api.signIn({ username, password });
    } catch (error) {
      showAlert(signInForm, whyNotSignedIn(error));
      return;
    }
    await enter();
  });
});
api.onAuthStateChange((isSignedIn) => {
  if (!isSignedIn) leave();
});
element("sign-out", HTMLButtonElement).addEventListener("click", () => void attempt(() => api.signOut()));
element("new", HTMLButtonElement).addEventListener("click", () => void attempt(() => create()));
element("previous", HTMLButtonElement).addEventListener("click", () => list?.turn(-1));
element("next", HTMLButtonElement).addEventListener("click", () => list?.turn(1));
order.addEventListener("change", () => list?.sortBy(order.value));
addEventListener("offline", () => showState("reconnecting"));
addEventListener("online", () => showState("live"));
// The page keeps what it has not sent yet in memory only.
addEventListener("beforeunload", (event) => {
  if (waiting > 0) event.preventDefault();
});
