// The reference page in a real browser: what it asks for, shows and sends, in light and dark, narrow and wide. Pictures of it lie in
// out/docs-page/ for whoever wants to look.

import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { type Browser, type Page, startBrowser } from "../support/browser.ts";
import {
  apikey,
  passwordOf,
  project,
  withConfig,
  withHosts,
  withKey,
  withResource,
  withRootKey,
  withSessions,
  withUser,
} from "../support/projects.ts";
import { type Served, serveFrom } from "../support/served.ts";

const shop = project(
  "shop",
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
let browser: Browser;
let served: Served;
let key: string;

beforeAll(async () => {
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  served = await serveFrom(store, [shop], { publicUrl: "" });
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
  await page.until("!document.querySelector('#gate').hidden");
  await page.evaluate("document.querySelector('#key').focus()");
  await page.type(key);
  await page.evaluate("document.querySelector('#with-key').requestSubmit()");
  await page.until(`${shownText}.includes('api/books')`);
}

describe("the reference page", () => {
  it.each([
    { ...wide, scheme: "light" },
    { ...wide, scheme: "dark" },
    { width: 375, height: 800, scheme: "light" },
    { width: 375, height: 800, scheme: "dark" },
  ] as const)(
    "asks for credentials and shows the API at $width px in $scheme, without a complaint or a stranger",
    async (options) => {
      const page = await browser.open(options);
      await page.goto(`${served.origin}${served.base}/docs`);
      await page.until("!document.querySelector('#gate').hidden");
      const name = `${options.width}-${options.scheme}`;
      await page.picture(`${pictures}gate-${name}.png`);
      const background = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
      expect(background).toBe(options.scheme === "dark" ? "rgb(15, 15, 15)" : "rgb(255, 255, 255)");
      expect(await page.evaluate("document.documentElement.innerHTML.includes('books')")).toBe(false);
      await signedIn(page);
      await page.evaluate("new Promise((resume) => setTimeout(resume, 1000))");
      await page.picture(`${pictures}reference-${name}.png`);
      const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate(overflow)).toBe(0);
      // The first answer of openapi.json, which asks for credentials, is what a browser calls an error.
      expect(page.complaints.filter((text) => !/401 .*openapi\.json/.test(text))).toEqual([]);
      expect(page.requests.filter((url) => !url.startsWith(served.origin) && !url.startsWith("data:"))).toEqual([]);
    },
  );

  it("lets a person try a call with a key, and keeps the key in memory only", async () => {
    const page = await browser.open(wide);
    await signedIn(page);
    await page.evaluate(
      "[...document.querySelectorAll('button')].find((each) => /Test Request/.test(each.innerText) && each.innerText.includes('get')).click()",
    );
    await page.until("[...document.querySelectorAll('button')].some((each) => /^Send/.test(each.innerText.trim()))");
    await page.evaluate(
      "[...document.querySelectorAll('button')].find((each) => /^Send/.test(each.innerText.trim())).click()",
    );
    await page.until("document.body.innerText.includes('Emma')");
    await page.picture(`${pictures}try.png`);
    const kept = await page.evaluate<string>(
      "JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])",
    );
    expect(kept).not.toContain(key);
  });

  it("logs a person in and out, and the session ends with it", async () => {
    const page = await browser.open(wide);
    await page.goto(`${served.origin}${served.base}/docs`);
    await page.until("!document.querySelector('#gate').hidden");
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
    await page.until("document.querySelector('#message').innerText.includes('password is wrong')");
    await enter(passwordOf("ada"));
    await page.until(`${shownText}.includes('api/books')`);
    expect(await page.evaluate("document.querySelector('#who').innerText")).toBe("ada");
    const live = async () => (await served.send("/sessions", { as: apikey("staff") })).json<{ count: number }>().count;
    expect(await live()).toBe(1);
    await page.evaluate("document.querySelector('#sign-out').click()");
    await page.until("document.querySelector('#gate').hidden === false");
    expect(await live()).toBe(0);
  });

  it("goes on after the access token has expired, with another one", async () => {
    served.change(withSessions({ accessTokenSeconds: 1 }));
    try {
      const page = await browser.open(wide);
      await page.goto(`${served.origin}${served.base}/docs`);
      await page.until("!document.querySelector('#gate').hidden");
      await page.evaluate("document.querySelector('#username').focus()");
      await page.type("ada");
      await page.evaluate("document.querySelector('#password').focus()");
      await page.type(passwordOf("ada"));
      await page.evaluate("document.querySelector('#with-password').requestSubmit()");
      await page.until(`${shownText}.includes('api/books')`);
      await page.evaluate("new Promise((resume) => setTimeout(resume, 2500))");
      const body = JSON.stringify({ title: "Persuasion" });
      const sent = `send("api/books", { method: "POST", body: ${JSON.stringify(body)} })`;
      expect(await page.evaluate(`${sent}.then(({ status }) => status)`)).toBe(201);
      expect(page.requests.filter((url) => url.endsWith("/sessions/refresh")).length).toBeGreaterThan(0);
    } finally {
      served.change(withSessions({ accessTokenSeconds: 300 }));
    }
  });

  it("works at a host's root and with a trailing slash, and asks nobody where the description is for Anyone", async () => {
    served.change(withConfig({ openapi: "Anyone" }));
    try {
      const page = await browser.open(wide);
      const { port } = new URL(served.origin);
      await page.goto(`http://shop.localhost:${port}/docs/`);
      await page.until(`${shownText}.includes('api/books')`);
      expect(await page.evaluate("location.pathname")).toBe("/docs");
      expect(await page.evaluate("document.querySelector('#gate').hidden")).toBe(true);
      expect(page.complaints).toEqual([]);
    } finally {
      served.change(withConfig({ openapi: "Authenticated" }));
    }
  });
});
