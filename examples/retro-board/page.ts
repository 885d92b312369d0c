// What the page shows, and what people do in it.

import type { Card } from "./generated/api.ts";

export interface Asked {
  readonly column: Card["column"] | undefined;
  /** Only the cards of who is signed in. */
  readonly mine: boolean;
}

export interface Actions {
  readonly show: (asked: Asked) => Promise<void>;
  readonly signIn: (who: { readonly username: string; readonly password: string }) => Promise<void>;
  readonly signOut: () => Promise<void>;
  readonly add: (fields: Pick<Card, "column" | "text">) => Promise<void>;
  readonly vote: (id: string) => Promise<void>;
  readonly remove: (id: string) => Promise<void>;
  readonly onSignedIn: (listener: () => void) => void;
}

const form = (id: string) => document.getElementById(id) as HTMLFormElement;
const textIn = (data: FormData, name: string) => String(data.get(name) ?? "");

export function say(text: string): void {
  (document.getElementById("message") as HTMLElement).textContent = text;
}

export function showSignedIn(isSignedIn: boolean): void {
  document.body.classList.toggle("signed-in", isSignedIn);
}

export function showCards(cards: readonly Card[]): void {
  const list = document.querySelector("ul") as HTMLUListElement;
  list.replaceChildren(...cards.map(rowOf));
}

function rowOf({ id, column, text, votes = 0, _metadata }: Card): HTMLElement {
  const template = document.querySelector("template") as HTMLTemplateElement;
  const row = (template.content.cloneNode(true) as DocumentFragment).firstElementChild as HTMLElement;
  row.dataset["id"] = id;
  row.dataset["column"] = column;
  // A new card has none until the server has answered.
  (row.querySelector("span") as HTMLElement).textContent = `${text} (${_metadata?.creator ?? "…"})`;
  (row.querySelector("[name=vote]") as HTMLElement).textContent = `+${votes}`;
  return row;
}

export function ask(actions: Actions): void {
  const asked = (): Asked => {
    const data = new FormData(form("filter"));
    return { column: (textIn(data, "column") || undefined) as Asked["column"], mine: data.has("mine") };
  };
  const show = () => void actions.show(asked());
  onSubmit("sign-in", (data) => actions.signIn({ username: textIn(data, "name"), password: textIn(data, "password") }));
  onSubmit("add", (data) =>
    actions.add({ column: textIn(data, "column") as Card["column"], text: textIn(data, "text") }),
  );
  onSubmit("sign-out", () => actions.signOut());
  form("filter").addEventListener("change", show);
  document.querySelector("ul")?.addEventListener("click", ({ target }) => {
    if (!(target instanceof HTMLButtonElement)) return;
    const id = target.closest("li")?.dataset["id"] ?? "";
    void (target.name === "vote" ? actions.vote(id) : actions.remove(id));
  });
  actions.onSignedIn(show);
  show();
}

function onSubmit(id: string, action: (data: FormData) => Promise<void>): void {
  form(id).addEventListener("submit", (event) => {
    event.preventDefault();
    void action(new FormData(form(id)));
    form(id).reset();
  });
}
