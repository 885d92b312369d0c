// How many objects of a resource there are, and the newest of them. Where the server refuses that,
// nothing is said: the list gives the reason to who opens it.

import { useEffect, useState } from "preact/hooks";
import { useConsole } from "../console-context.ts";
import type { Resource } from "../description.ts";
import { fragmentOf } from "../route.ts";
import { CellValue } from "./cell-value.tsx";
import { titleOf } from "./columns.ts";
import { countOf, shortId } from "./names.ts";
import { type LoadedPage, loadPage } from "./use-object-pages.ts";

/** By the name of the resource. */
export type Newest = ReadonlyMap<string, LoadedPage>;

/** Of each resource. */
const maxObjects = 3;
const maxResources = 12;
/** More would wait in the browser, and make its other requests wait. */
const maxConcurrentRequests = 4;

/** Of the first resources; each is there once it is loaded. */
export function useNewest(resources: readonly Resource[]): Newest {
  const { signIn } = useConsole();
  const [newest, setNewest] = useState<Newest>(new Map());
  useEffect(() => {
    const ending = new AbortController();
    const isSignedIn = signIn.credential !== undefined;
    const waiting = resources.filter(({ may }) => (isSignedIn ? may.list : may.listAnonymously)).slice(0, maxResources);
    const loadNext = async (): Promise<void> => {
      const resource = waiting.shift();
      if (resource === undefined) return;
      const loaded = await loadPage(urlOf(resource), signIn, ending.signal);
      if (ending.signal.aborted) return;
      if (!("problem" in loaded)) setNewest((before) => new Map(before).set(resource.name, loaded));
      await loadNext();
    };
    setNewest(new Map());
    for (let count = 0; count < maxConcurrentRequests; count += 1) void loadNext();
    return () => ending.abort();
  }, [resources, signIn]);
  return newest;
}

function urlOf({ name, maxPageSize }: Resource): string {
  return `api/${encodeURIComponent(name)}?_limit=${Math.min(maxObjects, maxPageSize)}&_sort=-_metadata.created`;
}

interface NewestObjectsProps {
  readonly resource: Resource;
  readonly newest: LoadedPage;
}

export function NewestObjects({ resource: { name, fields }, newest: { count, listed } }: NewestObjectsProps) {
  if (listed.length === 0) return <p class="quiet">No {name} yet.</p>;
  return (
    <>
      {count !== undefined && <p class="quiet">{countOf(count, name)}</p>}
      <h2>Newest objects</h2>
      <ul>
        {listed.map(({ item }) => (
          <li key={item.id}>
            <a href={fragmentOf({ kind: "object", resource: name, id: item.id })}>
              <CellValue value={titleOf(fields, item) ?? shortId(item.id)} />
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
