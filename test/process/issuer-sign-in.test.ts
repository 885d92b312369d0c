// Signing in at an external issuer in a real browser: /console and /docs over a certified OpenID
// provider, which runs as a process of its own. What a person reads where it fails, and what is
// left in the browser. Pictures lie in out/issuer-sign-in/ for whoever wants to look.

import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import type { IssuerConfig } from "../../core/config/types.ts";
import { testIssuer, withIssuer } from "../support/http/external-issuer.ts";
import { apikey, project, withConfig, withKey, withResource } from "../support/http/projects.ts";
import type { Served } from "../support/http/served.ts";
import { type StartedProvider, startProvider } from "../support/oidc/provider.ts";
import { eventually } from "../support/time/eventually.ts";
import { testTier } from "../support/time/test-tier.ts";
import type { Page, PageOptions } from "./browser.ts";
import {
  bookProperties,
  click,
  complaintsOf,
  enter,
  named,
  objectEditor,
  overflow,
  type StartedConsole,
  screens,
  showJson,
  shows,
  signInWithKey,
  startConsole,
  violationsOf,
  wide,
} from "./console-page.ts";

const shop = project(
  "shop",
  withConfig({ console: "Authenticated" }),
  withKey("staff", { role: "Administrators" }),
  withResource("books", { schema: { type: "object", required: ["title"], properties: bookProperties } }),
);
const pictures = fileURLToPath(new URL("../../out/issuer-sign-in/", import.meta.url));
/** Each width and each scheme is looked at on every commit, all four of them together at night. */
const looked =
  testTier === "nightly" ? screens : screens.filter(({ width, scheme }) => width > 1000 === (scheme === "light"));

let started: StartedConsole;
let served: Served;
let provider: StartedProvider;
/** How far the clock of the server is ahead, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  started = await startConsole(shop, { clock: { ...systemClock, now: () => systemClock.now() + ahead } });
  served = started.served;
  const redirectUris = ["console", "docs"].map((page) => `${served.origin}${served.base}/${page}`);
  provider = await startProvider({
    clients: [
      { id: "with-access-token", redirectUris, audience: "shop" },
      { id: "with-refresh-token", redirectUris, audience: "shop", refreshTokens: true },
      { id: "with-id-token", redirectUris },
      { id: "closed", redirectUris, allowsOrigins: false },
    ],
  });
});

afterAll(async () => {
  await started?.stop();
  await provider?.stop();
});

/** People may sign in as this client from now on. */
function offer(clientId: string, options: Partial<IssuerConfig> = {}): void {
  const { url, keys } = provider;
  served.change(withIssuer(testIssuer("corp", { url, keys, signIn: provider.signIn(clientId), ...options })));
}

const gate = "document.querySelector('#gate')";
const who = "document.querySelector('#who')?.innerText";
const signInWithCorp = "Sign in with corp";

async function visited(path: string, options: PageOptions = wide): Promise<Page> {
  const page = await started.browser.open(options);
  await page.goto(`${served.origin}${served.base}${path}`);
  await page.until(`${gate} && ${named(signInWithCorp)}`);
  return page;
}

/** At the provider, which comes back to the page. */
async function signInAtProvider(page: Page, name: string): Promise<void> {
  await page.until(`location.origin === ${JSON.stringify(provider.url)} && document.querySelector('[name=login]')`);
  await page.evaluate("document.querySelector('[name=login]').focus()");
  await page.type(name);
  await page.press("Enter");
  await page.until(`location.origin === ${JSON.stringify(served.origin)}`);
}

async function signedIn(path: string, name: string): Promise<Page> {
  const page = await visited(path);
  await click(page, signInWithCorp);
  await signInAtProvider(page, name);
  await page.until(`${who} === 'Signed in as corp/${name}'`);
  return page;
}

/** All that the browser keeps for the page in addition to its memory. */
const kept =
  "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state])";

const fault = "document.querySelector('#fault')?.innerText";

describe("the console", () => {
  it.each(looked)("offers the issuer at $width px in $scheme", async (options) => {
    offer("with-access-token");
    const page = await visited("/console", options);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate(overflow)).toBe(0);
    await page.picture(`${pictures}gate-${options.width}-${options.scheme}.png`);
    expect(complaintsOf(page)).toEqual([]);
  });

  it("signs a person in, shows what was open, reads and writes, and leaves nothing in the browser", async () => {
    offer("with-access-token");
    const page = await signedIn("/console#/new/books", "ann");
    await showJson(page);
    expect(await page.evaluate("location.href")).toBe(`${served.origin}${served.base}/console#/new/books`);
    expect(await page.evaluate(kept)).toBe(
      JSON.stringify([{}, {}, "", `${served.origin}${served.base}/console#/new/books`, { index: 0 }]),
    );
    await page.picture(`${pictures}signed-in.png`);
    await enter(page, '{"title":"By Ann"}', objectEditor);
    await click(page, "Create");
    await page.until("location.hash.startsWith('#/api/books/')");
    const id = (await page.evaluate<string>("location.hash")).split("/").at(-1);
    const stored = await served.send(`/api/books/${id}`, { as: apikey("staff") });
    expect(stored.json()).toMatchObject({ _metadata: { creator: "corp/ann", creator_type: "external" } });
    await page.evaluate("location.hash = '#/api/books'");
    await page.until("document.querySelector('tbody')?.innerText.includes('By Ann')");
    expect(complaintsOf(page)).toEqual([]);
    const strangers = page.requests.filter((url) => !url.startsWith(served.origin) && !url.startsWith("data:"));
    expect(strangers.every((url) => url.startsWith(provider.url))).toBe(true);
  });

  it("reads no secret from the page's address or storage while the person is away, and takes no answer twice", async () => {
    offer("with-access-token");
    const page = await visited("/console");
    await click(page, signInWithCorp);
    await page.until(`location.origin === ${JSON.stringify(provider.url)}`);
    // Answered before the page goes.
    await page.evaluate("void setTimeout(() => history.back())");
    await page.until(`location.origin === ${JSON.stringify(served.origin)} && ${gate}`);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await page.goto(`${served.origin}${served.base}/console?code=stolen&state=guessed`);
    await page.until(
      `${fault}?.startsWith('This page was opened with the answer to a sign-in that it has not begun.')`,
    );
    expect(await page.evaluate("location.href")).toBe(`${served.origin}${served.base}/console`);
    expect(page.requests.some((url) => url === provider.signIn("with-access-token").tokenEndpoint)).toBe(false);
    await page.picture(`${pictures}refused.png`);
    expect(await violationsOf(page)).toEqual([]);
  });

  it.each([
    [
      "neither token is for the project",
      "with-id-token",
      {},
      "the id_token is for with-id-token. Let corp make tokens for it,",
    ],
    ["the issuer allows no other origin", "closed", {}, "it has to answer CORS requests of"],
    ["the issuer knows no such client", "unknown", {}, undefined],
    ["the API refuses the token", "with-access-token", { usernameClaim: "email" }, "but this API refused its token."],
  ] as const)("says what is wrong where %s", async (_what, clientId, options, words) => {
    offer(clientId, options);
    const page = await visited("/console#/api/books");
    await click(page, signInWithCorp);
    // The provider must not send a browser to where an unknown client says.
    if (words === undefined) {
      await page.until(`document.body.innerText.includes('invalid_client')`);
      return;
    }
    await signInAtProvider(page, "ann");
    await page.until(`${fault}?.includes(${JSON.stringify(words)})`);
    expect(await page.evaluate("location.hash")).toBe("#/api/books");
    await page.picture(`${pictures}fault-${clientId}.png`);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  it("does not leave a page that holds unsaved text: another page signs in for both", async () => {
    offer("with-access-token");
    const page = await signedIn("/console#/new/books", "ann");
    await showJson(page);
    await enter(page, '{"title":"Half an edit"}', objectEditor);
    const other = await page.beside();
    try {
      ahead = 361_000;
      await click(page, "Create");
      await page.until(shows("Your sign-in has expired."));
      await click(page, "Sign in again");
      await page.until(`${gate} && ${named("Open another page")}`);
      expect(await page.evaluate(`${named(signInWithCorp)} === undefined`)).toBe(true);
      await page.picture(`${pictures}gate-with-text.png`);
      expect(await violationsOf(page)).toEqual([]);
      await other.goto(await page.evaluate<string>(`${named("Open another page")}.href`));
      await other.until(`${gate} && ${named(signInWithCorp)}`);
    } finally {
      ahead = 0;
    }
    await signInWithKey(other, "staff");
    await page.until("document.querySelector('dialog[open] h2')?.innerText === 'Discard what corp/ann entered?'");
    await click(page, "Cancel");
    await page.until(`${gate}?.innerText.includes("sign in as corp/ann to keep it") && ${named("Go on as staff")}`);
    await click(other, "Sign out");
    await click(other, signInWithCorp);
    await page.until(`${gate} === null && ${objectEditor}.innerText === '{"title":"Half an edit"}'`);
    await click(page, "Create");
    await page.until("location.hash.startsWith('#/api/books/')");
  });

  it("gets another token where the issuer gives a refresh token, on one page for all", async () => {
    offer("with-refresh-token");
    const page = await signedIn("/console", "ann");
    const other = await page.beside();
    await other.goto(`${served.origin}${served.base}/console`);
    await other.until(`${who} === 'Signed in as corp/ann' && document.querySelector('.cards')`);
    try {
      ahead = 361_000;
      for (const each of [page, other]) await each.evaluate("location.hash = '#/api/books'");
      for (const each of [page, other])
        await each.until("document.querySelector('tbody')?.innerText.includes('By Ann')");
    } finally {
      ahead = 0;
    }
    const { tokenEndpoint } = provider.signIn("with-refresh-token");
    const asked = [page, other].flatMap(({ requests }) => requests.filter((url) => url === tokenEndpoint));
    // For the code, and once to refresh.
    expect(asked).toHaveLength(2);
    expect(await page.evaluate("sessionStorage.length + localStorage.length")).toBe(0);
  });

  it("says to a page that opens with an expired token that it has ended, and calls nobody signed in", async () => {
    offer("with-access-token");
    const page = await (await signedIn("/console", "ann")).beside();
    try {
      ahead = 361_000;
      await page.goto(`${served.origin}${served.base}/console#/api/books`);
      await page.until(`${gate}?.innerText.includes('You were signed in as corp/ann, which has ended.')`);
      expect(await page.evaluate(who)).toBe("Not signed in");
      expect(await page.evaluate("document.querySelector('#sign-out')")).toBeNull();
      await page.picture(`${pictures}ended.png`);
    } finally {
      ahead = 0;
    }
    await click(page, signInWithCorp);
    await page.until(`${who} === 'Signed in as corp/ann' && document.querySelector('tbody')`);
  });

  it("is told by another page how to sign in, however late, unless somebody has signed in or out since", async () => {
    offer("with-access-token");
    const page = await visited("/console");
    await page.until(gate);
    const post = (kind: string, name: string) => {
      const message = { kind, credential: { scheme: "apikey", authorization: apikey("staff"), caller: { name } } };
      const channel = JSON.stringify(`jsonplane ${served.base}/`);
      return page.evaluate(`new BroadcastChannel(${channel}).postMessage(${JSON.stringify(message)})`);
    };
    await post("is signed in", "staff");
    await page.until(`${who} === 'Signed in as staff'`);
    await post("signed out", "staff");
    await page.until(gate);
    await page.evaluate(
      `window.seen = []; new MutationObserver(() => seen.push(${who})).observe(document.body, { subtree: true, childList: true })`,
    );
    await post("is signed in", "late");
    await post("signed in", "eve");
    await page.until(`${who} === 'Signed in as eve'`);
    expect(await page.evaluate("seen.includes('Signed in as eve')")).toBe(true);
    expect(await page.evaluate("seen.includes('Signed in as late')")).toBe(false);
  });

  it("forgets the token on sign-out, says that the issuer's session goes on, and ends no session of the project", async () => {
    offer("with-access-token");
    const page = await signedIn("/console", "ann");
    expect(await page.evaluate(`${named("Sign out")}.title`)).toBe("You stay signed in at corp");
    await click(page, "Sign out");
    await page.until(`${gate}?.innerText.includes('When you sign out here, you stay signed in at corp.')`);
    expect(page.requests.filter((url) => url.includes("/sessions"))).toEqual([]);
    await click(page, signInWithCorp);
    await page.until(`${who} === 'Signed in as corp/ann'`);
  });
});

describe("the reference page", () => {
  const reference = "document.querySelector('#reference').innerText";

  it("signs a person in with the id_token, tells the console beside it, and shows examples with a placeholder", async () => {
    offer("with-id-token", { audiences: ["with-id-token"] });
    const page = await signedIn("/docs", "bob");
    await page.until(`${reference}.includes('api/books')`);
    // The viewer has fragments of its own.
    expect(await page.evaluate("location.pathname + location.search")).toBe(`${served.base}/docs`);
    await page.until(`${reference}.includes('Bearer YOUR_TOKEN')`);
    await page.picture(`${pictures}reference.png`);
    const other = await page.beside();
    await other.goto(`${served.origin}${served.base}/console`);
    await other.until(`${who} === 'Signed in as corp/bob'`);
    expect(page.complaints.filter((text) => !/401 .*openapi\.json/.test(text))).toEqual([]);
  });

  it("says that the token has expired, and offers to sign in again", async () => {
    offer("with-access-token");
    const page = await signedIn("/docs", "ann");
    await page.until(`${reference}.includes('api/books')`);
    try {
      ahead = 361_000;
      const button = (text: string) =>
        `[...document.querySelectorAll('button')].find((each) => ${text}.test(each.innerText.trim()) && each.checkVisibility())`;
      await page.until(button("/Test Request/"));
      await page.evaluate(`${button("/Test Request/")}.click()`);
      await page.until(button("/^Send/"));
      await page.evaluate(`${button("/^Send/")}.click()`);
      await page.until("document.querySelector('#message').innerText.startsWith('Your sign-in has expired')");
      await page.evaluate("document.querySelector('.app-exit-button').click()");
      await page.picture(`${pictures}expired.png`);
    } finally {
      ahead = 0;
    }
    await page.evaluate("document.querySelector('#sign-in').click()");
    await page.until(named(signInWithCorp));
    const before = page.requests.length;
    await click(page, signInWithCorp);
    await eventually(() => expect(page.requests.slice(before)).toContain(`${served.origin}${served.base}/whoami`));
    await page.until(`${who} === 'Signed in as corp/ann' && ${reference}.includes('api/books')`);
    expect(await page.evaluate("document.querySelector('#message').innerText")).toBe("");
  });
});
