// The reference page in a real browser: what it asks for, shows and sends, in light and dark,
// narrow and wide. Pictures of it lie in out/docs-page/ for whoever wants to look.

import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import {
  apikey,
  passwordOf,
  project,
  withConfig,
  withHosts,
  withKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";
import { testTier } from "../support/time/test-tier.ts";
import { type Browser, type Page, startBrowser } from "./browser.ts";
import { askForKey } from "./console-page.ts";

const shop = project(
  "shop",
  withConfig({ console: "Authenticated" }),
  withKey("staff", { role: "Administrators" }),
  withUser("ada"),
  withHosts("shop.localhost"),
  withResource("books", {
    scope: { read: "All" },
    indexes: ["title"],
    schema: {
      type: "object",
      description: "Every book that **we** sell. <img src=data:,x onerror=alert(1)>",
      required: ["title"],
      properties: { title: { type: "string" }, price: { type: "number", exclusiveMinimum: 0 } },
    },
  }),
  withRootKey("settings"),
);

const pictures = fileURLToPath(new URL("../../out/docs-page/", import.meta.url));
const wide = { width: 1280, height: 900, scheme: "light" } as const;
/** Each width and each scheme is looked at on every commit, all four of them together at night. */
const otherScreens =
  testTier === "nightly"
    ? ([
        { ...wide, scheme: "dark" },
        { width: 375, height: 800, scheme: "light" },
      ] as const)
    : [];
let browser: Browser;
let served: Served;
/** How far the clock of the server is ahead, in milliseconds. */
let ahead = 0;
let key: string;

beforeAll(async () => {
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  served = await serveFrom(store, [shop], { publicUrl: "", clock });
  browser = await startBrowser();
  key = apikey("staff").slice("apikey ".length);
  const as = apikey("staff");
  await served.send("/api/books", { method: "POST", as, body: { title: "Emma", price: 12 } });
});

afterAll(async () => {
  await browser?.stop();
  await served?.plane.close();
  await served?.store.close();
});

const shownText = "document.querySelector('#reference').innerText";

async function signedIn(page: Page, url = `${served.origin}${served.base}/docs`): Promise<void> {
  await page.goto(url);
  await page.until("document.querySelector('#gate')");
  await askForKey(page);
  await page.type(key);
  await page.evaluate("document.querySelector('#with-key').requestSubmit()");
  await page.until(`${shownText}.includes('api/books')`);
}

async function loggedIn(page: Page): Promise<void> {
  await page.goto(`${served.origin}${served.base}/docs`);
  await page.until("document.querySelector('#gate')");
  await page.evaluate("document.querySelector('#username').focus()");
  await page.type("ada");
  await page.evaluate("document.querySelector('#password').focus()");
  await page.type(passwordOf("ada"));
  await page.evaluate("document.querySelector('#with-password').requestSubmit()");
  await page.until(`${shownText}.includes('api/books')`);
}

const button = (condition: string) =>
  `[...document.querySelectorAll('button')].find((each) => ${condition} && each.checkVisibility())`;
const sendButton = button("/^Send/.test(each.innerText.trim())");
const dialog = "document.querySelector('[role=dialog].scalar-client')";

/** Opens the dialog that sends a request: of listing the books. */
async function tryOut(page: Page): Promise<void> {
  await page.evaluate(`${button("/Test Request/.test(each.innerText) && each.innerText.includes('get')")}.click()`);
  await page.until(sendButton);
}

/** The examples that show how to say who calls, as a person sees them. */
const examples = `[...document.querySelectorAll('#reference pre')].map((each) => each.innerText)
  .filter((text) => text.includes('curl') && text.includes('api/books')).join()`;
const fieldsOfTheViewer = /No authentication selected|Select Auth Type|Bearer Token|YOUR_SECRET|Auth Required/i;

describe("the reference page", () => {
  it.each([{ ...wide, scheme: "light" }, { width: 375, height: 800, scheme: "dark" }, ...otherScreens] as const)(
    "asks for credentials and shows the API at $width px in $scheme, without a complaint or a stranger",
    async (options) => {
      const page = await browser.open(options);
      await page.goto(`${served.origin}${served.base}/docs`);
      await page.until("document.querySelector('#gate')");
      const name = `${options.width}-${options.scheme}`;
      await page.picture(`${pictures}gate-${name}.png`);
      expect(await page.evaluate("[document.querySelector('h1').innerText, document.title]")).toEqual([
        "Sign in to shop",
        "Sign in – shop: API reference",
      ]);
      const background = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
      expect(background).toBe(options.scheme === "dark" ? "rgb(16, 18, 20)" : "rgb(255, 255, 255)");
      expect(await page.evaluate("document.documentElement.innerHTML.includes('books')")).toBe(false);
      await signedIn(page);
      await page.evaluate("new Promise((resume) => setTimeout(resume, 1000))");
      expect(await page.evaluate("document.querySelector('#console').checkVisibility()")).toBe(true);
      expect(await page.evaluate("document.querySelector('#who').clientHeight < 25")).toBe(true);
      await page.picture(`${pictures}reference-${name}.png`);
      // What the viewer draws looks as its makers meant it: rules for our own buttons and links end
      // at the bar and the form.
      const borders =
        "[...document.querySelectorAll('#reference button')].map((each) => getComputedStyle(each).borderTopWidth)";
      expect(await page.evaluate(`${borders}.filter((width) => width !== '0px').length < ${borders}.length / 2`)).toBe(
        true,
      );
      const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate(overflow)).toBe(0);
      // The first answer of openapi.json, which asks for credentials, is what a browser calls an
      // error.
      expect(page.complaints.filter((text) => !/401 .*openapi\.json/.test(text))).toEqual([]);
      expect(page.requests.filter((url) => !url.startsWith(served.origin) && !url.startsWith("data:"))).toEqual([]);
    },
  );

  it("lets a person try a call with a key, and keeps the key in memory only", async () => {
    const page = await browser.open(wide);
    await signedIn(page);
    await tryOut(page);
    await page.evaluate(`${sendButton}.click()`);
    await page.until("document.body.innerText.includes('Emma')");
    await page.picture(`${pictures}try.png`);
    const kept = await page.evaluate<string>(
      "JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])",
    );
    expect(kept).not.toContain(key);
  });

  it.each([
    { by: "a key", signIn: signedIn, placeholder: "apikey YOUR_API_KEY" },
    { by: "a password", signIn: loggedIn, placeholder: "Bearer YOUR_ACCESS_TOKEN" },
  ])(
    "has one way to sign in, and its examples show that by $by with a placeholder",
    async ({ signIn, placeholder }) => {
      const page = await browser.open(wide);
      await signIn(page);
      await page.until(`${examples}.includes('Authorization')`);
      expect(await page.evaluate(examples)).toContain(`Authorization: ${placeholder}`);
      expect(await page.evaluate("getComputedStyle(document.querySelector('.credential-value')).fontSize")).not.toBe(
        "0px",
      );
      expect(await page.evaluate(shownText)).not.toMatch(fieldsOfTheViewer);
      await tryOut(page);
      const text = await page.evaluate<string>(`${dialog}.innerText`);
      expect(text).not.toMatch(fieldsOfTheViewer);
      expect(text).not.toContain("Authentication");
      for (const section of ["Cookies", "Headers", "Query Parameters"]) expect(text).toContain(section);
      expect(await page.evaluate("document.documentElement.outerHTML")).not.toContain(key);
    },
  );

  it("shows the other way in its examples when a person signs in later, and saves the description as it is served", async () => {
    served.change(withConfig({ openapi: "Anyone" }));
    try {
      const page = await browser.open(wide);
      await page.goto(`${served.origin}${served.base}/docs`);
      await page.until(`${examples}.includes('YOUR_ACCESS_TOKEN')`);
      await page.evaluate("document.querySelector('#sign-in').click()");
      await page.until("document.querySelector('#gate')");
      await askForKey(page);
      await page.type(key);
      await page.evaluate("document.querySelector('#with-key').requestSubmit()");
      await page.until("document.querySelector('#who').innerText === 'Signed in as staff'");
      await page.until(`${examples}.includes('apikey YOUR_API_KEY')`);
      await page.evaluate(`void (globalThis.saved = new Promise((resume) => {
        URL.createObjectURL = (blob) => { resume(blob.text()); return "data:,"; };
      }))`);
      await page.evaluate("document.querySelector('.download-container button, .download-container a').click()");
      const description = (await served.send("/openapi.json")).json();
      expect(JSON.parse(await page.evaluate<string>("globalThis.saved"))).toEqual(description);
    } finally {
      served.change(withConfig({ openapi: "Authenticated" }));
    }
  });

  it("leaves nothing one over the other on a phone while a person tries a call, and brings the answer into view", async () => {
    const page = await browser.open({ width: 390, height: 844, scheme: "light" });
    await signedIn(page);
    const bar = "document.querySelector('body > header').checkVisibility({ visibilityProperty: true })";
    expect(await page.evaluate("document.querySelector('#who').scrollHeight <= 44")).toBe(true);
    expect(await page.evaluate(bar)).toBe(true);
    await tryOut(page);
    expect(await page.evaluate(bar)).toBe(false);
    const box = (selector: string) => `${dialog}.querySelector('${selector}').getBoundingClientRect()`;
    await page.until(`${box(".scalar-sidebar-toggle")}.bottom <= ${box(".address-bar-bg-states")}.top`);
    await page.evaluate(`${sendButton}.click()`);
    await page.until(`document.body.innerText.includes('Emma')`);
    const response = box("section[aria-label=Response]");
    await page.until(`${response}.top > 0 && ${response}.top < innerHeight * 0.75`);
    await page.picture(`${pictures}try-390-light.png`);
    await page.evaluate("document.querySelector('.app-exit-button').click()");
    await page.until(bar);
  });

  it("logs a person in and out, and the session ends with it", async () => {
    const live = async () => (await served.send("/sessions", { as: apikey("staff") })).json<{ count: number }>().count;
    const before = await live();
    const page = await browser.open(wide);
    await page.goto(`${served.origin}${served.base}/docs`);
    await page.until("document.querySelector('#gate')");
    const enter = async (password: string) => {
      await page.evaluate(
        "document.querySelector('#with-password').reset(); document.querySelector('#username').focus()",
      );
      await page.type("ada");
      await page.evaluate("document.querySelector('#password').focus()");
      await page.type(password);
      await page.evaluate("document.querySelector('#with-password').requestSubmit()");
    };
    await enter("wrong");
    await page.until("document.querySelector('#fault').innerText.includes('password is wrong')");
    await enter(passwordOf("ada"));
    await page.until(`${shownText}.includes('api/books')`);
    expect(await page.evaluate("document.querySelector('#who').innerText")).toBe("Signed in as ada");
    expect(await live()).toBe(before + 1);
    await page.evaluate("document.querySelector('#sign-out').click()");
    await page.until("document.querySelector('#gate') !== null");
    await eventually(async () => expect(await live()).toBe(before));
  });

  it("goes on after the access token has expired, with another one", async () => {
    try {
      const page = await browser.open(wide);
      await loggedIn(page);
      // They live for 300 seconds.
      ahead = 301_000;
      await tryOut(page);
      await page.evaluate(`${sendButton}.click()`);
      await page.until("document.body.innerText.includes('Emma')");
      expect(page.requests.filter((url) => url.endsWith("/sessions/refresh")).length).toBeGreaterThan(0);
    } finally {
      ahead = 0;
    }
  });

  it("works at a host's root and with a trailing slash, and asks nobody where the description is for Anyone", async () => {
    served.change(withConfig({ openapi: "Anyone", console: "Nobody" }));
    try {
      const page = await browser.open(wide);
      const { port } = new URL(served.origin);
      await page.goto(`http://shop.localhost:${port}/docs/`);
      await page.until(`${shownText}.includes('api/books')`);
      expect(await page.evaluate("location.pathname")).toBe("/docs");
      expect(await page.evaluate("document.querySelector('#gate') === null")).toBe(true);
      expect(page.complaints).toEqual([]);
      expect(await page.evaluate("document.querySelector('#console').hidden")).toBe(true);
      await page.evaluate("document.querySelector('#sign-in').click()");
      await page.until(`document.querySelector('#gate h1')?.innerText === 'Sign in to shop.localhost:${port}'`);
    } finally {
      served.change(withConfig({ openapi: "Authenticated", console: "Authenticated" }));
    }
  });
});
