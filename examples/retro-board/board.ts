// The board: sign-in that tabs share, all cards or one's own, and changes that show at once.

import { createClient, type LiveList, Problem } from "@jsonplane/client";
import type { Api } from "./generated/api.ts";
import { type Asked, ask, say, showCards, showSignedIn } from "./page.ts";

const url = import.meta.env["VITE_API"] ?? "http://127.0.0.1:8080/default/retro";
const api = createClient<Api>({ url, storage: localStorage });
let cards: LiveList<Api["resources"]["cards"]>;
let leaving = new AbortController();

/** Shows the cards that are asked for, and follows them until others are. */
async function show({ column, mine }: Asked): Promise<void> {
  leaving.abort();
  leaving = new AbortController();
  showSignedIn(api.isSignedIn);
  if (!api.isSignedIn) return;
  const creator = mine ? (await api.whoAmI()).name : undefined;
  const { signal } = leaving;
  const filter = { column, "_metadata.creator": creator };
  cards = api.resource("cards").live({ filter, sort: ["-votes", "text"], signal, onState: say });
  for await (const items of cards) showCards(items);
}

ask({
  show: (asked) => orSay(show(asked)),
  signIn: (who) => orSay(api.signIn(who)),
  signOut: () => orSay(api.signOut()),
  add: (fields) => orSay(cards.create(fields)),
  vote: (id) => orSay(cards.edit(id, ({ votes = 0 }) => ({ votes: votes + 1 }))),
  remove: (id) => orSay(cards.delete(id)),
  onSignedIn: (listener) => api.onAuthStateChange(listener),
});

async function orSay(done: Promise<unknown>): Promise<void> {
  await done.catch((error: unknown) => say(error instanceof Problem ? error.detail : String(error)));
}
