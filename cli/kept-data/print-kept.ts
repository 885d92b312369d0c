// Prints what is kept: a table for people, page by page with columns of the same width, or an object a line for scripts.

import type { OutputFormat } from "../../core/env/kept-data-settings.ts";
import { kindOf } from "../../operator/model/data-record.ts";
import { type KeptItem, nameOf } from "./kept-item.ts";

export interface KeptPrinter {
  page(items: readonly KeptItem[]): void;
}

/** Column width that fits most names; a longer name shifts the rest of its line. */
const widths = { name: 48, since: 24, bytes: 12, objects: 10, because: 19 } as const;

export function createPrinter(format: OutputFormat, out: (line: string) => void): KeptPrinter {
  if (format === "json") return { page: (items) => items.forEach((item) => void out(JSON.stringify(asJson(item)))) };
  let hasHead = false;
  return {
    page(items) {
      if (items.length > 0 && !hasHead) out(head);
      hasHead ||= items.length > 0;
      for (const item of items) out(lineOf(item));
    },
  };
}

const head = row({ name: "DATA", since: "KEPT SINCE", bytes: "BYTES", objects: "OBJECTS", because: "WHY" }, "STATE");

function lineOf(item: KeptItem): string {
  const { entry, because, state } = item;
  const { size, retainedAt: since = "not recorded yet" } = entry;
  const bytes = size === undefined ? "unknown" : String(size.bytes);
  const objects = size === undefined || entry.what === "rootkey" ? "-" : String(size.objects);
  return row({ name: nameOf(item), since, bytes, objects, because }, state);
}

function row(cells: Readonly<Record<keyof typeof widths, string>>, state: string): string {
  const padded = Object.entries(widths).map(([name, width]) => {
    const text = cells[name as keyof typeof widths];
    return name === "bytes" || name === "objects" ? text.padStart(width) : text.padEnd(width);
  });
  return [...padded, state].join("  ");
}

/** What is not known is null. */
function asJson({ project, entry, because, state }: KeptItem): object {
  return {
    namespace: project.namespace,
    project: project.name,
    kind: kindOf(entry),
    name: entry.name,
    keptSince: entry.retainedAt ?? null,
    bytes: entry.size?.bytes ?? null,
    objects: entry.what === "rootkey" ? null : (entry.size?.objects ?? null),
    uid: entry.uid,
    namespaceUid: entry.namespaceUid,
    because,
    state,
  };
}
