// One object, or a new one: its JSON in an editor, saved on the condition that nobody has changed it meanwhile.

import { useEffect, useState } from "preact/hooks";
import type { Problem, SignIn } from "../../sign-in/sign-in.ts";
import type { Resource } from "../description.ts";
import { Fault } from "../fault.tsx";
import { fragmentOf } from "../route.ts";
import { NewObject } from "./new-object.tsx";
import { loadStored, type Stored } from "./stored.ts";
import { StoredObjectForm } from "./stored-object-form.tsx";

export interface ObjectPageProps {
  readonly resource: Resource;
  /** Undefined: a new one. */
  readonly id: string | undefined;
  readonly signIn: SignIn;
}

type State =
  | { readonly kind: "loading" }
  | { readonly kind: "stored"; readonly stored: Stored }
  | { readonly kind: "refused"; readonly problem: Problem };

export function ObjectPage({ resource, id, signIn }: ObjectPageProps) {
  return (
    <>
      <p class="trail">
        <a href={fragmentOf({ kind: "list", resource: resource.name, query: "" })}>{resource.name}</a>
      </p>
      {id === undefined ? (
        <NewObject resource={resource} signIn={signIn} />
      ) : (
        <OneObject resource={resource} id={id} signIn={signIn} />
      )}
    </>
  );
}

function OneObject({ resource, id, signIn }: ObjectPageProps & { readonly id: string }) {
  const [state, setState] = useState<State>({ kind: "loading" });
  const url = `api/${encodeURIComponent(resource.name)}/${encodeURIComponent(id)}`;
  useEffect(() => {
    let isOver = false;
    void load(url, signIn).then((loaded) => {
      if (!isOver) setState(loaded);
    });
    return () => {
      isOver = true;
    };
  }, [url, signIn]);
  return (
    <>
      <h1 class="id">{id}</h1>
      {state.kind === "loading" && <p role="status">Loading…</p>}
      {state.kind === "refused" && <Fault problem={state.problem} />}
      {state.kind === "stored" && (
        <StoredObjectForm resource={resource} url={url} first={state.stored} signIn={signIn} />
      )}
    </>
  );
}

async function load(url: string, signIn: SignIn): Promise<State> {
  const loaded = await loadStored(url, signIn);
  return "title" in loaded ? { kind: "refused", problem: loaded } : { kind: "stored", stored: loaded };
}
