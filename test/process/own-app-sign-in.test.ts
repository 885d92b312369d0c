// The app of docs/how-to/sign-in-from-your-own-app.md: that of docs/how-to/use-from-a-browser.md
// with the files of examples/browser-app/openid, checked by the compiler, built, and used in a real
// browser over a certified OpenID provider.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { testIssuer, withIssuer } from "../support/http/external-issuer.ts";
import { apikey, project, withConfig, withKey, withResource } from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { type StartedProvider, startProvider } from "../support/oidc/provider.ts";
import { type Browser, type Page, startBrowser } from "./browser.ts";
import { complaintsBut, fill, type ServedApp, serveApp, textOf, typeErrors } from "./built-app.ts";
import { blocksOf, guideSources, openIdSources, type Sources, writeApp } from "./guide-app.ts";

interface ShownProject {
  readonly spec: {
    readonly authentication: {
      readonly issuers: readonly [
        {
          readonly name: string;
          readonly access: "Write";
          readonly issuer: { readonly audiences: readonly string[] };
        },
      ];
    };
  };
}

/**
 * The same app at one origin for each kind of client, which is registered by the name of the host.
 */
const clients = ["renewing", "brief", "opaque"] as const;
type Client = (typeof clients)[number];
const hosts: Readonly<Record<Client, string>> = {
  renewing: "localhost",
  brief: "brief.localhost",
  opaque: "opaque.localhost",
};

let folder = "";
let app: ServedApp;
let served: Served;
let provider: StartedProvider;
let browser: Browser;
let page: Page;
/** The project takes tokens by these keys of the provider from now on. */
let takeKeys: (keys: StartedProvider["keys"]) => void;
/** How far the clock of the server is ahead, in milliseconds. */
let ahead = 0;

const originOf = (client: Client) => app.origin.replace("localhost", hosts[client]);

/** The guide's app, as the section changes it. */
async function changedSources(authority: string): Promise<Sources> {
  const sources = new Map([...(await guideSources()), ...(await openIdSources())]);
  const change = (name: string, part: RegExp, by: string) => {
    const text = sources.get(name) ?? "";
    expect(text, name).toMatch(part);
    sources.set(
      name,
      text.replace(part, () => by),
    );
  };
  change("index.html", /^ +<label>Name [\s\S]*?name="password".*\n/m, "");
  change("src/provider.ts", /authority: .*/, `authority: "${authority}",`);
  change("src/provider.ts", /client_id: .*/, "client_id: location.hostname,");
  return sources;
}

beforeAll(async () => {
  const shown = (await blocksOf("sign-in-from-your-own-app.md")).find(({ text }) => text.includes("cors:"))?.text;
  const [{ name, access, issuer }] = (parse(shown ?? "") as ShownProject).spec.authentication.issuers;
  app = await serveApp(() => join(folder, "dist"));
  provider = await startProvider({
    clients: clients.map((client) => ({
      id: hosts[client],
      redirectUris: [`${originOf(client)}/`],
      refreshTokens: client !== "brief",
      ...(client === "opaque" ? {} : { audience: issuer.audiences[0] ?? "" }),
    })),
  });
  const allowedOrigins = clients.map(originOf);
  const { url } = provider;
  const withKeys = (keys: StartedProvider["keys"]) =>
    withIssuer(testIssuer(name, { url, keys, access, audiences: issuer.audiences }));
  takeKeys = (keys) => void served.change(withKeys(keys));
  const team = project(
    "team",
    withKey("staff", { role: "Administrators" }),
    withConfig({ cors: { allowedOrigins, maxAgeSeconds: 600 } }),
    withKeys(provider.keys),
    withResource("tasks"),
  );
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  served = await serveFrom(store, [team], { publicUrl: "", clock });
  folder = await writeApp(await changedSources(url), served.origin + served.base);
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.stop();
  await provider?.stop();
  app?.close();
  await served?.plane.close();
  await served?.store.close();
  await rm(folder, { recursive: true, force: true });
});

afterEach(() => {
  ahead = 0;
  takeKeys(provider.keys);
});

const pressSignIn = "document.querySelector('#sign-in').requestSubmit()";
/** Once the app's script has run: its HTML alone looks the same. */
const isSignedOut = `'api' in globalThis && document.querySelector('#task').hidden && !document.querySelector('#sign-in').hidden`;
const signInAlert = textOf("#sign-in [role=alert]");
const status = textOf("#task [role=status]");
const typedTitle = "document.querySelector('#task [name=title]').value";
const pressSave = "document.querySelector('#task').requestSubmit()";
/** All that the browser keeps for the app in addition to its memory. */
const kept = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])";
const fiveCalls = "Promise.all([1, 2, 3, 4, 5].map(() => api.GET('/whoami').then(({ response }) => response.status)))";
const asksWho = () => `location.origin === ${JSON.stringify(provider.url)} && document.querySelector('[name=login]')`;
const isBack = (client: Client) => `location.origin === ${JSON.stringify(originOf(client))}`;
const requestsTo = (url: string) => page.requests.filter((each) => each === url).length;
const tokenEndpoint = () => provider.signIn("").tokenEndpoint;

async function opened(client: Client, path = "/"): Promise<void> {
  page = await browser.open({ width: 900, height: 700, scheme: "light" });
  await page.goto(originOf(client) + path);
}

async function signInAtProvider(client: Client, name: string): Promise<void> {
  await page.until(asksWho());
  await fill(page, "[name=login]", name);
  await page.press("Enter");
  await page.until(isBack(client));
}

async function signedIn(client: Client, name: string, path = "/"): Promise<void> {
  await opened(client, path);
  await page.evaluate(pressSignIn);
  await signInAtProvider(client, name);
  await page.until(`${textOf("#who")} === 'The name of ${name}'`);
}

async function save(title: string): Promise<void> {
  await fill(page, "#task [name=title]", title);
  await fill(page, "#task [name=priority]", "1");
  await page.evaluate(pressSave);
}

/** Saves when the token has expired, where the provider gives no refresh token. */
async function saveTooLate(title: string): Promise<void> {
  ahead = 361_000;
  await save(title);
  await page.until(isSignedOut);
  ahead = 0;
}

async function signInAgain(name: string): Promise<void> {
  await page.evaluate(pressSignIn);
  await page.until(`${textOf("#who")} === 'The name of ${name}'`);
}

async function storedTitles(beginning: string): Promise<readonly string[]> {
  const reply = await served.send("/api/tasks?_limit=100", { as: apikey("staff") });
  const { items } = reply.json<{ items: { title: string }[] }>();
  return items.map(({ title }) => title).filter((title) => title.startsWith(beginning));
}

it("passes the compiler", async () => {
  expect(await typeErrors(folder)).toBe("");
});

it("signs a person in, comes back to where they were, and keeps nothing outside of the page's memory", async () => {
  await signedIn("renewing", "ann", "/?view=mine#today");
  expect(await page.evaluate(kept)).toBe(JSON.stringify([{}, {}, "", `${originOf("renewing")}/?view=mine#today`]));
  await save("By Ann");
  await page.until(`${status} === 'Saved'`);
  const stored = await served.send("/api/tasks", { as: apikey("staff") });
  expect(stored.json()).toMatchObject({
    items: [{ title: "By Ann", _metadata: { creator: "corp/ann", creator_type: "external" } }],
  });
  expect(complaintsBut(page)).toEqual([]);
});

it("renews an expired token once for all requests that find it expired, and sends each once more", async () => {
  await signedIn("renewing", "ann");
  const before = requestsTo(tokenEndpoint());
  ahead = 361_000;
  expect(await page.evaluate(fiveCalls)).toEqual([200, 200, 200, 200, 200]);
  expect(requestsTo(tokenEndpoint()) - before).toBe(1);
  expect(await page.evaluate(kept)).toBe(JSON.stringify([{}, {}, "", `${originOf("renewing")}/`]));
});

it("keeps a person signed in where the provider does not answer to the renewal, but not where it refuses", async () => {
  await signedIn("renewing", "ann");
  const answering = (answer: string) => `void (globalThis.real ??= fetch, globalThis.fetch = async (input, init) => {
    if (String(input) !== ${JSON.stringify(tokenEndpoint())}) return real(input, init);
    ${answer}
  })`;
  ahead = 361_000;
  await page.evaluate(answering('throw new TypeError("Failed to fetch")'));
  await save("Late");
  await page.until(`${status}.startsWith('No answer came')`);
  await page.evaluate("void (globalThis.fetch = real)");
  await save("Late");
  await page.until(`${status} === 'Saved'`);
  // Renewed tokens live for two hours.
  ahead += 7_200_000;
  await page.evaluate(answering('return Response.json({ error: "invalid_grant" }, { status: 400 })'));
  await save("Too late");
  await page.until(isSignedOut);
});

it("lets a person sign in again whose token has expired, where the provider gives no refresh token", async () => {
  await signedIn("brief", "ann");
  const before = requestsTo(tokenEndpoint());
  ahead = 361_000;
  expect(await page.evaluate(fiveCalls)).toEqual([401, 401, 401, 401, 401]);
  await page.until(isSignedOut);
  expect(requestsTo(tokenEndpoint())).toBe(before);
  expect(await page.evaluate("document.querySelectorAll('iframe').length")).toBe(0);
  ahead = 0;
  await signInAgain("ann");
});

it("keeps what a person has typed over a sign-in that has ended, and which task it changes", async () => {
  await signedIn("brief", "ann");
  await save("Kept: first");
  await page.until(`${status} === 'Saved'`);
  await saveTooLate("Kept: second");
  expect(await page.evaluate(signInAlert)).toBe("Your sign-in has ended. Sign in again: what you typed is kept.");
  expect(await page.evaluate(typedTitle)).toBe("");
  await signInAgain("ann");
  expect(await page.evaluate(typedTitle)).toBe("Kept: second");
  expect(await page.evaluate(kept)).toBe(JSON.stringify([{}, {}, "", `${originOf("brief")}/`]));
  await page.evaluate(pressSave);
  await page.until(`${status} === 'Saved'`);
  expect(await storedTitles("Kept")).toEqual(["Kept: second"]);
});

it("stores a new task once whose answer was lost before the sign-in ended", async () => {
  await signedIn("brief", "ann");
  await page.evaluate(`void (globalThis.real = fetch, globalThis.fetch = async (input, init) => {
    const response = await real(input, init);
    if (input.method === "POST") throw new TypeError("Failed to fetch");
    return response;
  })`);
  await save("Once");
  await page.until(`${status}.startsWith('No answer came')`);
  await page.evaluate("void (globalThis.fetch = real)");
  await saveTooLate("Once");
  await signInAgain("ann");
  await page.evaluate(pressSave);
  await page.until(`${status} === 'Saved'`);
  expect(await storedTitles("Once")).toEqual(["Once"]);
});

it("shows nobody else what a person has typed, and keeps it no longer then", async () => {
  await signedIn("brief", "ann");
  await saveTooLate("Secret of Ann");
  await page.goto(`${provider.url}/session/end`);
  await page.evaluate("document.querySelector('[name=logout]').click()");
  await page.until("!document.querySelector('[name=logout]')");
  await page.goto(originOf("brief"));
  expect(await page.evaluate(kept)).toContain("Secret of Ann");
  await page.evaluate(pressSignIn);
  await signInAtProvider("brief", "ben");
  await page.until(`${textOf("#who")} === 'The name of ben'`);
  expect(await page.evaluate(typedTitle)).toBe("");
  expect(await page.evaluate(kept)).toBe(JSON.stringify([{}, {}, "", `${originOf("brief")}/`]));
});

it("keeps a person signed in whose token is refused for a key that is not known, and saves once it is", async () => {
  await signedIn("brief", "ann");
  takeKeys([]);
  await save("While keys change");
  await page.until(`${textOf("#task [role=alert]")} !== ''`);
  expect(await page.evaluate(textOf("#task [role=alert]"))).toContain("key");
  expect(await page.evaluate(isSignedOut)).toBe(false);
  takeKeys(provider.keys);
  await page.evaluate(pressSave);
  await page.until(`${status} === 'Saved'`);
  expect(await storedTitles("While")).toEqual(["While keys change"]);
});

it("shows the name that the provider has for a person, or else the claim by which they are known", async () => {
  await opened("brief");
  await page.evaluate(pressSignIn);
  await signInAtProvider("brief", "nameless");
  await page.until(`${textOf("#who")} === 'nameless'`);
});

it("signs out here and at the provider, which asks the next person who they are; they see only what is theirs", async () => {
  await signedIn("renewing", "ann");
  await page.evaluate("document.querySelector('#sign-out').click()");
  await page.until("document.querySelector('[name=logout]')");
  expect(requestsTo(`${tokenEndpoint()}/revocation`)).toBe(1);
  // Such as a refusal by the provider.
  expect(complaintsBut(page)).toEqual([]);
  await page.evaluate("document.querySelector('[name=logout]').click()");
  await page.until(`${isBack("renewing")} && ${isSignedOut}`);
  expect(await page.evaluate(kept)).toBe(JSON.stringify([{}, {}, "", `${originOf("renewing")}/`]));
  expect(await page.evaluate("api.GET('/api/tasks').then(({ response }) => response.status)")).toBe(401);
  await page.evaluate(pressSignIn);
  await signInAtProvider("renewing", "ben");
  await page.until(`${textOf("#who")} === 'The name of ben'`);
  await save("By Ben");
  await page.until(`${status} === 'Saved'`);
  expect(await page.evaluate("listTasks().then(({ tasks }) => tasks.map(({ task }) => task.title))")).toEqual([
    "By Ben",
  ]);
});

it("shows why the API refuses a token, such as one that only the provider can read", async () => {
  await opened("opaque");
  await page.evaluate(pressSignIn);
  await signInAtProvider("opaque", "ann");
  await page.until(`${signInAlert} !== ''`);
  expect(await page.evaluate(signInAlert)).toContain("opaque");
  expect(await page.evaluate(isSignedOut)).toBe(true);
  expect(await page.evaluate(kept)).toBe(JSON.stringify([{}, {}, "", `${originOf("opaque")}/`]));
});

it("takes no answer to a sign-in that it has not begun, and forgets one that was broken off", async () => {
  await opened("renewing");
  await page.evaluate(pressSignIn);
  await page.until(asksWho());
  await page.goto(`${originOf("renewing")}/?code=stolen&state=guessed`);
  await page.until(`${signInAlert} === 'That did not work. Please sign in again.'`);
  expect(requestsTo(tokenEndpoint())).toBe(0);
  expect(await page.evaluate("[localStorage.length, sessionStorage.length, location.search]")).toEqual([0, 1, ""]);
  await page.goto(originOf("renewing"));
  await page.until("sessionStorage.length === 0");
  expect(await page.evaluate(kept)).toBe(JSON.stringify([{}, {}, "", `${originOf("renewing")}/`]));
});

it("forgets the tokens and stays on the page where the provider can't be reached, and says that its session may go on", async () => {
  await signedIn("renewing", "ann");
  await provider.stop();
  await page.evaluate("document.querySelector('#sign-out').click()");
  await page.until(`${signInAlert} !== ''`);
  expect(await page.evaluate(signInAlert)).toBe(
    "You are signed out here. Your session at the provider could not be ended, and may go on.",
  );
  expect(await page.evaluate(isSignedOut)).toBe(true);
  expect(await page.evaluate("api.GET('/api/tasks').then(({ response }) => response.status)")).toBe(401);
  await page.evaluate(pressSignIn);
  await page.until(`${signInAlert}.startsWith("The server or the provider can't be reached")`);
  expect(await page.evaluate(kept)).toBe(JSON.stringify([{}, {}, "", `${originOf("renewing")}/`]));
});
