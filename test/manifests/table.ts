// Reads table.yaml, the one list of good and bad manifests, for every test that holds something
// against it.
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { Json } from "../../core/config/types.ts";
import { apiVersion, type UncheckedObject } from "../../core/manifests/object.ts";

export interface TableCase {
  readonly title: string;
  readonly object: UncheckedObject;
  /** The object as it was applied before; absent = the case is a creation. */
  readonly former?: UncheckedObject;
  /** Texts that the refusal contains; absent = the manifest is accepted. */
  readonly refused?: readonly string[];
  /** Path below `spec` → the value that is stored there. */
  readonly stored: ReadonlyMap<string, Json>;
}

interface Row {
  readonly case: string;
  readonly kind: string;
  readonly metadata?: Json;
  readonly top?: { readonly [name: string]: Json };
  readonly spec?: Json;
  readonly former?: Json;
  readonly refused?: readonly string[];
  readonly stored?: { readonly [path: string]: Json };
}

export function tableCases(): readonly TableCase[] {
  const text = readFileSync(new URL("table.yaml", import.meta.url), "utf8").replace(
    "256 KiB of text",
    "x".repeat(256 * 1024),
  );
  const rows = parse(text) as readonly Row[];
  return rows.map((row) => ({
    title: `${row.kind}: ${row.case}`,
    object: { ...objectOf(row, row.spec), ...row.top },
    ...(row.former === undefined ? {} : { former: objectOf(row, row.former) }),
    ...(row.refused === undefined ? {} : { refused: row.refused }),
    stored: new Map(Object.entries(row.stored ?? {})),
  }));
}

function objectOf({ kind, metadata = { name: "sample" } }: Row, spec: Json | undefined): UncheckedObject {
  return { apiVersion, kind, metadata, ...(spec === undefined ? {} : { spec }) };
}
