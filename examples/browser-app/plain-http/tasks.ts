// tasks.ts: reads and writes tasks. A change carries the tag of the task that the person saw, so
// that it overwrites nobody's work.

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
  | { readonly kind: "refused"; readonly problem: Problem }
  /** No answer came: it was written, or not. To send the same again is safe. */
  | { readonly kind: "unknown" };

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

/** Changes whose answer was lost, so that they may be stored. */
const unanswered = new Set<string>();

export async function changeTask({ task, etag }: TaggedTask, changes: Changes): Promise<Outcome> {
  const attempt = JSON.stringify([task.id, etag, changes]);
  const params = { path: { id: task.id }, header: { "If-Match": etag } };
  const answer = await unlessLost(api.PATCH("/api/tasks/{id}", { params, body: changes }));
  if (answer === undefined) {
    unanswered.add(attempt);
    return { kind: "unknown" };
  }
  const { data, error, response } = answer;
  if (data !== undefined) return { kind: "saved", saved: tagged(data, response) };
  if (error.code !== "precondition_failed") return { kind: "refused", problem: error };
  const current = await readTask(task.id);
  // Only after a lost answer is an equal value taken for one's own. Otherwise somebody else wrote
  // it: two people who count from 0 to 1 must not both hear "saved".
  return unanswered.has(attempt) && hasAll(current.task, changes)
    ? { kind: "saved", saved: current }
    : { kind: "conflict", current };
}

/** Sent again with the same key, a task is created once. */
export async function createTask(fields: Fields, key: string): Promise<Outcome> {
  const params = { header: { "Idempotency-Key": key } };
  const answer = await unlessLost(api.POST("/api/tasks", { params, body: fields }));
  if (answer === undefined) return { kind: "unknown" };
  const { data, error, response } = answer;
  if (error !== undefined) return { kind: "refused", problem: error };
  return { kind: "saved", saved: tagged(data, response) };
}

/**
 * The keys of one new task: the same as long as the fields are the same, because the server refuses
 * a key with other fields.
 */
export function keysOfNewTask(before?: { readonly fields: Fields; readonly key: string }): (fields: Fields) => string {
  let sent = before === undefined ? "" : JSON.stringify(before.fields);
  let key = before?.key ?? "";
  return (fields) => {
    const text = JSON.stringify(fields);
    if (text !== sent) key = crypto.randomUUID();
    sent = text;
    return key;
  };
}

async function unlessLost<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    // What fetch throws if there is no answer.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function hasAll(task: Task, changes: Changes): boolean {
  const names = Object.keys(changes) as (keyof Fields)[];
  return names.every((name) => (task[name] ?? null) === (changes[name] ?? null));
}

function tagged(task: Task, response: Response): TaggedTask {
  return { task, etag: response.headers.get("ETag") ?? "" };
}
