// One object, or a new one, below the way back to its list.

import { useConsole } from "../console-context.ts";
import type { Resource } from "../description.ts";
import { fragmentOf } from "../route.ts";
import { NewObject } from "./new-object.tsx";
import { StoredObjectForm } from "./stored-object-form.tsx";

export interface ObjectPageProps {
  readonly resource: Resource;
  /** Undefined: a new one. */
  readonly id: string | undefined;
}

export function ObjectPage({ resource, id }: ObjectPageProps) {
  const { visited } = useConsole();
  return (
    <>
      <p class="breadcrumb">
        <a href={fragmentOf(visited.latestOf(resource.name))}>{resource.name}</a>
      </p>
      {id === undefined ? <NewObject resource={resource} /> : <StoredObjectForm resource={resource} id={id} />}
    </>
  );
}
