// A button that saves the list, as it is filtered and sorted, as a CSV file: all its pages, as the
// server writes them.

import { useEffect, useRef } from "preact/hooks";
import type { Problem } from "../../sign-in/problem.ts";
import { ActionButton } from "../action-button.tsx";
import { useConsole } from "../console-context.ts";
import type { Resource } from "../description.ts";
import { ProblemMessage } from "../problem-message.tsx";
import { useSending } from "../use-sending.ts";
import { allRecords } from "./all-records.ts";
import { type ListQuery, writeListQuery } from "./list-query.ts";

export function CsvDownload({ resource, query }: { readonly resource: Resource; readonly query: ListQuery }) {
  const { signIn } = useConsole();
  const { problem, isBusy, send } = useSending();
  const { name, maxPageSize } = resource;
  /** Leaving the list ends it. */
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  const download = async (): Promise<Problem | undefined> => {
    const filters = writeListQuery({ ...query, cursor: undefined });
    const first = `api/${encodeURIComponent(name)}?_limit=${maxPageSize}&_count=false&${filters}`;
    const read = await allRecords(first, signIn, leaving.current.signal);
    if ("problem" in read) return read.problem;
    saveFile(`${name}.csv`, read.parts);
    return undefined;
  };
  return (
    <>
      <ActionButton isDisabled={isBusy} onClick={() => void send(download)}>
        Download CSV
      </ActionButton>
      {isBusy && (
        <span role="status" class="quiet">
          Downloading all pages…
        </span>
      )}
      <ProblemMessage problem={problem} />
    </>
  );
}

/** With a byte order mark, without which Excel doesn't take it for UTF-8. */
function saveFile(name: string, parts: readonly string[]): void {
  const url = URL.createObjectURL(new Blob(["\uFEFF", ...parts], { type: "text/csv" }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  // Not at once: Safari reads it later.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
