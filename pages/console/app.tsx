// The frame of the console: bar, list of resources and root keys, and what is chosen of them. Asks for credentials where the server does.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Gate } from "../sign-in/gate.tsx";
import { type Problem, problemOf, type SignIn } from "../sign-in/sign-in.ts";
import { type Description, readDescription } from "./description.ts";
import { ObjectList } from "./objects/object-list.tsx";
import { ObjectPage } from "./objects/object-page.tsx";
import { RootKeyPage } from "./root-key/root-key-page.tsx";
import { fragmentOf, type Route } from "./route.ts";
import { Start } from "./start.tsx";
import { useRoute } from "./use-route.ts";

interface Loaded {
  readonly description: Description;
  /** Relative URLs of the reference page and of the OpenAPI document, where people may read them. */
  readonly links: readonly { readonly text: string; readonly href: string }[];
}

type State = { readonly kind: "loading" } | { readonly kind: "loaded"; readonly loaded: Loaded } | Refused;
interface Refused {
  readonly kind: "refused";
  readonly problem: Problem;
}

export function App({ signIn }: { readonly signIn: SignIn }) {
  const [state, setState] = useState<State>({ kind: "loading" });
  const [asks, setAsks] = useState(false);
  /** Counts changes of who is signed in: everything is loaded anew then. */
  const [turn, setTurn] = useState(0);
  useEffect(
    () =>
      signIn.onChange(() => {
        setAsks(false);
        setTurn((before) => before + 1);
      }),
    [signIn],
  );
  useEffect(() => {
    void load(signIn).then(setState);
  }, [signIn, turn]);

  const title = state.kind === "loaded" ? state.loaded.description.title : "Console";
  useEffect(() => {
    document.title = state.kind === "loaded" ? `${title}: console` : "Console";
  }, [state.kind, title]);
  const isLocked = state.kind === "refused" && state.problem.status === 401;
  const why = isLocked
    ? "The console of this project is for its users and keys."
    : "Requests are sent with what you enter here.";
  return (
    <>
      <Bar signIn={signIn} title={title} hidesSignIn={isLocked || asks} onSignIn={() => setAsks(true)}>
        {state.kind === "loaded" &&
          state.loaded.links.map(({ text, href }) => (
            <a key={href} href={href} target="_blank" rel="noopener">
              {text}
            </a>
          ))}
      </Bar>
      {isLocked || asks ? (
        <Gate signIn={signIn} why={why} {...(!isLocked && { onBack: () => setAsks(false) })} />
      ) : (
        <Content key={turn} state={state} signIn={signIn} />
      )}
    </>
  );
}

async function load(signIn: SignIn): Promise<State> {
  try {
    const response = await signIn.send("console/openapi.json");
    if (!response.ok) return { kind: "refused", problem: await problemOf(response) };
    const links = linksIn(response.headers.get("Link") ?? "");
    return { kind: "loaded", loaded: { description: readDescription(await response.json()), links } };
  } catch {
    return { kind: "refused", problem: { status: 0, title: "The server can't be reached" } };
  }
}

/** RFC 8288, of the relations of RFC 8631. */
function linksIn(header: string): Loaded["links"] {
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

interface BarProps {
  readonly signIn: SignIn;
  readonly title: string;
  readonly hidesSignIn: boolean;
  readonly onSignIn: () => void;
  readonly children: ComponentChildren;
}

function Bar({ signIn, title, hidesSignIn, onSignIn, children }: BarProps) {
  const caller = signIn.credential?.caller;
  return (
    <header class="bar">
      <strong>
        <a class="title" href="#/">
          {title}
        </a>
      </strong>
      <nav aria-label="About the API" class="links">
        {children}
      </nav>
      <span id="who" role="status">
        {caller === undefined ? "Not signed in" : `Signed in as ${caller.name}`}
      </span>
      {caller !== undefined && (
        <button type="button" id="sign-out" onClick={() => void signIn.signOut()}>
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

function Content({ state, signIn }: { readonly state: State; readonly signIn: SignIn }) {
  const route = useRoute();
  if (state.kind === "loading") return <p class="notice">Loading…</p>;
  if (state.kind === "refused") {
    const { title, detail } = state.problem;
    return (
      <p class="notice fault" role="alert">
        {title}. {detail}
      </p>
    );
  }
  const { description } = state.loaded;
  return (
    <div class="columns">
      <Navigation description={description} route={route} />
      <main>
        <Chosen loaded={state.loaded} route={route} signIn={signIn} />
      </main>
    </div>
  );
}

function Navigation({ description, route }: { readonly description: Description; readonly route: Route }) {
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

interface ChosenProps {
  readonly loaded: Loaded;
  readonly route: Route;
  readonly signIn: SignIn;
}

function Chosen({ loaded: { description, links }, route, signIn }: ChosenProps) {
  if (route.kind === "start") return <Start description={description} links={links} />;
  if (route.kind === "rootKey") {
    const rootKey = description.rootKeys.find(({ name }) => name === route.rootKey);
    if (rootKey === undefined) return <Missing what={`root key ${route.rootKey}`} />;
    return <RootKeyPage key={rootKey.name} rootKey={rootKey} signIn={signIn} />;
  }
  const resource = description.resources.find(({ name }) => name === route.resource);
  if (resource === undefined) return <Missing what={`resource ${route.resource}`} />;
  if (route.kind === "list")
    return <ObjectList key={resource.name} resource={resource} query={route.query} signIn={signIn} />;
  const id = route.kind === "object" ? route.id : undefined;
  return <ObjectPage key={`${resource.name}/${id}`} resource={resource} id={id} signIn={signIn} />;
}

function Missing({ what }: { readonly what: string }) {
  return (
    <p class="fault" role="alert">
      The project has no {what}, or nobody may use it.
    </p>
  );
}
