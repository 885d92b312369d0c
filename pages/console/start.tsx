// What the console begins with: what there is, and what may be done with it.

import type { Description } from "./description.ts";
import { fragmentOf } from "./route.ts";
import type { Links } from "./use-description.ts";
import { ViewHeading } from "./view-heading.tsx";

export interface StartProps {
  readonly description: Description;
  /** Where else the project is described. */
  readonly links: Links;
}

export function Start({ description, links }: StartProps) {
  const { title, resources, rootKeys } = description;
  const isEmpty = resources.length === 0 && rootKeys.length === 0;
  return (
    <>
      <ViewHeading name={title} />
      {isEmpty && <p>The project has neither resources nor root keys that anybody may use.</p>}
      <ul class="cards">
        {resources.map(({ name, description: text, fields }) => (
          <li key={name}>
            <a href={fragmentOf({ kind: "list", resource: name, query: "" })}>{name}</a>
            {text !== undefined && <p>{text}</p>}
            {fields.length > 0 && <p class="quiet">{fields.map((field) => field.name).join(", ")}</p>}
          </li>
        ))}
        {rootKeys.map(({ name }) => (
          <li key={name}>
            <a href={fragmentOf({ kind: "rootKey", rootKey: name })}>{name}</a>
            <p class="quiet">Settings as a tree</p>
          </li>
        ))}
      </ul>
      {links.length > 0 && (
        <p>
          For developers:{" "}
          {links.map(({ text, href }) => (
            <a key={href} class="link" href={href} target="_blank" rel="noopener">
              {text}
            </a>
          ))}
        </p>
      )}
    </>
  );
}
