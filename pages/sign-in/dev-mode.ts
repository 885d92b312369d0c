// What only dev mode allows, whose pages have the meta element: to stay signed in when a page is
// loaded again, and to be signed in by a one-time token of the overview.

import { devModeMeta } from "./offered-issuer.ts";

const parameter = "#one-time-token=";

/** URL of a project's console, for the overview. */
export function consoleUrlFor(project: string, token: string): string {
  return `${project}/console${parameter}${token}`;
}

/** Cleans the page's URL of it. */
export function takeOneTimeToken(): string | undefined {
  if (!location.hash.startsWith(parameter)) return undefined;
  const token = location.hash.slice(parameter.length);
  history.replaceState(null, "", "#/");
  return isDevMode() ? token : undefined;
}

export interface Kept<T> {
  read(): T | undefined;
  write(value: T | undefined): void;
}

/** In sessionStorage, which is the tab's; nowhere, unless the page is dev mode's. */
export function keptInTab<T>({ pathname }: URL): Kept<T> {
  if (!isDevMode()) return { read: () => undefined, write: () => undefined };
  const name = `jsonplane ${pathname}`;
  return {
    read() {
      const text = sessionStorage.getItem(name);
      return text === null ? undefined : (JSON.parse(text) as T);
    },
    write(value) {
      if (value === undefined) sessionStorage.removeItem(name);
      else sessionStorage.setItem(name, JSON.stringify(value));
    },
  };
}

export function isDevMode(): boolean {
  return document.querySelector(`meta[name="${devModeMeta}"]`) !== null;
}
