// tasks.ts: reads and writes tasks. A change carries the tag of the task that the person saw, so that it overwrites nobody's work.

import { api } from "./api.ts";
import type { components } from "./generated/api.generated.ts";
import { type Problem, Refused } from "./session.ts";

export type Fields = components["schemas"]["tasks"];
export type Task = components["schemas"]["tasks.stored"];
/** Only what changes; null removes a field. */
export type Changes = { [Name in keyof Fields]?: Fields[Name] | null | undefined };

export interface TaggedTask {
  readonly task: Task;
  readonly etag: string;
}

export type Outcome =
  | { readonly kind: "saved"; readonly saved: TaggedTask }
  /** Somebody else has changed it meanwhile: nothing was written. */
  | { readonly kind: "conflict"; readonly current: TaggedTask }
  | { readonly kind: "refused"; readonly problem: Problem };

export interface TaskPage {
  readonly tasks: readonly TaggedTask[];
  /** Of all pages together. */
  readonly count: number;
  readonly hasNext: boolean;
}

export interface PageOptions {
  readonly _sort?: string;
  readonly _limit?: number;
  readonly _offset?: number;
}

/** A page has 10 tasks unless `_limit` says otherwise, and 100 at most. */
export async function listTasks(options: PageOptions = {}): Promise<TaskPage> {
  const { data, error } = await api.GET("/api/tasks", { params: { query: { ...options, _etags: true } } });
  if (error !== undefined) throw new Refused(error);
  // In the types, etags is optional: without `_etags=true` there is none.
  const tasks = data.items.map((task) => ({ task, etag: data.etags?.[task.id] ?? "" }));
  return { tasks, count: data.count ?? 0, hasNext: data.links.next !== undefined };
}

export async function readTask(id: string): Promise<TaggedTask> {
  const { data, error, response } = await api.GET("/api/tasks/{id}", { params: { path: { id } } });
  if (error !== undefined) throw new Refused(error);
  return tagged(data, response);
}

export async function changeTask({ task, etag }: TaggedTask, changes: Changes): Promise<Outcome> {
  const params = { path: { id: task.id }, header: { "If-Match": etag } };
  const { data, error, response } = await api.PATCH("/api/tasks/{id}", { params, body: changes });
  if (data !== undefined) return { kind: "saved", saved: tagged(data, response) };
  if (error.code === "precondition_failed") return { kind: "conflict", current: await readTask(task.id) };
  return { kind: "refused", problem: error };
}

/** `key` is one for each task that a person means to create: repeated with the same key, it is created once. */
export async function createTask(fields: Fields, key: string): Promise<Outcome> {
  const params = { header: { "Idempotency-Key": key } };
  const { data, error, response } = await api.POST("/api/tasks", { params, body: fields });
  if (error !== undefined) return { kind: "refused", problem: error };
  return { kind: "saved", saved: tagged(data, response) };
}

function tagged(task: Task, response: Response): TaggedTask {
  return { task, etag: response.headers.get("ETag") ?? "" };
}
