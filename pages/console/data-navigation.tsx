// The list of resources and root keys, beside what is chosen of it.

import type { Description } from "./description.ts";
import { fragmentOf, type Route } from "./route.ts";

export function DataNavigation({ description, route }: { readonly description: Description; readonly route: Route }) {
  const { resources, rootKeys } = description;
  const resource = "resource" in route ? route.resource : undefined;
  const rootKey = route.kind === "rootKey" ? route.rootKey : undefined;
  return (
    <nav aria-label="Data" class="data">
      {resources.length > 0 && <h2>Resources</h2>}
      <ul>
        {resources.map(({ name }) => (
          <li key={name}>
            <a
              href={fragmentOf({ kind: "list", resource: name, query: "" })}
              {...(name === resource && { "aria-current": "page" as const })}
            >
              {name}
            </a>
          </li>
        ))}
      </ul>
      {rootKeys.length > 0 && <h2>Root keys</h2>}
      <ul>
        {rootKeys.map(({ name }) => (
          <li key={name}>
            <a
              href={fragmentOf({ kind: "rootKey", rootKey: name })}
              {...(name === rootKey && { "aria-current": "page" as const })}
            >
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
