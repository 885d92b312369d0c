// The overview of dev mode in a real browser, served by a real `jsonplane dev`: what it shows, that
// it follows the folder by itself, and what it never shows. Pictures of it lie in out/dev-overview/
// for whoever wants to look.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { send } from "../support/http/http-client.ts";
import { freePort } from "../support/process/free-port.ts";
import { testTier } from "../support/time/test-tier.ts";
import { type Browser, type Page, startBrowser } from "./browser.ts";

const template = readFileSync(new URL("../../cli/init/project.yaml", import.meta.url), "utf8");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const pictures = fileURLToPath(new URL("../../out/dev-overview/", import.meta.url));
const wide = { width: 1280, height: 1000, scheme: "light" } as const;
const phone = { width: 375, height: 800, scheme: "dark" } as const;
/** Each width and each scheme is looked at on every commit, all four of them together at night. */
const otherScreens =
  testTier === "nightly"
    ? ([
        { ...wide, scheme: "dark" },
        { ...phone, scheme: "light" },
      ] as const)
    : [];
const html = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };

const openCommands = "document.querySelectorAll('td details').forEach((each) => { each.open = true; })";

let browser: Browser;
let cwd = "";
let origin = "";
let flags: readonly string[] = [];
let dev: DevProcess | undefined;

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.stop();
});
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "jsonplane-overview-"));
  mkdirSync(join(cwd, "backend"));
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  flags = ["backend", "--port", String(port), "--admin-port", String(await freePort()), "--data", ".data"];
});
afterEach(async () => {
  if (dev?.child.exitCode === null) await dev.stop("SIGKILL");
  rmSync(cwd, { recursive: true, force: true });
});

/** Whole at once. */
function save(file: string, text: string): void {
  writeFileSync(join(cwd, "saved"), text);
  renameSync(join(cwd, "saved"), join(cwd, "backend", file));
}

async function start(...words: readonly string[]): Promise<DevProcess> {
  dev = devProcess([...flags, ...words], cwd);
  await dev.ready();
  return dev;
}

async function open(options: Parameters<Browser["open"]>[0] = wide): Promise<Page> {
  const page = await browser.open(options);
  await page.goto(`${origin}/`);
  await page.until(shows("Overview"));
  return page;
}

const text = "document.body.innerText";
const shows = (words: string) => `${text}.includes(${JSON.stringify(words)})`;
const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

/** What axe finds of a serious or critical kind. */
async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(`void ${axe}`);
  return await page.evaluate<string[]>(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => id + " " + nodes.map(({ target }) => target).join(" ")))`);
}

/**
 * Every password, key and private part of the data folder, and the password of a Secret in the
 * folder of manifests.
 */
function secrets(): readonly string[] {
  const folder = join(cwd, ".data/secrets/default");
  const generated = readdirSync(folder).flatMap((file) => {
    const found = readFileSync(join(folder, file), "utf8").matchAll(/^ {2}(?:apiKey|password): (.+)$|"d":"([^"]+)"/gm);
    return [...found].map(([, a, b]) => a ?? b ?? "");
  });
  return [...generated, "a-password-of-bob"];
}

const bob = `---
apiVersion: v1
kind: Secret
metadata: { name: bobs }
stringData: { password: a-password-of-bob }
---
apiVersion: jsonplane.io/v1alpha1
kind: ProjectUser
metadata: { name: bob }
spec:
  projectRef: { name: todo }
  role: Administrators
  access: Read
  passwordSecretRef: { name: bobs, key: password }
`;
/** With a name that is wider than a phone. */
const broken = template.replace(
  "due: { type: string, format: date }",
  "dateUntilWhichEverythingHasToBeDone: { type: string, maxLength: many }",
);
const unsure = template.replace("maxLength: 200", "maxLenght: 200");
const notes =
  "apiVersion: jsonplane.io/v1alpha1\nkind: Project\nmetadata: { name: notes, namespace: other }\nspec: { hosts: [notes.localhost] }\n";

describe("the overview of jsonplane dev", () => {
  it.each([wide, phone, ...otherScreens] as const)(
    "shows everything at $width px in $scheme, for everybody, without a complaint or a stranger",
    async (options) => {
      save("project.yaml", broken + bob);
      save("notes.yaml", notes);
      await start();
      const page = await open(options);
      await page.until(shows("other/notes"));
      const name = `${options.width}-${options.scheme}`;
      await page.picture(`${pictures}problem-${name}.png`);
      expect(await page.evaluate(overflow)).toBe(0);
      expect(await violations(page)).toEqual([]);
      save("project.yaml", unsure + bob);
      await page.until(`${shows("default/todo")} && ${shows("did you mean")}`);
      await page.picture(`${pictures}overview-${name}.png`);
      // Whole paths in a line or two, and not a letter in each.
      await page.evaluate(openCommands);
      expect(
        await page.evaluate("[...document.querySelectorAll('td code')].every((each) => each.offsetHeight < 60)"),
      ).toBe(true);
      await page.evaluate("scrollTo(0, 900)");
      await page.picture(`${pictures}overview-below-${name}.png`);
      expect(await page.evaluate(overflow)).toBe(0);
      expect(await violations(page)).toEqual([]);
      expect(page.complaints).toEqual([]);
      expect(page.requests.filter((url) => !url.startsWith(origin) && !url.startsWith("data:"))).toEqual([]);
    },
  );

  it("has the command that shows each user's and key's secret, and no secret anywhere", async () => {
    save("project.yaml", template + bob);
    await start();
    const page = await open();
    await page.until(shows("default/todo"));
    for (const words of ["robot", "ada", "bob", "tasks", "settings", "Administrators", "backend/project.yaml"]) {
      expect(await page.evaluate(shows(words))).toBe(true);
    }
    await page.evaluate(openCommands);
    for (const file of [".data/secrets/default/robot-api-key.yaml", ".data/secrets/default/ada-password.yaml"]) {
      expect(await page.evaluate(shows(`cat ${file}`))).toBe(true);
      expect(readdirSync(join(cwd, file, ".."))).toContain(file.split("/").at(-1));
    }
    const found = secrets();
    expect(found.length).toBeGreaterThan(3);
    const state = await (await fetch(`${origin}/-/overview/state.json`)).text();
    expect(state).toContain("robot-api-key.yaml");
    const shown = await page.evaluate<string>("document.documentElement.outerHTML");
    for (const secret of found) {
      expect(secret.length).toBeGreaterThan(8);
      for (const seen of [state, shown]) expect(seen).not.toContain(secret);
    }
  });

  it("opens the console as a user or key in one click, which stays signed in there when it is loaded again", async () => {
    save("project.yaml", template);
    await start();
    for (const name of ["ada", "robot"]) {
      const page = await open();
      const button = `[...document.querySelectorAll("button")].find((each) => each.innerText === "Open the console as ${name}")`;
      await page.until(button);
      expect(await violations(page)).toEqual([]);
      await page.picture(`${pictures}open-as.png`);
      await page.evaluate(`${button}.click()`);
      const signedIn = `document.querySelector("#who")?.innerText === "Signed in as ${name}"`;
      await page.until(signedIn);
      expect(await page.evaluate("location.pathname + location.hash")).toBe("/default/todo/console#/");
      await page.goto(`${origin}/default/todo/console?again`);
      await page.until(signedIn);
      await page.evaluate("document.querySelector('#sign-out').click()");
      await page.until("document.querySelector('#gate')");
      expect(await page.evaluate("sessionStorage.length")).toBe(0);
      expect(await page.evaluate("document.querySelector('#gate .note').innerText")).toContain("session storage");
    }
  });

  it("leads to a console that follows the folder, too, and keeps what was entered there", async () => {
    save("project.yaml", template);
    await start();
    const page = await open();
    const button = `[...document.querySelectorAll("button")].find((each) => each.innerText === "Open the console as ada")`;
    await page.until(button);
    await page.evaluate(`${button}.click()`);
    await page.until(`document.querySelector("#who")?.innerText === "Signed in as ada"`);
    await page.evaluate("location.hash = '#/new/tasks'");
    const title = "document.querySelector('form.object input')";
    await page.until(title);
    await page.evaluate(`${title}.focus()`);
    await page.type("Half a title");
    save("project.yaml", template.replace("due: {", "effort: { type: integer }\n      due: {"));
    save(
      "plans.yaml",
      template.slice(0, template.indexOf("---\n# A login")).split("---\n")[1]?.replace("name: tasks", "name: plans") ??
        "",
    );
    await page.until(`${shows("effort")} && document.querySelector('nav.data').innerText.includes('plans')`);
    expect(await page.evaluate(`${title}.value`)).toBe("Half a title");
    // Nobody may create any more: what was entered stays until the person leaves.
    save("project.yaml", template.replace("read: Anyone", "read: Anyone\n    create: Nobody"));
    await page.until(shows("This view stays as it is, with what you entered"));
    expect(await page.evaluate(`${title}.value`)).toBe("Half a title");
    await page.picture(`${pictures}console-waits.png`);
  });

  it("leads to the console, the reference page, the description and the usage figures of a project", async () => {
    save("project.yaml", template);
    await start();
    const page = await open();
    await page.until(shows("default/todo"));
    const links = await page.evaluate<string[]>("[...document.querySelectorAll('article a')].map(({ href }) => href)");
    const base = `${origin}/default/todo`;
    for (const path of ["/console", "/docs", "/openapi.json"]) expect(links).toContain(base + path);
    for (const link of links) {
      const response = await fetch(link, html);
      await response.text();
      expect([link, response.status]).toEqual([link, link.endsWith("openapi.json") ? 401 : 200]);
    }
    expect(links.some((link) => link.endsWith("/usage/default/todo"))).toBe(true);
    await page.goto(links.find((link) => link.includes("tasks")) ?? "");
    expect(await page.evaluate("location.pathname")).toBe("/default/todo/console");
  });

  it("gives figures of the admin port to nobody who uses a name that somebody let lead here", async () => {
    save("project.yaml", template);
    await start();
    const page = await open();
    await page.until(shows("default/todo"));
    const usage = await page.evaluate<string>(
      "[...document.querySelectorAll('article a')].find(({ href }) => href.includes('/usage/')).href",
    );
    const { origin: adminUrl, pathname } = new URL(usage);
    for (const path of [pathname, "/usage", "/metrics"]) {
      const statusAs = async (host: string) => (await send(adminUrl, path, { headers: { host } })).status;
      expect([await statusAs("rebound.example"), await statusAs("localhost")]).toEqual([403, 200]);
    }
  });

  it("shows what became of a seed, and how many stored objects no longer fit, as the terminal does", async () => {
    save("project.yaml", template);
    mkdirSync(join(cwd, "backend/seed"));
    save("seed/tasks.json", '[{ "title": "short" }, { "title": 1 }]');
    const process = await start();
    const page = await open();
    await page.until(shows("1 of 2 objects in backend/seed/tasks.json can't be stored"));
    expect(process.out()).toContain("1 of 2 objects in backend/seed/tasks.json can't be stored");
    expect(await page.evaluate(shows("1 problem"))).toBe(true);
    await page.picture(`${pictures}seed.png`);
    save("seed/tasks.json", '[{ "title": "short" }, { "title": "quite a long title" }]');
    await page.until(`${shows("Seeded tasks with 2 objects")} && ${shows("No problems")}`);
    save("project.yaml", template.replace("maxLength: 200", "maxLength: 10"));
    await page.until(`${shows("1 of 2 stored objects doesn't fit the new schema")} && ${shows("1 warning")}`);
    expect(await violations(page)).toEqual([]);
    rmSync(join(cwd, "backend/seed"), { recursive: true });
    await page.until(`!${shows("Seeded tasks")} && ${shows("1 warning")}`);
  });

  it("follows the folder without being loaded again, and asks for nothing twice", async () => {
    await start();
    const page = await open();
    await page.until(shows("No Project is served yet"));
    expect(dev?.out()).toContain(await page.evaluate<string>("document.querySelector('.advice').innerText"));
    expect(await page.evaluate(shows("init backend"))).toBe(true);
    await page.picture(`${pictures}empty.png`);
    expect(await violations(page)).toEqual([]);
    await page.evaluate("void (globalThis.isSamePage = true)");

    save("project.yaml", template);
    await page.until(`${shows("default/todo")} && ${shows("No problems")}`);
    expect(await page.evaluate("document.querySelector('.project .url a').href")).toMatch(/\/default\/todo$/);
    save("notes.yaml", notes);
    await page.until(shows("other/notes"));
    save("project.yaml", broken);
    await page.until(shows("1 problem"));
    const line = await (dev as DevProcess).line(/ApiResource\/default\/tasks \/spec.*InvalidSchema/);
    const [, position = "", pointer = "", message = ""] = /^(\S+:\d+:\d+): \S+ (\S+): (.*)$/.exec(line) ?? [];
    for (const words of [position, pointer, message, "Served as before"]) {
      expect(words).not.toBe("");
      expect(await page.evaluate(shows(words))).toBe(true);
    }
    expect(await page.evaluate("document.title")).toMatch(/^1 problem/);
    save("project.yaml", template);
    await page.until(`${shows("No problems")} && !${shows("Messages")}`);
    expect(await page.evaluate("isSamePage")).toBe(true);

    await page.evaluate(`void ([globalThis.statuses, globalThis.kept] = [[], fetch], globalThis.fetch = async (...args) => {
      const response = await kept(...args);
      statuses.push(response.status);
      return response;
    })`);
    // Nothing changes any more: what the page is sent has no body.
    await page.until("statuses.length > 1");
    expect(await page.evaluate("statuses.every((status) => status === 304)")).toBe(true);
    expect(page.complaints).toEqual([]);
  });

  it("says when the server can't be reached, goes on showing what it knows, and goes on when the server is back", async () => {
    save("project.yaml", template);
    const first = await start();
    const page = await open();
    await page.until(shows("default/todo"));
    await first.stop();
    await page.until(shows("can't be reached"));
    expect(await page.evaluate(shows("default/todo"))).toBe(true);
    await page.picture(`${pictures}unreachable.png`);
    expect(await violations(page)).toEqual([]);
    await start();
    await page.until(`!${shows("can't be reached")} && ${shows("No problems")}`);

    // Of a server that was there all the time, the next answer has no body.
    await page.evaluate(
      "void ([globalThis.kept, globalThis.fetch] = [fetch, () => Promise.reject(new Error('offline'))])",
    );
    await page.until(shows("can't be reached"));
    await page.evaluate("void (globalThis.fetch = globalThis.kept)");
    await page.until(`!${shows("can't be reached")} && ${shows("No problems")}`);
  });

  it("is for browsers at the server's own addresses: programs get URLs, other hosts and sites no state", async () => {
    save("notes.yaml", notes);
    const { out } = await start();
    expect(out()).toContain(`Open ${origin}/ in a browser`);
    const page = await fetch(`${origin}/`, html);
    expect([page.status, page.headers.get("vary")]).toEqual([200, "Accept, Accept-Encoding, Origin"]);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self';");
    for (const accept of [undefined, "*/*", "application/json", "application/json, text/html;q=0.9"]) {
      const reply = await send(origin, "/", accept === undefined ? {} : { headers: { accept } });
      expect([reply.status, reply.headers.vary]).toEqual([200, "Accept, Origin"]);
      expect(reply.json()).toMatchObject({ projects: [{ url: `${origin}/other/notes` }] });
    }
    expect((await send(origin, "/", { method: "POST", ...html })).code).toBe("unknown_path");
    expect((await send(origin, "/-/overview/other.js")).code).toBe("unknown_path");
    expect((await send(origin, "/-/overview", html)).code).toBe("unknown_project");

    const state = "/-/overview/state.json";
    const { headers } = await send(origin, state, { headers: { origin: "http://elsewhere.example" } });
    expect(headers["cross-origin-resource-policy"]).toBe("same-origin");
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    for (const host of ["rebound.example", "rebound.example:8080", "127.0.0.1.rebound.example", "192.0.2.1"]) {
      const reply = await send(origin, state, { headers: { host } });
      expect([host, reply.status, reply.code]).toEqual([host, 403, "insufficient_access"]);
      expect(reply.text).not.toContain("notes");
    }
    // What a project claims is the project's.
    const claimed = { host: "notes.localhost", ...html.headers };
    const own = await send(origin, "/", { headers: claimed });
    expect([own.status, own.headers.location]).toEqual([302, "/console"]);
    expect((await send(origin, state, { headers: claimed })).code).toBe("unknown_path");
  });
});
