// The app of one's own in docs/how-to/sign-in-with-openid-connect.md: that of docs/how-to/use-from-a-browser.md with the files by which
// it signs in at a provider, checked by the compiler, built, and used in a real browser over a certified OpenID provider.

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
import { blocksOf, type Sources, sourcesIn, writeApp } from "./guide-app.ts";

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

/** The same app at one origin for each kind of client, which is registered by the name of the host. */
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
/** How far the clock of the server is ahead, in milliseconds. */
let ahead = 0;

const originOf = (client: Client) => app.origin.replace("localhost", hosts[client]);

/** The guide's app, as the section changes it. */
async function changedSources(authority: string): Promise<Sources> {
  const guide = sourcesIn(await blocksOf("use-from-a-browser.md"));
  const section = sourcesIn(await blocksOf("sign-in-with-openid-connect.md"));
  const sources = new Map([...guide, ...section, ["src/main.ts", guide.get("src/main.ts") ?? ""]]);
  const change = (name: string, part: RegExp, by: string) => {
    const text = sources.get(name) ?? "";
    expect(text, name).toMatch(part);
    sources.set(
      name,
      text.replace(part, () => by),
    );
  };
  change("index.html", /^ +<label>Name [\s\S]*?name="password".*\n/m, "");
  change("src/main.ts", /^import .* from "\.\/session\.ts";\n/m, "");
  change("src/main.ts", /^signInForm\.addEventListener\([\s\S]*?^\}\);\n/m, section.get("src/main.ts") ?? "");
  change("src/provider.ts", /authority: .*/, `authority: "${authority}",`);
  change("src/provider.ts", /client_id: .*/, "client_id: location.hostname,");
  return sources;
}

beforeAll(async () => {
  const shown = (await blocksOf("sign-in-with-openid-connect.md")).find(({ text }) => text.includes("cors:"))?.text;
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
  const { url, keys } = provider;
  const team = project(
    "team",
    withKey("staff", { role: "Administrators" }),
    withConfig({ cors: { allowedOrigins, maxAgeSeconds: 600 } }),
    withIssuer(testIssuer(name, { url, keys, access, audiences: issuer.audiences })),
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
});

const pressSignIn = "document.querySelector('#sign-in').requestSubmit()";
const isSignedOut = "document.querySelector('#task').hidden && !document.querySelector('#sign-in').hidden";
const signInAlert = textOf("#sign-in [role=alert]");
const status = textOf("#task [role=status]");
/** All that the browser keeps for the app beside its memory. */
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
  await page.until(`${textOf("#who")} === 'corp/${name}'`);
}

async function save(title: string): Promise<void> {
  await fill(page, "#task [name=title]", title);
  await fill(page, "#task [name=priority]", "1");
  await page.evaluate("document.querySelector('#task').requestSubmit()");
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
  await page.evaluate(pressSignIn);
  await page.until(`${textOf("#who")} === 'corp/ann'`);
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
  await page.until(`${textOf("#who")} === 'corp/ben'`);
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
