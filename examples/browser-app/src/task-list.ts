// task-list.ts: one page of the tasks as the person sees it: what the server has, and on top of it
// the changes that are on their way.

import { type Changes, changeTask, listTasks, type Outcome, type TaggedTask, type Task } from "./tasks.ts";

export interface ShownPage {
  readonly tasks: readonly Task[];
  /** Of the first task on this page, from 1. */
  readonly from: number;
  readonly count: number;
  readonly hasNext: boolean;
}

export interface TaskList {
  /** Reads the page again, from the beginning if the order is another one. */
  load(sort?: string): Promise<void>;
  turn(direction: 1 | -1): Promise<void>;
  /** Shows the change at once, and takes it back if it is not saved. */
  change(id: string, changes: Changes): Promise<Outcome>;
}

const pageSize = 8;

export function createTaskList(show: (page: ShownPage) => void): TaskList {
  let sort = "due";
  let offset = 0;
  let count = 0;
  let hasNext = false;
  let stored: readonly TaggedTask[] = [];
  let pending: readonly { readonly id: string; readonly changes: Changes }[] = [];
  /** Changes of one task follow each other: each has the tag that the one before got. */
  const last = new Map<string, Promise<unknown>>();

  function render(): void {
    const tasks = stored.map(({ task }) =>
      pending.filter(({ id }) => id === task.id).reduce((shown, { changes }) => withChanges(shown, changes), task),
    );
    show({ tasks, from: offset + 1, count, hasNext });
  }

  async function load(): Promise<void> {
    const page = await listTasks({ _sort: sort, _limit: pageSize, _offset: offset });
    stored = page.tasks;
    ({ count, hasNext } = page);
    render();
  }

  async function send(id: string, changes: Changes): Promise<Outcome> {
    const before = stored.find(({ task }) => task.id === id);
    if (before === undefined) throw new Error("The task is no longer on this page");
    const outcome = await changeTask(before, changes);
    const now = storedAfter(outcome) ?? before;
    stored = stored.map((each) => (each.task.id === id ? now : each));
    return outcome;
  }

  return {
    async load(by = sort) {
      if (by !== sort) offset = 0;
      sort = by;
      await load();
    },
    async turn(direction) {
      offset = Math.max(0, offset + direction * pageSize);
      await load();
    },
    async change(id, changes) {
      const change = { id, changes };
      pending = [...pending, change];
      render();
      const sent = (last.get(id) ?? Promise.resolve()).then(() => send(id, changes));
      last.set(
        id,
        sent.catch(() => undefined),
      );
      try {
        return await sent;
      } finally {
        pending = pending.filter((each) => each !== change);
        render();
      }
    },
  };
}

function storedAfter(outcome: Outcome): TaggedTask | undefined {
  if (outcome.kind === "saved") return outcome.saved;
  return outcome.kind === "conflict" ? outcome.current : undefined;
}

function withChanges(task: Task, changes: Changes): Task {
  const members = Object.entries({ ...task, ...changes }).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(members) as unknown as Task;
}
