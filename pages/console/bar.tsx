// The bar at the top: the project's name, and who is signed in.

import { useEffect, useId, useState } from "preact/hooks";
import type { Credential } from "../sign-in/sign-in.ts";
import { SignedInAs } from "../sign-in/signed-in-as.tsx";
import type { Description } from "./description.ts";
import { fragmentOf, type Route } from "./route.ts";

interface BarProps {
  /** With which requests are accepted. */
  readonly credential: Credential | undefined;
  readonly title: string;
  readonly isReadOnly: boolean;
  readonly hidesSignIn: boolean;
  readonly onSignIn: () => void;
  readonly onSignOut: () => void;
}

export function Bar({ credential, title, isReadOnly, hidesSignIn, onSignIn, onSignOut }: BarProps) {
  const { caller, issuer } = credential ?? {};
  return (
    <header class="bar">
      <strong>
        <a class="title" href="#/">
          {title}
        </a>
      </strong>
      {isReadOnly && <span class="quiet">read-only</span>}
      <span id="who" role="status">
        <SignedInAs credential={credential} />
      </span>
      {caller !== undefined && (
        <button
          type="button"
          id="sign-out"
          title={issuer && `You stay signed in at ${issuer.name}`}
          onClick={onSignOut}
        >
          Sign out
        </button>
      )}
      {caller === undefined && !hidesSignIn && (
        <button type="button" id="sign-in" onClick={onSignIn}>
          Sign in
        </button>
      )}
    </header>
  );
}

export function DataNavigation({ description, route }: { readonly description: Description; readonly route: Route }) {
  const { resources, rootKeys } = description;
  const resource = "resource" in route ? route.resource : undefined;
  const rootKey = route.kind === "rootKey" ? route.rootKey : undefined;
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  useEffect(() => setOpen(false), [JSON.stringify(route)]);
  return (
    <nav aria-label="Data" class="data">
      {/* Where the window is narrow. */}
      <button type="button" class="menu" aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        Menu
      </button>
      <div id={id} class={isOpen ? undefined : "folded"}>
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
      </div>
    </nav>
  );
}
