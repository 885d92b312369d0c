// What the console begins with: what there is, and what may be done with it.

import { isDevMode } from "../sign-in/dev-mode.ts";
import type { Description, Resource } from "./description.ts";
import { NewestObjects, useNewest } from "./objects/newest-objects.tsx";
import type { LoadedPage } from "./objects/use-object-pages.ts";
import { fragmentOf } from "./route.ts";
import { ViewHeading } from "./view-heading.tsx";

export interface StartProps {
  readonly description: Description;
  /** Relative URL of the reference page, where people may read it. */
  readonly reference: string | undefined;
}

export function Start({ description, reference }: StartProps) {
  const { title, resources, rootKeys } = description;
  const newest = useNewest(resources);
  const isEmpty = resources.length === 0 && rootKeys.length === 0;
  return (
    <>
      <ViewHeading name={title} />
      {isEmpty && <p>The project has neither resources nor root keys that anybody may use.</p>}
      <ul class="cards">
        {resources.map((resource) => (
          <ResourceCard key={resource.name} resource={resource} newest={newest.get(resource.name)} />
        ))}
        {rootKeys.map(({ name }) => (
          <li key={name}>
            <a href={fragmentOf({ kind: "rootKey", rootKey: name })}>{name}</a>
            <p class="quiet">Settings and other values</p>
          </li>
        ))}
      </ul>
      {reference !== undefined && (
        <p>
          For developers:{" "}
          <a href={reference} target="_blank" rel="noopener">
            API reference
          </a>
        </p>
      )}
      {isDevMode() && (
        <p>
          <a href="../..">All projects of jsonplane dev</a>
        </p>
      )}
    </>
  );
}

interface ResourceCardProps {
  readonly resource: Resource;
  /** Undefined where it is not loaded, or refused. */
  readonly newest: LoadedPage | undefined;
}

function ResourceCard({ resource, newest }: ResourceCardProps) {
  const { name, description, fields } = resource;
  return (
    <li>
      <a href={fragmentOf({ kind: "list", resource: name, query: "" })}>{name}</a>
      {description !== undefined && <p>{description}</p>}
      {fields.length > 0 && <p class="quiet">{fields.map((field) => field.name).join(", ")}</p>}
      {newest !== undefined && <NewestObjects resource={resource} newest={newest} />}
    </li>
  );
}
