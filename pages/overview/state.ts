// What `-/overview/state.json` of dev mode says, for the page that shows it. Types only.

/** Of a message that the terminal shows as well. */
export type Level = "problem" | "warning" | "note";

/**
 * `live`: served as its manifest says. `partly`: the same, without what is refused of it.
 * `lastGood`: an earlier version is served. `refused`: nothing of it is served. `waiting`: its
 * Project is suspended. `unreadable`: its file can't be read completely, and an earlier version is
 * served.
 */
export type ManifestState = "live" | "partly" | "lastGood" | "refused" | "waiting" | "unreadable";

export interface ShownMessage {
  readonly level: Level;
  /** `file:line:column`. */
  readonly position: string;
  /** RFC 6901, from the object's root; empty for the object or the file itself. */
  readonly pointer: string;
  readonly text: string;
}

export interface ShownManifest {
  /** `Kind/namespace/name`. */
  readonly subject: string;
  /** Absent of what is read and not served as such, like a Secret. */
  readonly state?: ManifestState;
  /** What has become of it, without its subject. */
  readonly outcome?: string;
  readonly file: string;
  readonly messages: readonly ShownMessage[];
}

/** Of a file, or of objects whose names are not known. */
export interface ShownFile {
  readonly file: string;
  readonly outcome?: string;
  readonly messages: readonly ShownMessage[];
}

/** Of something else than manifests and their files, like seeds and stored data. */
export interface ShownNews {
  readonly level: Level;
  /** A path or a name. */
  readonly about: string;
  /** As at the terminal, where it may take several lines. */
  readonly text: string;
}

export interface ShownCredential {
  /** `Kind/namespace/name`. */
  readonly subject: string;
  readonly kind: "login" | "API key";
  readonly name: string;
  readonly role: string;
  readonly access: string;
  /** The command that shows the file it is in: it is not in here. */
  readonly command: string;
}

export interface ShownProject {
  /** `<namespace>/<name>`. */
  readonly name: string;
  readonly url: string;
  readonly serving: "ReadWrite" | "ReadOnly" | "Off";
  /** Host names that lead to it. */
  readonly hosts: readonly string[];
  /** Pages below its URL that somebody may see. */
  readonly pages: readonly ("console" | "docs" | "openapi.json")[];
  readonly usage: string;
  readonly resources: readonly string[];
  readonly rootKeys: readonly string[];
  readonly credentials: readonly ShownCredential[];
}

export interface OverviewState {
  /** The folder of manifests. */
  readonly folder: string;
  /** False until the folder was read once. */
  readonly isRead: boolean;
  /** Why the last change could not be applied; what is served is older then. */
  readonly failure?: string;
  /** What to do while no project is served. */
  readonly advice?: string;
  /** URL of the usage figures of all projects. */
  readonly usage: string;
  /** Whether this page may get passwords and keys, one by one. */
  readonly givesSecrets: boolean;
  readonly projects: readonly ShownProject[];
  readonly files: readonly ShownFile[];
  readonly manifests: readonly ShownManifest[];
  readonly news: readonly ShownNews[];
}
