// The sample app in examples/browser-app: checked by the compiler, built, and used in a real
// browser next to `jsonplane dev`, which serves its backend. Pictures of it lie in out/sample-app/
// for whoever wants to look.

import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildClient } from "../../tools/build-client.ts";
import { lastWords, runCommand } from "../../tools/parts/run-command.ts";
import { type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { freePort } from "../support/process/free-port.ts";
import { eventually } from "../support/time/eventually.ts";
import { type Browser, type Page, startBrowser } from "./browser.ts";
import { buildApp, complaintsBut, fill, type ServedApp, serveApp, textOf, typeErrors } from "./built-app.ts";
import {
  alert,
  click,
  deleteTask,
  edit,
  endSession,
  isOpen,
  loseAnswersTo,
  message,
  noteSession,
  part,
  row,
  signedIn,
  sortBy,
  tasksTitled,
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
  const source = ["src", "index.html", "tsconfig.json", "package.json"];
  for (const name of source) await cp(join(sample, name), join(folder, "app", name), { recursive: true });
  await buildClient(join(folder, "node_modules/@jsonplane/client"));
  await buildApp(join(folder, "app"), join(folder, "built"), { VITE_API: base });
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
  await noteSession(page);
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

const accessToken = async (name: string) => await signedIn(base, name, await passwordOf(name));

/** What is stored, by somebody who has nothing to do with the page. */
async function storedTask(title: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  return (await storedTasks(title))[0];
}

const countOf = async (title: string): Promise<number> => (await storedTasks(title)).length;

const storedTasks = async (title: string) => await tasksTitled(base, title, await accessToken("omar"));

describe("the sample app's sources", () => {
  it("pass the compiler, by the app's own tsconfig.json", async () => {
    expect(await typeErrors(join(folder, "app"))).toBe("");
  });

  it("have the types that are made of the backend now", async () => {
    const types = join(folder, "api.ts");
    const made = await runCommand(process.execPath, [join(root, "cli/main.ts"), "types", "backend", "--out", types], {
      cwd: folder,
    });
    if (made.code !== 0) throw new Error(lastWords(made, 30));
    expect(await readFile(types, "utf8")).toBe(await readFile(join(sample, "src/generated/api.ts"), "utf8"));
  });

  it("name the packages that the repository builds it with", async () => {
    type Packages = Readonly<Record<"dependencies" | "devDependencies", Readonly<Record<string, string>>>>;
    const read = async (path: string) => JSON.parse(await readFile(path, "utf8")) as Packages;
    const [own, plain, ours] = await Promise.all(
      [sample, join(sample, "plain-http"), root].map((at) => read(join(at, "package.json"))),
    );
    expect(own?.devDependencies["vite"]).toBe(ours?.devDependencies["vite"]);
    expect(own?.dependencies["@tanstack/db"]).toBe(ours?.devDependencies["@tanstack/db"]);
    expect(plain?.dependencies["openapi-fetch"]).toBe(ours?.devDependencies["openapi-fetch"]);
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

  it("goes on while the network is away, and then what was changed meanwhile arrives, on both sides", async () => {
    const [lin, omar] = [await openAs("lin"), await openAs("omar")];
    const [title, theirs, added] = ["Answer the sponsors", "Archive the photos", "A kite"];
    for (const page of [lin, omar]) await sortBy(page, "title");
    await lin.setOnline(false);
    await lin.until("document.querySelector('#offline').checkVisibility()");
    await lin.evaluate(`${part(title, "done")}.click()`);
    expect(await lin.evaluate(`${row(title)}.className`)).toBe("done");
    await click(lin, "#new");
    await fill(lin, "#task-title", "A dragon");
    // Far ahead, so that it takes no other task's place on the first page.
    await lin.evaluate("document.querySelector('#task-due').value = '2027-12-01'");
    await click(lin, "#task-form [value=save]");
    await lin.until(row("A dragon"));
    await edit(lin, "A dragon");
    await fill(lin, "#task-title", added);
    await click(lin, "#task-form [value=save]");
    await lin.until(row(added));
    await omar.evaluate(`${part(theirs, "done")}.click()`);
    await eventually(async () => expect(await storedTask(theirs)).toMatchObject({ done: true }));
    expect([await storedTask(title), await countOf(added)]).toEqual([expect.not.objectContaining({ done: true }), 0]);
    await lin.picture(join(pictures, "offline.png"));
    await lin.setOnline(true);
    await eventually(async () => expect(await storedTask(title)).toMatchObject({ done: true }));
    for (const page of [lin, omar]) {
      await page.until(`${row(added)} && ${row(title)}.className === 'done' && ${row(theirs)}.className === 'done'`);
    }
    await lin.until("!document.querySelector('#offline').checkVisibility()");
    expect(await countOf(added)).toBe(1);
    expect([await lin.evaluate(message), complaintsBut(omar)]).toEqual(["", []]);
  });

  it("saves edits of one task that follow each other at once, without a conflict with itself", async () => {
    const page = await openAs("lin");
    const title = "Collect talks";
    await page.evaluate(`void ([globalThis.answered, globalThis.kept] = [[], fetch], globalThis.fetch = async (input, init) => {
      const response = await kept(input, init);
      if (init.method === "PATCH") answered.push(response.status);
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

  it("sends again what got no answer: a task is created once, and an edit is no conflict with itself", async () => {
    const page = await openAs("lin");
    await sortBy(page, "title");
    await loseAnswersTo(page, "POST");
    await click(page, "#new");
    await fill(page, "#task-title", "A balloon");
    await page.evaluate("document.querySelector('#task-due').value = '2027-12-01'");
    await click(page, "#task-form [value=save]");
    await page.until("keys.length > 1");
    expect(await page.evaluate("keys[1] === keys[0]")).toBe(true);
    await page.evaluate("void (globalThis.isLosing = false)");
    await page.until(row("A balloon"));
    await eventually(async () => expect(await countOf("A balloon")).toBe(1));

    await loseAnswersTo(page, "PATCH");
    await edit(page, "A balloon");
    await fill(page, "#task-title", "A red balloon");
    await click(page, "#task-form [value=save]");
    await page.until("keys.length > 0");
    await page.evaluate("void (globalThis.isLosing = false)");
    await eventually(async () => expect(await countOf("A red balloon")).toBe(1));
    await page.until(row("A red balloon"));
    expect([await page.evaluate(isOpen("conflict")), await page.evaluate(message)]).toEqual([false, ""]);
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
    const rename = async (page: Page, from: string, to: string, meanwhile?: () => Promise<unknown>) => {
      await page.until(row(from));
      await edit(page, from);
      await fill(page, "#task-title", to);
      await meanwhile?.();
      await click(page, "#task-form [value=save]");
    };
    const bothRename = async (from: string, theirs: string) =>
      await rename(lin, from, "Rebuild the website", async () => {
        await rename(omar, from, theirs);
        await lin.until(row(theirs));
      });
    await bothRename("Update the website", "Update the home page");
    await lin.until(isOpen("conflict"));
    expect(await lin.evaluate(textOf("#differences"))).toMatch(/Title\s+Update the home page\s+Rebuild the website/);
    await lin.picture(join(pictures, "conflict.png"));
    expect(await storedTask("Rebuild the website")).toBeUndefined();
    await click(lin, "#conflict [value=theirs]");
    await lin.until(row("Update the home page"));

    // In another field there is none.
    await rename(lin, "Update the home page", "Update the page", async () => {
      await omar.evaluate(`${part("Update the home page", "done")}.click()`);
      await lin.until(`${row("Update the home page")}.className === 'done'`);
    });
    await eventually(async () => expect(await storedTask("Update the page")).toMatchObject({ done: true }));
    await bothRename("Update the page", "Update all pages");
    await lin.until(isOpen("conflict"));
    await click(lin, "#conflict [value=own]");
    await eventually(async () => expect(await storedTask("Rebuild the website")).toBeDefined());
    expect(await storedTask("Update all pages")).toBeUndefined();
    // Of a task that is gone, the form keeps what was typed.
    await rename(lin, "Rebuild the website", "Rebuild everything", async () => {
      await deleteTask(base, await storedTask("Rebuild the website"), await accessToken("omar"));
      await lin.until(`!${row("Rebuild the website")}`);
    });
    await lin.until(`${alert} === 'The task is not there any more. Save this as a new one?'`);
    await click(lin, "#task-form [value=save]");
    await lin.until(row("Rebuild everything"));
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
