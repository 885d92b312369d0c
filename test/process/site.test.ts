// The documentation's site in a real browser, from a folder as from a server: light and dark, narrow and wide, and its search. Pictures lie
// in out/site-pictures/ for whoever wants to look.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildSite } from "../../tools/site/build.ts";
import { testTier } from "../support/time/test-tier.ts";
import { type Browser, type Page, startBrowser } from "./browser.ts";

const pictures = fileURLToPath(new URL("../../out/site-pictures/", import.meta.url));
let folder = "";
let site = "";
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-site-"));
  site = pathToFileURL(folder).href;
  await buildSite(folder);
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function search(page: Page, words: string): Promise<void> {
  await page.evaluate("document.querySelector('.search input').focus()");
  await page.type(words);
  await page.until("document.querySelectorAll('.search li').length > 0");
}

/** Each width and each scheme is looked at on every commit, all four of them together at night. */
const otherScreens =
  testTier === "nightly"
    ? ([
        ["wide and dark", { width: 1440, height: 900, scheme: "dark" }],
        ["narrow and light", { width: 390, height: 844, scheme: "light" }],
      ] as const)
    : [];

describe.each([
  ["wide and light", { width: 1440, height: 900, scheme: "light" }],
  ["narrow and dark", { width: 390, height: 844, scheme: "dark" }],
  ...otherScreens,
] as const)("the site, %s,", (name, options) => {
  it.each(["index.html", "tutorial.html", "reference/custom-resources.html", "benchmarks.html"])(
    "shows %s without a complaint, nothing from elsewhere and no page wider than the screen",
    async (path) => {
      const page = await browser.open(options);
      await page.goto(`${site}/${path}`);
      await page.picture(join(pictures, `${path.replaceAll("/", "-")}-${name.replaceAll(" ", "-")}.png`));
      expect(page.complaints).toEqual([]);
      expect(page.requests.filter((url) => !url.startsWith("file:") && !url.startsWith("data:"))).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(options.width);
      const paper = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
      expect(paper).toBe(options.scheme === "dark" ? "rgb(18, 22, 29)" : "rgb(255, 255, 255)");
    },
  );
});

describe("its search", () => {
  it("leads to the part of a page where all words stand, from any page", async () => {
    const page = await browser.open({ width: 1280, height: 900, scheme: "light" });
    await page.goto(`${site}/reference/errors.html`);
    await search(page, "gracePeriod overlap");
    expect(await page.evaluate("document.querySelector('.search li').textContent")).toMatch(/Rotat/);
    await page.evaluate("document.querySelector('.search li a').click()");
    await page.until("location.hash !== '' && document.querySelector(location.hash) !== null");
    expect(page.complaints).toEqual([]);
  });

  it("says that it found nothing", async () => {
    const page = await browser.open({ width: 390, height: 844, scheme: "dark" });
    await page.goto(`${site}/index.html`);
    await search(page, "xylophone");
    expect(await page.evaluate("document.querySelector('.search ol').textContent")).toBe("Nothing found");
  });
});
