// Reads the tables of this folder: promises, each with one fault that breaks it and the tests that
// must notice.

import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";

export interface Mutation {
  readonly promise: string;
  /** From the root, as are the tests. */
  readonly file: string;
  readonly fn: string;
  /** In the terms of mutate.ts. */
  readonly change: string;
  readonly tests: readonly string[];
}

type Table = Readonly<Record<string, { readonly in: string; readonly change: string; readonly by: string }>>;

export const mutations: readonly Mutation[] = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".yaml"))
  .flatMap((name) => {
    const table = parse(readFileSync(`${import.meta.dirname}/${name}`, "utf8")) as Table;
    return Object.entries(table).map(([promise, { in: place, change, by }]) => {
      const [file = "", fn = ""] = place.split(" ");
      return { promise, file, fn, change, tests: by.split(" ") };
    });
  });
