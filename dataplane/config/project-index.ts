// The index of projects as a replica knows it: which exist, at which revision, and which hosts they
// serve.

import type { ProjectEntry } from "../../core/config/published-value.ts";

export interface ProjectIndex {
  /** Whether it was complete once: only then is a name that it does not have known not to exist. */
  isComplete(): boolean;
  get(name: string): ProjectEntry | undefined;
  names(): IterableIterator<string>;
  ofHost(host: string): string | undefined;
  /**
   * Applies what was found; `complete` = nothing else exists. Returns names with changed entries.
   */
  replace(found: ReadonlyMap<string, ProjectEntry>, complete: boolean): readonly string[];
  set(name: string, entry: ProjectEntry | undefined): void;
}

export function createProjectIndex(): ProjectIndex {
  let entries = new Map<string, ProjectEntry>();
  let hosts: ReadonlyMap<string, string> = new Map();
  let isComplete = false;

  return {
    isComplete: () => isComplete,
    get: (name) => entries.get(name),
    names: () => entries.keys(),
    ofHost: (host) => hosts.get(host),
    replace(found, complete) {
      const before = entries;
      // While Redis is being filled again, projects that are not in it yet stay as they were.
      entries = new Map([...(complete ? [] : before), ...found]);
      isComplete ||= complete;
      hosts = hostsOf(entries);
      const names = new Set([...before.keys(), ...entries.keys()]);
      return [...names].filter((name) => before.get(name)?.revision !== entries.get(name)?.revision);
    },
    set(name, entry) {
      const before = entries.get(name);
      if (entry) entries.set(name, entry);
      else entries.delete(name);
      if (before?.hosts.length || entry?.hosts.length) hosts = hostsOf(entries);
    },
  };
}

/** `compile` settles who holds a host; should two still name one, the first keeps it. */
function hostsOf(entries: ReadonlyMap<string, ProjectEntry>): ReadonlyMap<string, string> {
  const hosts = new Map<string, string>();
  for (const [name, entry] of entries) for (const host of entry.hosts) if (!hosts.has(host)) hosts.set(host, name);
  return hosts;
}
