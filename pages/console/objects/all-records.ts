// Reads all pages of a list as CSV.

import { firstRecord } from "../../../core/csv.ts";
import { type Problem, problemOf } from "../../sign-in/problem.ts";
import { unreachable } from "../describe-problem.ts";
import { readTimeout, type Sender } from "../stored/send-conditionally.ts";

type Records = { readonly parts: readonly string[] } | { readonly problem: Problem };

/** The header once, and the records of every page. */
export async function allRecords(first: string, sender: Sender, leaving: AbortSignal): Promise<Records> {
  const parts: string[] = [];
  let header: string | undefined;
  try {
    for (let cursor: string | undefined = ""; cursor !== undefined; ) {
      const signal = AbortSignal.any([leaving, readTimeout()]);
      const url = `${first}&_cursor=${encodeURIComponent(cursor)}`;
      const response = await sender.send(url, { headers: { Accept: "text/csv" }, cache: "no-store", signal });
      if (!response.ok) return { problem: await problemOf(response) };
      const text = await response.text();
      header ??= firstRecord(text);
      if (!text.startsWith(header))
        return { problem: { status: 409, title: "The schema has changed. Download again" } };
      parts.push(parts.length === 0 ? text : text.slice(header.length));
      cursor = nextCursor(response.headers.get("Link"));
    }
    return { parts };
  } catch {
    return { problem: unreachable };
  }
}

function nextCursor(link: string | null): string | undefined {
  const next = /<([^>]*)>; rel="next"/.exec(link ?? "")?.[1];
  return next === undefined ? undefined : (new URL(next).searchParams.get("_cursor") ?? undefined);
}
