// Which events of a storage that tabs share say that somebody has signed in or out.

import { expect, it, vi } from "vitest";
import { createClient } from "../../../client/index.ts";

const url = "https://api.example.org/default/shop";
const key = `jsonplane:${url}`;
const tokens = (access_token: string, refresh_token: string) => JSON.stringify({ access_token, refresh_token });

it("tells of another tab's sign-in and sign-out, and not of its refresh", () => {
  let inOtherTab = (_event: object): void => undefined;
  vi.stubGlobal("addEventListener", (_type: string, listener: typeof inOtherTab) => {
    inOtherTab = listener;
  });
  let stored: string | null = null;
  const storage = { getItem: () => stored, setItem: () => undefined, removeItem: () => undefined };
  const heard: boolean[] = [];
  createClient({ url, storage }).onAuthStateChange((isSignedIn) => heard.push(isSignedIn));
  const store = (newValue: string | null, changed: string | null = key) => {
    const oldValue = stored;
    stored = newValue;
    inOtherTab({ key: changed, oldValue: changed && oldValue, newValue: changed && newValue });
  };
  store(tokens("a1", "r1"));
  store(tokens("a2", "r1"));
  store(tokens("a3", "r2"));
  store("{ cut");
  store(null, null);
  vi.unstubAllGlobals();
  expect(heard).toEqual([true, true, false, false]);
});
