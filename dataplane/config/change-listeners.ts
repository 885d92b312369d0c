// Who is told that something of a project changed.

export type ChangeListener = (project: string) => void;

export interface ChangeListeners {
  /** `project` = `<namespace>/<name>`. */
  report(project: string): void;
  /** Returns how to end it. */
  add(listener: ChangeListener): () => void;
}

export function createChangeListeners(): ChangeListeners {
  const listeners = new Set<ChangeListener>();
  return {
    report(project) {
      for (const listener of listeners) listener(project);
    },
    add(listener) {
      // Each call its own member of the set, also when one function listens twice.
      const own: ChangeListener = (project) => listener(project);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
