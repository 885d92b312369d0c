// task-list.ts: one page of the tasks in the chosen order, drawn anew whenever something changes.

import { type Changes, type Fields, type Listeners, openTasks, type Task } from "./tasks.ts";

export interface ShownPage {
  readonly tasks: readonly Task[];
  /** Of the first task on this page, from 1. */
  readonly from: number;
  readonly count: number;
  readonly hasNext: boolean;
}

export interface TaskList {
  /** Once it shows what is stored. */
  readonly ready: Promise<void>;
  sortBy(sort: string): void;
  turn(direction: 1 | -1): void;
  /** As it is shown now. */
  get(id: string): Task | undefined;
  /**
   * Shows it at once, and is done when the server has it, which may take as long as the network is
   * away. Throws where it is refused: then it was taken back.
   */
  create(fields: Fields): Promise<unknown>;
  change(id: string, changes: Changes): Promise<unknown>;
  close(): Promise<void>;
}

const pageSize = 8;

export function openTaskList(show: (page: ShownPage) => void, listeners: Listeners): TaskList {
  const tasks = openTasks(listeners);
  let order = orderBy("due");
  let offset = 0;

  function draw(): void {
    const all = [...tasks.toArray].sort(order);
    const shown = all.slice(offset, offset + pageSize);
    show({ tasks: shown, from: offset + 1, count: all.length, hasNext: offset + pageSize < all.length });
  }

  const subscription = tasks.subscribeChanges(draw);
  return {
    ready: tasks.preload().then(draw),
    sortBy(sort) {
      order = orderBy(sort);
      offset = 0;
      draw();
    },
    turn(direction) {
      offset = Math.max(0, offset + direction * pageSize);
      draw();
    },
    get: (id) => tasks.get(id),
    // The server gives it another id.
    create: (fields) => tasks.insert({ ...fields, id: crypto.randomUUID() }).when("settled"),
    change: (id, changes) => tasks.update(id, (task) => void Object.assign(task, changes)).when("settled"),
    async close() {
      subscription.unsubscribe();
      await tasks.cleanup();
    },
  };
}

/** By these fields, a minus before them for the other direction. A missing value comes first. */
function orderBy(sort: string): (one: Task, other: Task) => number {
  const names = sort.replace("-", "").split(",") as (keyof Fields)[];
  const order = (one: Task, other: Task) => {
    const name = names.find((each) => one[each] !== other[each]);
    if (name === undefined) return 0;
    return (one[name] ?? "") < (other[name] ?? "") ? -1 : 1;
  };
  return sort.startsWith("-") ? (one, other) => order(other, one) : order;
}
