// The sample app in examples/browser-app: checked by the compiler, built, and used in a real
// browser next to `jsonplane dev`, which serves its backend. Pictures of it lie in out/sample-app/
// for whoever wants to look.

import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openapiTypescript } from "../../tools/parts/openapi-typescript.ts";
import { requirePart } from "../../tools/parts/part.ts";
import { lastWords, runCommand } from "../../tools/parts/run-command.ts";
import { type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { freePort } from "../support/process/free-port.ts";
import { eventually } from "../support/time/eventually.ts";
import { type Browser, type Page, startBrowser } from "./browser.ts";
import { buildApp, complaintsBut, fill, type ServedApp, serveApp, textOf, typeErrors } from "./built-app.ts";
import {
  alert,
  click,
  edit,
  endSession,
  isOpen,
  loseAnswersTo,
  message,
  part,
  row,
  sortBy,
  titles,
} from "./sample-app-page.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const sample = join(root, "examples/browser-app");
const pictures = join(root, "out/sample-app");
const wide = { width: 1100, height: 800, scheme: "light" } as const;
let folder = "";
let base = "";
let app: ServedApp;
let dev: DevProcess;
let browser: Browser;

beforeAll(async () => {
  await mkdir(pictures, { recursive: true });
  folder = await mkdtemp(join(root, "out", "sample-"));
  app = await serveApp(() => join(folder, "built"));
  await cp(join(sample, "backend"), join(folder, "backend"), { recursive: true });
  // Where the test serves the app, and tokens that expire while it is looked at.
  await editBackend((text) =>
    text
      .replace("http://localhost:5173", app.origin)
      .replace("  openapi: Anyone", "  openapi: Anyone\n  sessions: { accessTokenTTL: 10s }"),
  );
  const [port, adminPort] = [await freePort(), await freePort()];
  dev = devProcess(["backend", "--port", String(port), "--admin-port", String(adminPort), "--data", "data"], folder);
  await dev.ready();
  base = `http://127.0.0.1:${port}/default/team-tasks`;
  await buildApp(sample, join(folder, "built"), { VITE_API: base });
  browser = await startBrowser();
}, 300_000);

afterAll(async () => {
  await browser?.stop();
  await dev?.stop();
  app?.close();
  await rm(folder, { recursive: true, force: true });
});

async function editBackend(change: (text: string) => string): Promise<void> {
  const file = join(folder, "backend/project.yaml");
  await writeFile(file, change(await readFile(file, "utf8")));
}

async function passwordOf(name: string): Promise<string> {
  const text = await readFile(join(folder, `data/secrets/default/${name}-password.yaml`), "utf8");
  return /^ *password: (.*)$/m.exec(text)?.[1] ?? "";
}

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.goto(app.origin);
  await fill(page, "#name", name);
  await fill(page, "#password", password);
  await page.evaluate("document.querySelector('#sign-in').requestSubmit()");
}

async function openAs(name: string, options: Parameters<Browser["open"]>[0] = wide): Promise<Page> {
  const page = await browser.open(options);
  await signIn(page, name, await passwordOf(name));
  await page.until("document.querySelectorAll('#rows tr').length > 0");
  return page;
}

async function accessToken(name: string): Promise<string> {
  const login = Buffer.from(`${name}:${await passwordOf(name)}`).toString("base64");
  const session = await fetch(`${base}/sessions`, { method: "POST", headers: { Authorization: `Basic ${login}` } });
  return ((await session.json()) as { access_token: string }).access_token;
}

/** What is stored, by somebody who has nothing to do with the page. */
async function storedTask(title: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  return (await storedTasks(title))[0];
}

const countOf = async (title: string): Promise<number> => (await storedTasks(title)).length;

async function storedTasks(title: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const token = await accessToken("omar");
  const list = await fetch(`${base}/api/tasks?title=${encodeURIComponent(title)}`, {
    headers: { Authorization: `bearer ${token}` },
  });
  return ((await list.json()) as { items: Readonly<Record<string, unknown>>[] }).items;
}

describe("the sample app's sources", () => {
  it("pass the compiler, by the app's own tsconfig.json", async () => {
    expect(await typeErrors(sample)).toBe("");
  });

  it("have the types that openapi-typescript makes of the backend's description now", async () => {
    const program = await requirePart(process.env, openapiTypescript);
    const fresh = join(pictures, "api.generated.ts");
    const done = await runCommand(program, [`${base}/openapi.json`, "--output", fresh], { cwd: folder });
    if (done.code !== 0) throw new Error(lastWords(done, 30));
    const isCurrent =
      (await readFile(fresh, "utf8")) === (await readFile(join(sample, "src/generated/api.generated.ts"), "utf8"));
    expect(isCurrent, `Copy ${fresh} to examples/browser-app/src/generated/`).toBe(true);
  });

  it("name the packages that the repository builds it with", async () => {
    type Packages = Readonly<Record<"dependencies" | "devDependencies", Readonly<Record<string, string>>>>;
    const read = async (path: string) => JSON.parse(await readFile(path, "utf8")) as Packages;
    const [own, ours] = [await read(join(sample, "package.json")), await read(join(root, "package.json"))];
    expect(own.devDependencies["vite"]).toBe(ours.devDependencies["vite"]);
    expect(own.dependencies["openapi-fetch"]).toBe(ours.devDependencies["openapi-fetch"]);
  });
});

describe("the sample app in a browser", () => {
  it("refuses a wrong password beside the form, and lets a user in and out", async () => {
    const page = await browser.open(wide);
    await signIn(page, "lin", "wrong");
    await page.until(`${textOf("#sign-in [role=alert]")} !== ''`);
    expect(await page.evaluate(textOf("#sign-in [role=alert]"))).toBe("The name or the password is wrong.");
    expect(await page.evaluate("document.querySelector('#who').checkVisibility()")).toBe(false);
    await signIn(page, "lin", await passwordOf("lin"));
    await page.until(`${textOf("#who")} === 'lin'`);
    expect(await page.evaluate("document.querySelector('#sign-in').checkVisibility()")).toBe(false);
    await click(page, "#sign-out");
    await page.until("document.querySelector('#sign-in').checkVisibility()");
    expect(await page.evaluate("document.querySelectorAll('#rows tr').length")).toBe(0);
    expect(await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])")).toBe(
      '[{},{},""]',
    );
    expect(complaintsBut(page, 401)).toEqual([]);
  });

  it("shows the tasks in the chosen order, page by page", async () => {
    const page = await openAs("lin");
    await sortBy(page, "title");
    await page.until(`${titles}[0] === 'Answer the sponsors'`);
    expect(await page.evaluate(textOf("#place"))).toBe("1 to 8 of 12");
    const first = await page.evaluate<string[]>(titles);
    await click(page, "#next");
    await page.until(`${textOf("#place")} === '9 to 12 of 12'`);
    const second = await page.evaluate<string[]>(titles);
    expect([...first, ...second]).toEqual([...first, ...second].toSorted());
    expect(await page.evaluate("document.querySelector('#next').disabled")).toBe(true);
    await sortBy(page, "-title");
    await page.until(`${titles}[0] === 'Write the invitation'`);
    expect(await page.evaluate(textOf("#place"))).toBe("1 to 8 of 12");
    expect(complaintsBut(page)).toEqual([]);
  });

  it("shows an edit before the server has answered, and takes it back with a message if it fails", async () => {
    const page = await openAs("lin");
    // Answers wait until the test lets them through, or are lost.
    await page.evaluate(`void (() => {
      const real = globalThis.fetch;
      globalThis.fetch = async (request, ...more) => {
        if (request.method !== "PATCH") return real(request, ...more);
        await new Promise((resume) => Object.assign(globalThis, { letThrough: resume }));
        if (globalThis.isCut) throw new TypeError("Failed to fetch");
        return real(request, ...more);
      };
    })()`);
    const title = "Renew the domain";
    await page.evaluate(`${part(title, "done")}.click()`);
    await page.until("globalThis.letThrough !== undefined");
    expect(await page.evaluate(`${row(title)}.className`)).toBe("done");
    expect(await storedTask(title)).not.toHaveProperty("done");
    await page.evaluate("globalThis.letThrough()");
    await eventually(async () => expect(await storedTask(title)).toMatchObject({ done: true }));

    await page.evaluate("void Object.assign(globalThis, { isCut: true, letThrough: undefined })");
    await page.evaluate(`${part(title, "done")}.click()`);
    await page.until("globalThis.letThrough !== undefined");
    expect(await page.evaluate(`${row(title)}.className`)).toBe("");
    await page.evaluate("globalThis.letThrough()");
    await page.until(`${message} !== ''`);
    expect(await page.evaluate(message)).toContain("it is not known whether this was stored");
    expect(await page.evaluate(`${row(title)}.className`)).toBe("done");
    expect(await page.evaluate(`${part(title, "done")}.checked`)).toBe(true);
    expect(complaintsBut(page)).toEqual([]);
  });

  it("saves edits of one task that follow each other at once, without a conflict with itself", async () => {
    const page = await openAs("lin");
    const title = "Collect talks";
    await page.evaluate(`void ([globalThis.answered, globalThis.kept] = [[], fetch], globalThis.fetch = async (input, init) => {
      const response = await kept(input, init);
      if (input.method === "PATCH") answered.push(response.status);
      return response;
    })`);
    await page.evaluate(`for (let at = 0; at < 3; at += 1) ${part(title, "done")}.click()`);
    await page.until("answered.length === 3");
    expect(await page.evaluate("answered")).toEqual([200, 200, 200]);
    await eventually(async () => expect(await storedTask(title)).toMatchObject({ done: true }));
    expect(await page.evaluate(isOpen("conflict"))).toBe(false);
    expect(complaintsBut(page)).toEqual([]);
  });

  it("creates a task, after showing the server's errors beside the fields", async () => {
    const page = await openAs("lin");
    await click(page, "#new");
    await fill(page, "#task-title", "x".repeat(81));
    await fill(page, "#task-priority", "7");
    await click(page, "#task-form [value=save]");
    await page.until(`${textOf("#priority-error")} !== ''`);
    expect(await page.evaluate(textOf("#title-error"))).toContain("80");
    expect(await page.evaluate("document.querySelector('#task-title').value.length")).toBe(81);
    expect(await page.evaluate("document.activeElement.id")).toBe("task-title");
    await page.picture(join(pictures, "errors.png"));
    await fill(page, "#task-title", "Buy flowers");
    await fill(page, "#task-priority", "1");
    await click(page, "#task-form [value=save]");
    await eventually(async () => expect(await storedTask("Buy flowers")).toMatchObject({ priority: 1 }));
    expect(complaintsBut(page, 400)).toEqual([]);
  });

  it("keeps what was typed for a new task when the answer is lost, and creates the task once", async () => {
    const page = await openAs("lin");
    await loseAnswersTo(page, "POST");
    const save = () => click(page, "#task-form [value=save]");
    await click(page, "#new");
    await fill(page, "#task-title", "Order balloons");
    // Far ahead, so that it takes no other task's place on the first page.
    await page.evaluate("document.querySelector('#task-due').value = '2027-12-01'");
    await save();
    await page.until(`${alert} !== ''`);
    expect(await page.evaluate(alert)).toContain("it is not known whether this was stored");
    expect(await page.evaluate("document.querySelector('#task-title').value")).toBe("Order balloons");
    await save();
    await page.until("keys.length === 2");
    await page.until(isOpen("task"));
    await fill(page, "#task-title", "Order more balloons");
    await page.evaluate("void (globalThis.isLosing = false)");
    await save();
    await page.until(`!${isOpen("task")}`);
    await eventually(async () => expect(await storedTask("Order more balloons")).toBeDefined());
    const [first, again, other] = await page.evaluate<string[]>("keys");
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    expect(await countOf("Order balloons")).toBe(1);
    expect(complaintsBut(page)).toEqual([]);
  });

  it("keeps what was typed into an edit when the answer is lost, and finds it saved at the next attempt", async () => {
    const page = await openAs("lin");
    await loseAnswersTo(page, "PATCH");
    await edit(page, "Collect talks");
    await fill(page, "#task-title", "Collect all talks");
    await click(page, "#task-form [value=save]");
    await page.until(`${alert} !== ''`);
    expect(await page.evaluate(alert)).toContain("it is not known whether this was stored");
    expect(await page.evaluate("document.querySelector('#task-title').value")).toBe("Collect all talks");
    await page.evaluate("void (globalThis.isLosing = false)");
    await click(page, "#task-form [value=save]");
    await page.until(row("Collect all talks"));
    expect(await page.evaluate(isOpen("conflict"))).toBe(false);
    expect(await countOf("Collect all talks")).toBe(1);
    expect(complaintsBut(page, 412)).toEqual([]);
  });

  it("takes an edit back that the server refuses, and asks again with what the person typed", async () => {
    const page = await openAs("lin");
    await edit(page, "Archive the photos");
    await fill(page, "#task-priority", "9");
    await click(page, "#task-form [value=save]");
    await page.until(`${textOf("#priority-error")} === 'Must be at most 3'`);
    expect(await page.evaluate("document.querySelector('#task-priority').value")).toBe("9");
    expect(await page.evaluate(`${part("Archive the photos", "priority")}.innerText`)).toBe("3");
    await click(page, "#task-form [value=cancel]");
    expect(complaintsBut(page, 400)).toEqual([]);
  });

  it("shows what somebody else has written meanwhile, and keeps theirs or saves one's own as the person chooses", async () => {
    const [lin, omar] = [await openAs("lin"), await openAs("omar")];
    const rename = async (page: Page, from: string, to: string) => {
      await edit(page, from);
      await fill(page, "#task-title", to);
      await click(page, "#task-form [value=save]");
    };
    await rename(omar, "Update the website", "Update the home page");
    await eventually(async () => expect(await storedTask("Update the home page")).toBeDefined());
    await rename(lin, "Update the website", "Rebuild the website");
    await lin.until(isOpen("conflict"));
    expect(await lin.evaluate(textOf("#differences"))).toMatch(/Title\s+Update the home page\s+Rebuild the website/);
    await lin.picture(join(pictures, "conflict.png"));
    expect(await storedTask("Rebuild the website")).toBeUndefined();
    await click(lin, "#conflict [value=theirs]");
    await lin.until(row("Update the home page"));

    await rename(omar, "Update the home page", "Update all pages");
    await eventually(async () => expect(await storedTask("Update all pages")).toBeDefined());
    await rename(lin, "Update the home page", "Rebuild the website");
    await lin.until(isOpen("conflict"));
    await click(lin, "#conflict [value=own]");
    await eventually(async () => expect(await storedTask("Rebuild the website")).toBeDefined());
    expect(await storedTask("Update all pages")).toBeUndefined();
    expect(complaintsBut(lin, 412)).toEqual([]);
    expect(complaintsBut(omar)).toEqual([]);
  });

  it("goes on after the access token has expired, and nobody notices", async () => {
    const page = await openAs("lin");
    // It is younger than that of the page.
    const token = await accessToken("omar");
    const whoami = () => fetch(`${base}/whoami`, { headers: { Authorization: `bearer ${token}` } });
    await eventually(async () => expect((await whoami()).status).toBe(401), { withinMs: 60_000, everyMs: 500 });
    await page.evaluate(`${part("Book a room for the workshop", "done")}.click()`);
    await eventually(async () =>
      expect(await storedTask("Book a room for the workshop")).toMatchObject({ done: true }),
    );
    // The browser may tell of a request after the server has answered it.
    await eventually(() => expect(page.requests.filter((url) => url.endsWith("/sessions/refresh"))).toHaveLength(1));
    expect(await page.evaluate(message)).toBe("");
    expect(await page.evaluate(textOf("#who"))).toBe("lin");
    expect(complaintsBut(page, 401)).toEqual([]);
  });

  it("keeps what was typed when the session has ended, for the same person only", async () => {
    const page = await openAs("lin");
    const signInHere = async (name: string) => {
      await fill(page, "#name", name);
      await fill(page, "#password", await passwordOf(name));
      await page.evaluate("document.querySelector('#sign-in').requestSubmit()");
    };
    const saveAfterTheEnd = async (title: string) => {
      await fill(page, "#task-title", title);
      await endSession(page, base);
      await click(page, "#task [value=save]");
      await page.until(`${message} === 'Please sign in again. What you typed is kept.'`);
    };
    await click(page, "#new");
    await saveAfterTheEnd("Typed before the end");
    await signInHere("lin");
    await page.until(`${isOpen("task")} && ${alert} === 'This is not saved yet.'`);
    await click(page, "#task [value=save]");
    await eventually(async () => expect(await countOf("Typed before the end")).toBe(1));

    await edit(page, "Order badges");
    await saveAfterTheEnd("Order more badges");
    await signInHere("omar");
    await page.until(`${textOf("#who")} === 'omar'`);
    expect(await page.evaluate(isOpen("task"))).toBe(false);
    await click(page, "#sign-out");
    await page.until("document.querySelector('#sign-in').checkVisibility()");
    await signInHere("lin");
    await page.until(`${textOf("#who")} === 'lin'`);
    expect(await page.evaluate(isOpen("task"))).toBe(false);
    expect(await countOf("Order more badges")).toBe(0);
    expect(complaintsBut(page, 401)).toEqual([]);
  });

  it.each([
    { ...wide, scheme: "light" },
    { ...wide, scheme: "dark" },
    { width: 375, height: 800, scheme: "light" },
    { width: 375, height: 800, scheme: "dark" },
  ] as const)("fits into $width px in $scheme", async (options) => {
    const page = await browser.open(options);
    const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    await page.goto(app.origin);
    await page.picture(join(pictures, `sign-in-${options.width}-${options.scheme}.png`));
    expect(await page.evaluate(overflow)).toBe(0);
    await signIn(page, "lin", await passwordOf("lin"));
    await page.until("document.querySelectorAll('#rows tr').length > 0");
    await page.picture(join(pictures, `list-${options.width}-${options.scheme}.png`));
    expect(await page.evaluate(overflow)).toBe(0);
    await edit(page, "Order badges");
    await page.picture(join(pictures, `edit-${options.width}-${options.scheme}.png`));
    expect(complaintsBut(page)).toEqual([]);
  });
});
