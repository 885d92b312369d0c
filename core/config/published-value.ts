// The text of one published field: `<revision> <content hash> <sealed value>`. By the hash a writer
// sees that nothing changed without opening the value; by the revision a reader keeps what it has.

export interface PublishedValue {
  readonly revision: number;
  /** Keyed hash of project UID, field and text. */
  readonly contentHash: string;
  readonly sealed: string;
}

export function writePublished(value: PublishedValue): string {
  return `${value.revision} ${value.contentHash} ${value.sealed}`;
}

/** Undefined when the text is no such value. */
export function readPublished(text: string): PublishedValue | undefined {
  const match = /^(\d{1,16}) ([0-9a-f]{64}) (\S+)$/.exec(text);
  if (!match) return undefined;
  const [, revision = "", contentHash = "", sealed = ""] = match;
  return { revision: Number(revision), contentHash, sealed };
}

/** A project's entry in the index of projects. */
export interface ProjectEntry {
  readonly revision: number;
  /** Host names that it serves, so that a host finds a project which is not loaded. */
  readonly hosts: readonly string[];
}

export function writeEntry(entry: ProjectEntry): string {
  return [entry.revision, ...entry.hosts].join(" ");
}

/** Undefined when the text is no such entry. */
export function readEntry(text: string): ProjectEntry | undefined {
  const [revision = "", ...hosts] = text.split(" ");
  return /^\d{1,16}$/.test(revision) ? { revision: Number(revision), hosts } : undefined;
}
