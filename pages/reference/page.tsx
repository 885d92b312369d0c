// The reference page: gets the project's openapi.json, asks for credentials where it needs some,
// and passes it to the viewer, which sends a person's trial requests through this page.

import { render } from "preact";
import { Gate } from "../sign-in/gate.tsx";
import { offeredIssuers, takeResponse } from "../sign-in/issuer-sign-in.ts";
import { problemOf } from "../sign-in/problem.ts";
import { type Credential, SignIn, schemeOf } from "../sign-in/sign-in.ts";
import { SignedInAs } from "../sign-in/signed-in-as.tsx";

/** The used members of an OpenAPI document. */
interface Description {
  readonly info: { readonly title: string };
  readonly components: { readonly securitySchemes: Record<string, SecurityScheme> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface SecurityScheme {
  readonly type: string;
  readonly scheme?: string;
  readonly description?: string;
}

interface Operation {
  security?: readonly Readonly<Record<string, unknown>>[];
}

interface Viewer {
  updateConfiguration(configuration: object): void;
}

declare global {
  var Scalar: { createApiReference(selector: string, configuration: object): Viewer } | undefined;
}

// First: it cleans the page's URL.
const response = takeResponse();
const base = new URL(".", location.href);
const signIn = new SignIn(base, offeredIssuers());
/** What the viewer shows, and for which credential. */
let shown:
  | { readonly viewer: Viewer; readonly scheme: string | undefined; readonly description: Description }
  | undefined;

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}`);
  return found;
}

/** Shows the reference, or asks for credentials. */
async function open(): Promise<void> {
  say("");
  const response = await signIn.send("openapi.json");
  if (response.ok) {
    element("console").hidden = !/; rel="related"/.test(response.headers.get("Link") ?? "");
    await show((await response.json()) as Description);
    return;
  }
  const { status, title, detail } = await problemOf(response);
  if (status === 401) ask("To read the description of this API, you have to sign in.");
  else say(`${title}. ${detail ?? ""}`);
}

async function show(description: Description): Promise<void> {
  const { createApiReference } = await viewer();
  const { credential } = signIn;
  closeGate();
  element("reference").hidden = false;
  render(<SignedInAs credential={credential} />, element("who"));
  element("sign-in").hidden = credential !== undefined;
  element("sign-out").hidden = credential === undefined;
  element("sign-out").title = credential?.issuer === undefined ? "" : `You stay signed in at ${credential.issuer.name}`;
  document.title = `${description.info.title}: API reference`;
  if (shown !== undefined && shown.scheme === schemeOf(credential)) return;
  const configuration = {
    content: asSignedIn(description, credential),
    authentication: { securitySchemes: placeholdersOf(description) },
    customFetch: sendAndShow,
    persistAuth: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    withDefaultFonts: false,
    hideClientButton: true,
    showDeveloperTools: "never",
    documentDownloadType: "json",
    hideModels: false,
    defaultOpenFirstTag: true,
    metaData: { title: `${description.info.title}: API reference` },
  };
  const made = shown?.viewer ?? createApiReference("#reference", configuration);
  if (shown !== undefined) made.updateConfiguration(configuration);
  shown = { viewer: made, scheme: schemeOf(credential), description };
}

/** Shown in place of a secret: the viewer never has one, and page.css hides its fields. */
const placeholders = {
  apikey: { value: "apikey YOUR_API_KEY" },
  bearer: { token: "YOUR_ACCESS_TOKEN" },
  refresh: { token: "YOUR_REFRESH_TOKEN" },
};

function placeholdersOf({ components }: Description): object {
  const issuers = Object.keys(components.securitySchemes).filter((name) => name.startsWith("issuer."));
  return { ...placeholders, ...Object.fromEntries(issuers.map((name) => [name, { token: "YOUR_TOKEN" }])) };
}

/**
 * The description with one way to show who calls, the one signed in with: the viewer's examples
 * take the first, or none where that may be.
 */
function asSignedIn(description: Description, credential: Credential | undefined): Description {
  const copy = structuredClone(description);
  const { securitySchemes } = copy.components;
  for (const [name, { type, description: text }] of Object.entries(securitySchemes)) {
    // The viewer would offer a sign-in of its own.
    if (type === "openIdConnect") {
      securitySchemes[name] = { type: "http", scheme: "bearer", ...(text !== undefined && { description: text }) };
    }
  }
  if (credential === undefined) return copy;
  const scheme = schemeOf(credential);
  for (const operations of Object.values(copy.paths)) {
    for (const operation of Object.values(operations)) {
      const own = operation.security?.filter((each) => scheme in each) ?? [];
      if (own.length > 0) operation.security = own;
    }
  }
  return copy;
}

/**
 * Sends what the viewer would, with the page's credential unless the request has one of its own.
 */
async function sendAndShow(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, { ...init, credentials: "omit" });
  // The viewer sends what its examples show: the name of a scheme, with a placeholder or alone.
  const isEmpty = /^\s*\w*\s*(YOUR_\w+)?\s*$/.test(request.headers.get("Authorization") ?? "");
  if (isEmpty) request.headers.delete("Authorization");
  const isOwn = request.url.startsWith(base.href) && isEmpty;
  const response = await (isOwn ? signIn.sendRequest(request) : fetch(request));
  // On a narrow screen the answer is below all parameters: without this, nothing shows that it
  // came.
  setTimeout(() => {
    if (!matchMedia("(width < 1280px)").matches) return;
    document.querySelector("[role=dialog] section[aria-label=Response]")?.scrollIntoView({ block: "start" });
  }, 100);
  return response;
}

/** The viewer would save what it was shown; a person wants the description as it is served. */
function saveDescription(event: MouseEvent): void {
  if (shown === undefined || (event.target as Element).closest(".download-container") === null) return;
  event.preventDefault();
  event.stopPropagation();
  const link = document.createElement("a");
  link.download = "openapi.json";
  link.href = URL.createObjectURL(new Blob([JSON.stringify(shown.description, null, 2)], { type: "application/json" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Loaded when there is something to show: it is large. */
async function viewer(): Promise<NonNullable<typeof globalThis.Scalar>> {
  if (globalThis.Scalar === undefined) {
    const script = document.createElement("script");
    script.src = document.querySelector<HTMLMetaElement>("meta[name=viewer]")?.content ?? "";
    const loaded = new Promise((resolve, reject) => {
      script.addEventListener("load", resolve);
      script.addEventListener("error", () => reject(new Error("The viewer could not be loaded")));
    });
    document.head.append(script);
    await loaded;
  }
  if (globalThis.Scalar === undefined) throw new Error("The viewer's script does not define it");
  return globalThis.Scalar;
}

function ask(why: string): void {
  const back = shown === undefined ? {} : { wayBack: { label: "Back", onClick: () => void open() } };
  element("reference").hidden = true;
  element("sign-in").hidden = true;
  const title = `Sign in – ${signIn.project}: API reference`;
  render(<Gate signIn={signIn} title={title} why={why} {...back} />, element("gate-place"));
}

function closeGate(): void {
  render(null, element("gate-place"));
}

function say(text: string): void {
  element("message").textContent = text;
}

signIn.onChange(() => {
  // The viewer remembers what it was shown; a new page does not.
  if (signIn.credential === undefined) location.reload();
  else void open();
});
element("reference").addEventListener("click", saveDescription, { capture: true });
element("sign-in").addEventListener("click", () => ask("Requests that you try are sent with what you enter here."));
element("sign-out").addEventListener("click", () => void signIn.signOut());

signIn.onExpiry(() => {
  say("Your sign-in has expired: requests are refused until you sign in again.");
  element("sign-in").hidden = false;
});

/** Whoever comes back from an issuer without being signed in reads why. */
async function begin(): Promise<void> {
  if (response !== undefined) render("Signing in…", element("who"));
  await signIn.begin(response);
  if (signIn.credential === undefined || signIn.fault !== undefined) await open();
  if (signIn.fault !== undefined) ask("Requests that you try are sent with what you enter here.");
}

void begin();
