// tasks.ts: the project's client, and its tasks as a collection: what is stored, followed as it
// changes, and on top of it a person's own changes until the server has them.

import { createClient } from "@jsonplane/client";
import { jsonplaneCollectionOptions } from "@jsonplane/client/tanstack-db";
import { createCollection } from "@tanstack/db";
import { base } from "./base.ts";
import type { Api, Tasks, TasksCreate } from "./generated/api.ts";

export type Task = Omit<Tasks, "_metadata">;
export type Fields = TasksCreate;
/** Only what changes; undefined removes a field. */
export type Changes = { [Name in keyof Fields]?: Fields[Name] | undefined };

/** Tokens stay in memory, so a reload signs out. */
export const api = createClient<Api>({ url: base });

export interface Listeners {
  /** Of other changes than one's own. */
  onState(state: "live" | "reconnecting"): void;
  /** The server lets this person follow the tasks no more. */
  onError(error: unknown): void;
}

/** For one person: it has none of the rows of the person before. */
export function openTasks(listeners: Listeners) {
  return createCollection(jsonplaneCollectionOptions({ client: api, resource: "tasks", ...listeners }));
}
