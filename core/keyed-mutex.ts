// A mutex for each key: work under one key runs one at a time, in order of arrival, whether or not
// earlier work failed. Work under other keys does not wait for it.

export interface KeyedMutex {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createKeyedMutex(): KeyedMutex {
  /** The end of what came last; never rejects. */
  const last = new Map<string, Promise<void>>();
  return {
    run(key, work) {
      const before = last.get(key);
      const done = before === undefined ? work() : before.then(work);
      const end = (): void => {
        if (last.get(key) === ended) last.delete(key);
      };
      const ended = done.then(end, end);
      last.set(key, ended);
      return done;
    },
  };
}
