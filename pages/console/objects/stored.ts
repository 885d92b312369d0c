// Reads an object of the server with its tag.

import { type Problem, problemOf, type SignIn } from "../../sign-in/sign-in.ts";
import { unreachable } from "../fault.tsx";
import { editablePart } from "./changes.ts";

/** An object as the server has it. */
export interface Stored {
  /** Canonical text of what may be edited. */
  readonly text: string;
  readonly etag: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The object, or why it can't be had. */
export async function loadStored(url: string, signIn: SignIn): Promise<Stored | Problem> {
  try {
    const response = await signIn.send(url, { cache: "no-store" });
    return response.ok ? await storedIn(response) : await problemOf(response);
  } catch {
    return unreachable;
  }
}

/** Of a response that has the whole object. */
export async function storedIn(response: Response): Promise<Stored> {
  const text = await response.text();
  const { _metadata } = JSON.parse(text) as { readonly _metadata?: Stored["metadata"] };
  return { text: editablePart(text), etag: response.headers.get("ETag") ?? "", metadata: _metadata ?? {} };
}
