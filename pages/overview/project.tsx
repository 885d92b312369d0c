// One project: where its pages are, what it has, and who can use it.

import { fragmentOf } from "../console/route.ts";
import { Credentials } from "./credentials.tsx";
import type { ShownProject } from "./state.ts";

const titles = { console: "Console", docs: "API reference", "openapi.json": "OpenAPI" } as const;
const notes = { ReadWrite: undefined, ReadOnly: "read-only", Off: "switched off" } as const;

export function Project({ project, givesSecrets }: { readonly project: ShownProject; readonly givesSecrets: boolean }) {
  const { name, url, serving, hosts, pages, usage, resources, rootKeys, credentials } = project;
  const note = notes[serving];
  const console = pages.includes("console") ? `${name}/console` : undefined;
  return (
    <article class="project" aria-label={name}>
      <h3>
        {name} {note !== undefined && <span class="note">{note}</span>}
      </h3>
      <p class="url">
        {pages.length > 0 ? (
          <a href={name}>
            <code>{url}</code>
          </a>
        ) : (
          <code>{url}</code>
        )}
        {hosts.length > 0 && <span class="quiet"> also at {hosts.join(", ")}</span>}
      </p>
      <p class="links">
        {pages.map((page) => (
          <a key={page} href={`${name}/${page}`}>
            {titles[page]}
          </a>
        ))}
        {rootKeys.length > 0 && (
          <a href={usage} target="_blank" rel="noopener">
            Requests to root keys
          </a>
        )}
      </p>
      <Names title="Resources" names={resources} hrefOf={hrefs(console, "list")} />
      <Names title="Root keys" names={rootKeys} hrefOf={hrefs(console, "rootKey")} />
      {resources.length + rootKeys.length === 0 && (
        <p class="quiet nothing">This project has no resources or root keys yet.</p>
      )}
      {credentials.length > 0 && (
        <Credentials
          credentials={credentials}
          console={console === undefined ? undefined : name}
          givesSecrets={givesSecrets}
        />
      )}
    </article>
  );
}

type HrefOf = (name: string) => string | undefined;

/** Into the project's console. */
function hrefs(console: string | undefined, kind: "list" | "rootKey"): HrefOf {
  if (console === undefined) return () => undefined;
  return (name) =>
    console + fragmentOf(kind === "list" ? { kind, resource: name, query: "" } : { kind, rootKey: name });
}

interface NamesProps {
  readonly title: string;
  readonly names: readonly string[];
  readonly hrefOf: HrefOf;
}

function Names({ title, names, hrefOf }: NamesProps) {
  if (names.length === 0) return null;
  return (
    <div class="names">
      <h4>{title}</h4>
      <ul>
        {names.map((name) => {
          const href = hrefOf(name);
          return <li key={name}>{href === undefined ? name : <a href={href}>{name}</a>}</li>;
        })}
      </ul>
    </div>
  );
}
