// Loads what the console knows of its project, again whenever somebody has signed in or out.

import { useEffect, useState } from "preact/hooks";
import { type Problem, problemOf } from "../sign-in/problem.ts";
import type { SignIn } from "../sign-in/sign-in.ts";
import { unreachable } from "./describe-problem.ts";
import { type Description, readDescription } from "./description.ts";
import type { Session } from "./use-session.ts";

/** Relative URLs of the reference page and of the OpenAPI document, where people may read them. */
export type Links = readonly { readonly text: string; readonly href: string }[];

export interface Loaded {
  readonly description: Description;
  readonly links: Links;
}

export interface DescriptionState {
  /** Undefined until it is loaded. */
  readonly loaded?: Loaded;
  readonly problem?: Problem | undefined;
}

export function useDescription(signIn: SignIn, { changes, contentKey, isKept }: Session): DescriptionState {
  const [{ forKey, ...state }, setState] = useState<DescriptionState & { readonly forKey: number }>({ forKey: 0 });
  useEffect(() => {
    // What is kept stays as it is until somebody has signed in.
    if (isKept) return undefined;
    let isLatest = true;
    void load(signIn).then((answer) => {
      if (!isLatest) return;
      setState((before) => ({
        ...(before.forKey === contentKey && before),
        problem: undefined,
        ...answer,
        forKey: contentKey,
      }));
    });
    return () => {
      isLatest = false;
    };
  }, [signIn, changes]);
  // What was loaded for somebody else is not shown for a moment.
  return forKey === contentKey ? state : {};
}

async function load(signIn: SignIn): Promise<DescriptionState> {
  try {
    const response = await signIn.send("console/openapi.json");
    if (!response.ok) return { problem: await problemOf(response) };
    const links = linksIn(response.headers.get("Link") ?? "");
    return { loaded: { description: readDescription(await response.json()), links } };
  } catch {
    return { problem: unreachable };
  }
}

/** RFC 8288, of the relations of RFC 8631. */
function linksIn(header: string): Links {
  const texts = [
    ["service-doc", "API reference"],
    ["service-desc", "OpenAPI"],
  ] as const;
  return texts.flatMap(([relation, text]) => {
    const [, url] = new RegExp(`<([^>]*)>; rel="${relation}"`).exec(header) ?? [];
    // Relative, because the page may be reached by another name than the server knows.
    const file = url?.split("/").at(-1);
    return file === undefined ? [] : [{ text, href: file }];
  });
}
