// Two steps that tests of documents begin and end with.

import { expect } from "vitest";
import type { Store } from "../../../dataplane/store/port.ts";
import type { DocumentRef, Path } from "../../../dataplane/store/ports/refs.ts";
import { freshDocument } from "./fixture.ts";

/** A document with this whole value. */
export async function documentOf(store: Store, text: string): Promise<DocumentRef> {
  const document = freshDocument();
  expect(await store.initialise(document, text)).toBe(true);
  return document;
}

/** The text at a path; fails when nothing is there. */
export async function textAt(store: Store, document: DocumentRef, path: Path = []): Promise<string> {
  const read = await store.readAt(document, path);
  if (read.outcome !== "found") throw new Error(`${read.outcome} at ${JSON.stringify(path)}`);
  return read.text;
}
