// The guide docs/how-to/use-from-a-browser.md: its files are checked by the compiler, built, and
// used in a real browser at another origin than the project's.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { systemClock } from "../../core/clock.ts";
import type { JsonObject } from "../../core/config/types.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { type FencedBlock, fileNamed } from "../support/documents/fenced-blocks.ts";
import { apikey, passwordOf, project, withConfig, withKey, withResource, withUser } from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { type Browser, type Page, startBrowser } from "./browser.ts";
import { complaintsBut, fill, type ServedApp, serveApp, textOf, typeErrors } from "./built-app.ts";
import { blocksOf, guideSources, writeApp } from "./guide-app.ts";

const fiveMinutes = 300_000;
let blocks: readonly FencedBlock[] = [];
let folder = "";
let app: ServedApp;
let served: Served;
let browser: Browser;
let page: Page;
/** How far the clock of the server is ahead, in milliseconds. */
let ahead = 0;

/** The spec of the ApiResource, without whose it is. */
function resourceIn(manifests: string): JsonObject {
  const objects = parseAllDocuments(manifests).map((document) => document.toJS() as JsonObject);
  const spec = objects.find(({ kind }) => kind === "ApiResource")?.["spec"] as JsonObject | undefined;
  return { ...spec, projectRef: {} };
}

const manifest = () => blocks.find((block) => fileNamed(block) === "team/team.yaml")?.text ?? "";

beforeAll(async () => {
  blocks = await blocksOf("use-from-a-browser.md");
  app = await serveApp(() => join(folder, "dist"));
  const { schema } = resourceIn(manifest());
  const team = project(
    "team",
    withUser("lin"),
    withUser("kim"),
    withUser("tom"),
    withKey("staff", { role: "Administrators" }),
    withConfig({ cors: { allowedOrigins: [app.origin], maxAgeSeconds: 600 } }),
    withResource("tasks", { schema: schema as JsonObject, scope: { read: "All", write: "All" } }),
  );
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  served = await serveFrom(store, [team], { publicUrl: "", clock });
  folder = await writeApp(await guideSources(), served.origin + served.base);
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.stop();
  app?.close();
  await served?.plane.close();
  await served?.store.close();
  await rm(folder, { recursive: true, force: true });
});

async function signedIn(): Promise<void> {
  page = await browser.open({ width: 900, height: 700, scheme: "light" });
  await page.goto(app.origin);
  await signIn(passwordOf("lin"));
  await page.until(`${textOf("#who")} === 'lin'`);
}

async function signIn(password: string, name = "lin"): Promise<void> {
  await fill(page, "#sign-in [name=name]", name);
  await fill(page, "#sign-in [name=password]", password);
  await page.evaluate("document.querySelector('#sign-in').requestSubmit()");
}

async function save(title: string, priority: string): Promise<void> {
  await fill(page, "#task [name=title]", title);
  await fill(page, "#task [name=priority]", priority);
  await page.evaluate("document.querySelector('#task').requestSubmit()");
}

const status = textOf("#task [role=status]");
const signInAlert = textOf("#sign-in [role=alert]");
const requestsTo = (end: string) => page.requests.filter((url) => url.endsWith(end)).length;
const sessions = async () =>
  (await served.send("/sessions", { as: apikey("staff") })).json<{ items: { id: string }[] }>();

describe("the page's files", () => {
  it("pass the compiler with the types that are made of the page's manifest", async () => {
    const spec = parse(manifest().split("---")[0] ?? "") as { spec: unknown };
    expect(spec.spec).toEqual({ cors: { allowedOrigins: ["http://localhost:5173"] }, openapi: "Anyone" });
    expect(await typeErrors(folder)).toBe("");
  });
});

describe("the page's app in a browser", () => {
  it("shows why a login is refused, and who is signed in", async () => {
    page = await browser.open({ width: 900, height: 700, scheme: "light" });
    await page.goto(app.origin);
    await signIn("wrong");
    await page.until(`${signInAlert} !== ''`);
    expect(await page.evaluate(signInAlert)).toBe("The name or the password is wrong.");
    await signIn(passwordOf("lin"));
    await page.until(`${textOf("#who")} === 'lin'`);
    expect(await page.evaluate(signInAlert)).toBe("");
    expect(complaintsBut(page, 401)).toEqual([]);
  });

  it("says in plain words that there were too many attempts", async () => {
    const headers = { Authorization: `Basic ${Buffer.from("kim:wrong").toString("base64")}` };
    const statuses: number[] = [];
    for (let at = 0; at < 11; at += 1) {
      statuses.push((await fetch(`${served.origin}${served.base}/sessions`, { method: "POST", headers })).status);
    }
    expect(statuses.at(-1)).toBe(429);
    page = await browser.open({ width: 900, height: 700, scheme: "light" });
    await page.goto(app.origin);
    await signIn(passwordOf("kim"), "kim");
    await page.until(`${signInAlert} !== ''`);
    expect(await page.evaluate(signInAlert)).toBe("Too many attempts. Try again later.");
    expect(complaintsBut(page, 429)).toEqual([]);
  });

  it("says that the server can't be reached, or does not let the page's origin in", async () => {
    page = await browser.open({ width: 900, height: 700, scheme: "light" });
    // The same page at an origin that the project doesn't know.
    await page.goto(app.origin.replace("localhost", "elsewhere.localhost"));
    await signIn(passwordOf("lin"));
    await page.until(`${signInAlert} !== ''`);
    expect(await page.evaluate(signInAlert)).toBe(
      "The server can't be reached, or does not allow this page's origin (cors.allowedOrigins).",
    );
  });

  it("says that a proxy answered, where one does in place of the server", async () => {
    page = await browser.open({ width: 900, height: 700, scheme: "light" });
    await page.goto(app.origin);
    const answered = (status: number) =>
      `A proxy answered in place of the server, with status ${status}. Try again later.`;
    const html = (status: number) =>
      `new Response("<html>", { headers: { "Content-Type": "text/html" }, status: ${status} })`;
    for (const status of [503, 200]) {
      await page.evaluate(`void (globalThis.real ??= fetch, globalThis.fetch = async () => ${html(status)})`);
      await signIn(passwordOf("lin"));
      await page.until(`${signInAlert} === ${JSON.stringify(answered(status))}`);
    }
    await page.evaluate("void (globalThis.fetch = real)");
    await signIn(passwordOf("lin"));
    await page.until(`${textOf("#who")} === 'lin'`);
    await page.evaluate(`void (globalThis.fetch = async () => ${html(504)})`);
    const refusal = "api.GET('/whoami').then(({ error }) => error.detail)";
    expect(await page.evaluate(refusal)).toBe(answered(504));
    expect(complaintsBut(page)).toEqual([]);
  });

  it("lists tasks with their tags, ten on a page by default", async () => {
    await signedIn();
    for (let at = 1; at <= 11; at += 1) {
      await served.send("/api/tasks", {
        method: "POST",
        as: apikey("staff"),
        body: { title: `Row ${at}`, priority: 3 },
      });
    }
    const lists = `(async () => {
      const [first, wide] = [await listTasks(), await listTasks({ _limit: 100 })];
      const read = await Promise.all(first.tasks.map(({ task }) => readTask(task.id)));
      return { sizes: [first.tasks.length, first.hasNext, wide.tasks.length === wide.count], listed: first.tasks, read };
    })()`;
    const { sizes, listed, read } = await page.evaluate<Readonly<Record<"sizes" | "listed" | "read", unknown>>>(lists);
    expect(sizes).toEqual([10, true, true]);
    expect(listed).toEqual(read);
    expect(complaintsBut(page)).toEqual([]);
  });

  it("shows errors beside the fields that they are about, and none after they are mended", async () => {
    await signedIn();
    await save("", "9");
    await page.until(`${textOf("#title-error")} !== ''`);
    expect(await page.evaluate(textOf("#priority-error"))).toBe("Must be at most 3");
    expect(await page.evaluate("document.activeElement.name")).toBe("title");
    expect(await page.evaluate(textOf("#task [role=alert]"))).toBe("");
    await save("Emma", "2");
    await page.until(`${status} === 'Saved'`);
    expect(await page.evaluate(`${textOf("#title-error")} + ${textOf("#priority-error")}`)).toBe("");
    expect(complaintsBut(page, 400)).toEqual([]);
  });

  it("writes nothing over another person's change until the person says so", async () => {
    await signedIn();
    await save("Mine", "1");
    await page.until(`${status} === 'Saved'`);
    const [task] = (await served.send("/api/tasks?title=Mine", { as: apikey("staff") })).json<{
      items: [{ id: string }];
    }>().items;
    const there = `/api/tasks/${task.id}`;
    await served.send(there, { method: "PUT", as: apikey("staff"), body: { title: "Theirs" } });
    const stored = async () => (await served.send(there, { as: apikey("staff") })).json<{ title: string }>().title;
    await save("Mine again", "1");
    await page.until(`${status}.startsWith('Somebody else wrote "Theirs"')`);
    expect(await stored()).toBe("Theirs");
    await page.evaluate("document.querySelector('#task').requestSubmit()");
    await page.until(`${status} === 'Saved'`);
    expect(await stored()).toBe("Mine again");
    expect(complaintsBut(page, 412)).toEqual([]);
  });

  it("does not take a value for saved that another person wrote at the same moment", async () => {
    await signedIn();
    await save("Votes", "1");
    await page.until(`${status} === 'Saved'`);
    const [task] = (await served.send("/api/tasks?title=Votes", { as: apikey("staff") })).json<{
      items: [{ id: string }];
    }>().items;
    await served.send(`/api/tasks/${task.id}`, { method: "PUT", as: apikey("staff"), body: { priority: 2 } });
    await save("Votes", "2");
    await page.until(`${status}.startsWith('Somebody else wrote')`);
    expect(complaintsBut(page, 412)).toEqual([]);
  });

  it("creates the task of each person, also in one opened page, and the same one once where the answer is lost", async () => {
    await signedIn();
    const countOf = async (title: string) =>
      (await served.send(`/api/tasks?title=${title}`, { as: apikey("staff") })).json<{ count: number }>().count;
    await page.evaluate(`void ([globalThis.isLosing, globalThis.kept] = [true, fetch], globalThis.fetch = async (input, init) => {
      const response = await kept(input, init);
      if (input.method === "POST" && isLosing) throw new TypeError("Failed to fetch");
      return response;
    })`);
    await save("Twice", "1");
    await page.until(`${status}.startsWith('No answer came')`);
    await page.evaluate("void (globalThis.isLosing = false)");
    await save("Twice", "1");
    await page.until(`${status} === 'Saved'`);
    expect(await countOf("Twice")).toBe(1);
    for (const title of ["Twice", "Thrice"]) {
      await page.evaluate("document.querySelector('#sign-out').click()");
      await page.until("document.querySelector('#task').hidden");
      await signIn(passwordOf("lin"));
      await page.until("document.querySelector('#sign-in').hidden");
      await save(title, "1");
      await page.until(`${status} === 'Saved'`);
    }
    expect(await countOf("Twice")).toBe(2);
    expect(await countOf("Thrice")).toBe(1);
    expect(complaintsBut(page)).toEqual([]);
  });

  it("refreshes an expired token once for all requests that find it expired, and sends each once more", async () => {
    await signedIn();
    const before = requestsTo("/whoami");
    ahead += fiveMinutes + 1_000;
    const calls = "Promise.all([1, 2, 3, 4, 5].map(() => api.GET('/whoami').then(({ response }) => response.status)))";
    expect(await page.evaluate(calls)).toEqual([200, 200, 200, 200, 200]);
    expect(requestsTo("/sessions/refresh")).toBe(1);
    expect(requestsTo("/whoami") - before).toBe(10);
  });

  it("doesn't refresh again for a request that finds the token expired when there is another one already", async () => {
    await signedIn();
    ahead += fiveMinutes + 1_000;
    const calls = `(async () => {
      const real = globalThis.fetch;
      let asked = 0;
      let letThrough;
      const refreshed = new Promise((resume) => (letThrough = resume));
      globalThis.fetch = async (request, ...more) => {
        const isFirst = (asked += 1) === 1;
        const response = await real(request, ...more);
        if (isFirst) await refreshed;
        return response;
      };
      const late = api.GET("/whoami");
      const soon = await api.GET("/whoami");
      letThrough();
      globalThis.fetch = real;
      return [soon.response.status, (await late).response.status];
    })()`;
    expect(await page.evaluate(calls)).toEqual([200, 200]);
    expect(requestsTo("/sessions/refresh")).toBe(1);
  });

  it("repeats a request after token_expired once and not again, and another 401 not at all", async () => {
    await signedIn();
    const answering = (code: string) => `(async () => {
      const real = globalThis.fetch;
      let asked = 0;
      globalThis.fetch = (request, ...more) => {
        if (!(request instanceof Request) || !request.url.endsWith("/whoami")) return real(request, ...more);
        asked += 1;
        const headers = { "Content-Type": "application/problem+json" };
        return Promise.resolve(new Response('{"code":"${code}"}', { status: 401, headers }));
      };
      // The client keeps the fetch that it was given, which looks the global one up.
      await api.GET("/whoami");
      globalThis.fetch = real;
      return asked;
    })()`;
    expect(await page.evaluate(answering("invalid_credentials"))).toBe(1);
    await signIn(passwordOf("lin"));
    await page.until("document.querySelector('#sign-in').hidden");
    expect(await page.evaluate(answering("token_expired"))).toBe(2);
  });

  it("ends the session on signing out, and has kept no token anywhere", async () => {
    await signedIn();
    const before = (await sessions()).items.length;
    const kept = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])";
    expect(await page.evaluate(kept)).toBe(JSON.stringify([{}, {}, "", `${app.origin}/`]));
    await page.evaluate("document.querySelector('#sign-out').click()");
    await page.until("document.querySelector('#task').hidden");
    expect((await sessions()).items.length).toBe(before - 1);
    expect(complaintsBut(page)).toEqual([]);
  });

  it("asks to sign in again after the session was ended elsewhere, or its refresh token has expired", async () => {
    await signedIn();
    for (const { id } of (await sessions()).items) {
      await served.send(`/sessions/${id}`, { method: "DELETE", as: apikey("staff") });
    }
    await save("Late", "1");
    await page.until("document.querySelector('#task').hidden");
    await signIn(passwordOf("lin"));
    await page.until("document.querySelector('#sign-in').hidden");
    ahead += 73 * 3_600_000;
    await page.evaluate("void api.GET('/whoami').catch(() => undefined)");
    await page.until("document.querySelector('#task').hidden");
  });

  it("keeps what a person has typed over a session that was ended elsewhere, and shows it to nobody else", async () => {
    const title = "document.querySelector('#task [name=title]').value";
    const endSessions = async () => {
      for (const { id } of (await sessions()).items) {
        await served.send(`/sessions/${id}`, { method: "DELETE", as: apikey("staff") });
      }
    };
    const ended = "Your session has ended. Sign in again: what you typed is kept.";
    await signedIn();
    await endSessions();
    await save("Typed before", "1");
    await page.until(`${signInAlert} === ${JSON.stringify(ended)}`);
    await signIn(passwordOf("lin"));
    await page.until("document.querySelector('#sign-in').hidden");
    expect(await page.evaluate(title)).toBe("Typed before");
    await page.evaluate("document.querySelector('#task').requestSubmit()");
    await page.until(`${status} === 'Saved'`);
    await endSessions();
    await save("Only for Lin", "1");
    await page.until(`${signInAlert} === ${JSON.stringify(ended)}`);
    await signIn(passwordOf("tom"), "tom");
    await page.until(`${textOf("#who")} === 'tom'`);
    expect(await page.evaluate(title)).toBe("");
    await save("By Tom", "1");
    await page.until(`${status} === 'Saved'`);
    await page.evaluate("document.querySelector('#sign-out').click()");
    await page.until("document.querySelector('#task').hidden");
    expect(await page.evaluate(`[${title}, ${signInAlert}]`)).toEqual(["", ""]);
  });
});
