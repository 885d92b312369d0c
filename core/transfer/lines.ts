// The file format of exports: UTF-8, one JSON object a line (NDJSON), each line ended by "\n". A
// head, what is stored, and an end with a checksum: a file that was cut at the end of a line would
// look complete without it. Texts of objects and values are what the store has, byte for byte.
//
//   {"jsonplane":"export","version":1,"exportedAt":…,"resources":["books"],"rootKeys":["settings"],
//    "projectUid":…}
//   {"resource":"books","object":{"id":…,…,"_metadata":…}}    of a resource by id, ascending
//   {"rootKey":"settings","value":…}
//   {"changes":true}             what was stored or deleted while the lines before were read
//   {"resource":"books","object":{…}}                         in place of an earlier line
//   {"resource":"books","deleted":"<id>"}
//   {"end":true,"lines":<between the first and the last>,"sha256":<hex, of all bytes before>}
//
// In place of an end, {"error":{"code":…,"detail":…}} says why a service had to break off.

export const exportMediaType = "application/x-ndjson";
export const exportVersion = 1;

export interface ExportHead {
  /** RFC 3339. */
  readonly exportedAt: string;
  /** Whose objects are in the file, in this order. */
  readonly resources: readonly string[];
  /** Whose values are in it. */
  readonly rootKeys: readonly string[];
  /** `metadata.uid` of the Project whose data are in the file; absent in a backup. */
  readonly projectUid?: string;
  /** Owner of the objects, `<creator_type>:<creator>`; absent = all of them. */
  readonly owner?: string;
  /** What has changed since this position is in the file, and nothing else. Absent = all. */
  readonly since?: string;
  /** The rest of an export that broke off behind this object. */
  readonly after?: ExportPlace;
  /** Of the logs of changes before the first object was read; absent where there are none. */
  readonly position?: string;
}

/** The last object that a client has of an export. */
export interface ExportPlace {
  readonly resource: string;
  readonly id: string;
}

/**
 * A line between head and end. The owner of an object is `<creator_type>:<creator>` of its
 * `_metadata`.
 */
export type ExportItem =
  | { readonly kind: "object"; readonly resource: string; readonly text: string }
  | { readonly kind: "value"; readonly rootKey: string; readonly text: string }
  | { readonly kind: "deleted"; readonly resource: string; readonly id: string }
  /** What follows counts in place of what came before. */
  | { readonly kind: "changes" };

/** What says how an object or value is, or that it is gone. */
export type StoredItem = Exclude<ExportItem, { readonly kind: "changes" }>;

export interface NumberedItem<Item extends ExportItem = ExportItem> {
  /** From 1. */
  readonly line: number;
  readonly item: Item;
}

export interface ExportEnd {
  /** Lines between the first and the last. */
  readonly lines: number;
  /** Of all bytes before the last line, in hexadecimal digits. */
  readonly sha256: string;
  /** Where an export of what changes from then on begins; absent where something has no log. */
  readonly position?: string;
}

export function headLine({ resources, rootKeys, exportedAt, ...others }: ExportHead): string {
  const head = { jsonplane: "export", version: exportVersion, exportedAt, resources, rootKeys, ...others };
  return `${JSON.stringify(head)}\n`;
}

export function itemLine(item: ExportItem): string {
  switch (item.kind) {
    case "object":
      return `${objectBegin(item.resource)}${item.text}${objectEnd}`;
    case "value":
      return `{"rootKey":${JSON.stringify(item.rootKey)},"value":${item.text}}\n`;
    case "deleted":
      return `{"resource":${JSON.stringify(item.resource)},"deleted":${JSON.stringify(item.id)}}\n`;
    case "changes":
      return '{"changes":true}\n';
  }
}

/** What stands in front of the text of an object in its line. */
export function objectBegin(resource: string): string {
  return `{"resource":${JSON.stringify(resource)},"object":`;
}

export const objectEnd = "}\n";

export function endLine({ lines, sha256, position }: ExportEnd): string {
  return `${JSON.stringify({ end: true, lines, sha256, position })}\n`;
}

/** `code` is one of the errors of the service. */
export function errorLine(error: { readonly code: string; readonly detail: string }): string {
  return `${JSON.stringify({ error })}\n`;
}
