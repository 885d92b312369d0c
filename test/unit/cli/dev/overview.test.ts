// The overview of dev mode without a browser: whom it answers, and what its state says of a folder
// of manifests.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DevOperator } from "../../../../cli/dev/apply/dev-operator.ts";
import { createOneTimeTokens } from "../../../../cli/dev/overview/one-time-tokens.ts";
import { createOverview, type Overview, type OverviewOptions } from "../../../../cli/dev/overview/overview.ts";
import type { OverviewState } from "../../../../pages/overview/state.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";
import { type DevCluster, devCluster } from "./dev-cluster.ts";
import {
  books,
  inShop,
  key,
  login,
  manifest,
  overviewOf,
  overviewStateOf,
  path,
  type Sent,
  sent,
  shop,
} from "./overview-world.ts";

let dev: DevCluster;
beforeEach(async () => {
  dev = await devCluster();
});
afterEach(() => dev.close());

const tokens = createOneTimeTokens(manualClock(), randomBytes);

const html = { accept: "text/html" };

const followed = (options?: OverviewOptions, operator?: DevOperator) => overviewOf(dev, { tokens, options, operator });

const stateOf = (overview: Overview) => overviewStateOf(dev, overview);

describe("the state of the overview", () => {
  it.each<[string, OverviewOptions, Sent]>([
    ["this machine by its address", { host: "127.0.0.1" }, {}],
    ["this machine by its name, at a port that is mapped", { host: "0.0.0.0" }, { host: "localhost:9999" }],
    ["this machine by another name of its own", { host: "127.0.0.1" }, { host: "Dev.LOCALHOST.:8080" }],
    ["this machine by IPv6", { host: "::1" }, { host: "[::1]:8080", to: "::1" }],
    ["the address listened on", { host: "10.1.2.3" }, { host: "10.1.2.3:8080", to: "10.1.2.3" }],
    ["the name listened on", { host: "box.lan" }, { host: "box.lan:8080", to: "10.1.2.3" }],
    ["one of all addresses listened on", { host: "0.0.0.0" }, { host: "10.1.2.3", to: "::ffff:10.1.2.3" }],
    ["the public URL", { host: "127.0.0.1", publicUrl: "https://api.example.org" }, { host: "api.example.org" }],
    [
      "the public URL through a proxy",
      { host: "127.0.0.1", publicUrl: "https://api.example.org" },
      { forwarded: "api.example.org" },
    ],
  ])("is given to %s", async (_what, options, request) => {
    const { overview } = followed(options);
    const response = await overview.serve(sent(path, request));
    expect(response).toMatchObject({ status: 200, headers: { "Cross-Origin-Resource-Policy": "same-origin" } });
  });

  it.each<[string, Sent]>([
    ["a name that somebody let lead here", { host: "rebound.example:8080" }],
    ["a name that begins like an own one", { host: "127.0.0.1.rebound.example" }],
    ["a name that ends like an own one", { host: "notlocalhost" }],
    ["an address of another machine", { host: "192.0.2.1:8080" }],
    ["no host", { host: "" }],
    ["a page that pretends to be a proxy", { host: "rebound.example", forwarded: "localhost" }],
    ["a foreign name behind a proxy", { forwarded: "rebound.example" }],
  ])("is refused to %s", async (_what, request) => {
    const { overview } = followed();
    await expect(overview.serve(sent(path, request))).rejects.toMatchObject({ code: "insufficient_access" });
  });

  it("shows what is served, and the files of secrets without the secrets", async () => {
    dev.edit("a.yaml", shop + books({ type: "object" }) + key + login + manifest("RootKey", "flags", inShop));
    const { overview, devOperator } = followed();
    expect((await stateOf(overview)).isRead).toBe(false);
    await devOperator.reconcile();
    const state = await stateOf(overview);
    expect(state).toMatchObject({ isRead: true, files: [] });
    expect(state.advice).toBeUndefined();
    const fileOf = (name: string): string => join(dev.secrets.folder, "default", name);
    expect(state.projects).toEqual([
      {
        name: "default/shop",
        url: "http://127.0.0.1:8080/default/shop",
        serving: "ReadWrite",
        hosts: [],
        pages: ["console", "docs", "openapi.json"],
        usage: "http://127.0.0.1:9090/usage/default/shop",
        resources: ["books"],
        rootKeys: ["flags"],
        credentials: [
          {
            subject: "ProjectUser/default/ada",
            kind: "login",
            name: "ada",
            role: "Users",
            access: "Read",
            command: `cat ${fileOf("ada-password.yaml")}`,
          },
          {
            subject: "ApiKey/default/robot",
            kind: "API key",
            name: "robot",
            role: "Administrators",
            access: "Write",
            command: `cat ${fileOf("robot-api-key.yaml")}`,
          },
        ],
      },
    ]);
    expect(state.manifests.map(({ subject, state }) => [subject, state])).toEqual([
      ["ApiKey/default/robot", "live"],
      ["ApiResource/default/books", "live"],
      ["Project/default/shop", "live"],
      ["ProjectUser/default/ada", "live"],
      ["RootKey/default/flags", "live"],
    ]);
    const text = JSON.stringify(state);
    const secrets = [dev.secretText("ada-password", "password"), dev.secretText("robot-api-key", "apiKey")];
    for (const secret of secrets) {
      expect(secret?.length).toBeGreaterThan(15);
      expect(text).not.toContain(secret);
    }
  });

  it("has users before keys, each by name, in whatever order their manifests are", async () => {
    const user = (name: string) => login.replace('"ada"', `"${name}"`);
    dev.edit("a.yaml", shop + key + user("mia") + login + user("eve"));
    const { overview, devOperator } = followed();
    await devOperator.reconcile();
    const [project] = (await stateOf(overview)).projects;
    expect(project?.credentials.map(({ name }) => name)).toEqual(["ada", "eve", "mia", "robot"]);
  });

  it.each([
    [
      "a Project that is refused",
      manifest("Project", "shop", { serving: "Paused" }),
      "fix Project/default/shop to serve it",
    ],
    ["a file that can't be read", "kind: [\n", "fix a.yaml, where the problem above is, or save one in"],
    ["nothing", "", "No Project is served yet: save one in"],
    ["what names a Project that isn't there", books({}), "No Project is served yet: save one in"],
  ])("says what to do while no Project is served and the folder has %s", async (_what, text, advice) => {
    dev.edit("a.yaml", text);
    const { overview, devOperator } = followed();
    await devOperator.reconcile();
    expect((await stateOf(overview)).advice).toContain(advice);
  });

  it("has the messages of the terminal with file and pointer, and what has become of the object", async () => {
    dev.edit("a.yaml", shop);
    dev.edit("b.yaml", books({ type: "object" }));
    const { overview, devOperator } = followed();
    await devOperator.reconcile();
    dev.edit("b.yaml", books({ type: "strnig" }) + manifest("RootKey", "flags", { ...inShop, initialVallue: 1 }));
    const lines = (await devOperator.reconcile()).map(({ text }) => text.replaceAll(`${dev.folder}/`, ""));
    const { manifests } = await stateOf(overview);
    const broken = manifests.find(({ subject }) => subject === "ApiResource/default/books");
    expect(broken).toMatchObject({
      state: "lastGood",
      outcome: "is still served in its last valid version",
      file: "b.yaml",
    });
    // Never accepted, so it is no object.
    const refused = manifests.find(({ subject }) => subject === "RootKey/default/flags");
    expect(refused).toMatchObject({ state: "refused", outcome: "is not served until this is fixed", file: "b.yaml" });
    for (const { subject, messages } of [broken, refused].flatMap((each) => each ?? [])) {
      expect(messages.length).toBeGreaterThan(0);
      for (const { level, position, pointer, text } of messages) {
        expect(level).toBe("problem");
        expect(lines).toContain(`${position}: ${subject} ${pointer}: ${text}`);
      }
    }
  });

  it("tells warnings from notes, and has what is said of a file as a whole", async () => {
    dev.edit("a.yaml", shop + books({ type: "object", maxPropertys: 3 }));
    dev.edit("b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\n");
    dev.edit("c.yaml", "{");
    const { overview, devOperator } = followed();
    await devOperator.reconcile();
    const { manifests, files } = await stateOf(overview);
    const found = [...manifests, ...files].flatMap(({ messages }) => messages);
    expect(found.map(({ level, position }) => [level, position.replace(/:.*/, "")]).sort()).toEqual([
      ["note", "b.yaml"],
      ["problem", "c.yaml"],
      ["warning", "a.yaml"],
    ]);
    expect(files.map(({ file }) => file)).toContain("c.yaml");
  });

  it("shows one message of a missing Project, and the objects that name it without one of their own", async () => {
    dev.edit("a.yaml", books({ type: "object" }) + login + key);
    const { overview, devOperator } = followed();
    await devOperator.reconcile();
    const { manifests } = await stateOf(overview);
    expect(
      manifests.map(({ subject, state, outcome, messages }) => [subject, state, outcome, messages.length]),
    ).toEqual([
      ["ApiKey/default/robot", "refused", undefined, 0],
      ["ApiResource/default/books", "refused", undefined, 0],
      ["Project/default/shop", undefined, undefined, 1],
      ["ProjectUser/default/ada", "refused", undefined, 0],
    ]);
  });

  it("shows what the terminal says of stored data as long as it is true, the last of what is about the same", async () => {
    dev.edit("a.yaml", shop + books({ type: "object" }));
    const { overview, devOperator, log } = followed();
    const pass = async (): Promise<OverviewState["news"]> => {
      for (const message of await devOperator.reconcile()) log.say(message);
      return (await stateOf(overview)).news;
    };
    expect(await pass()).toEqual([]);
    const collection = { project: { namespace: "default", name: "shop" }, resource: "books" };
    await dev.store.declareIndexes(collection, [], 1);
    await dev.store.create(collection, { id: "1", owner: "user:a", text: '{"id":"1"}' }, 10);
    dev.edit("a.yaml", shop);
    const text = expect.stringMatching(/^ApiResource\/default\/books: its data \(1 object\) is kept/);
    expect(await pass()).toEqual([{ level: "note", about: "default/shop/api/books", text }]);
    const later = { level: "warning", about: "default/shop/api/books" } as const;
    log.say({ text: "later", shown: later });
    expect(await pass()).toEqual([{ ...later, text: "later" }]);
    log.say({ text: "later", shown: { ...later, isTrue: ({ published }) => published.size === 0 } });
    expect(await pass()).toEqual([]);
  });

  it("says what the terminal says of a pass that failed, until one succeeds", async () => {
    let fault: string | undefined;
    const { view, reconcile } = dev.operator();
    const failing = async () => {
      if (fault !== undefined) throw new Error(fault);
      return await reconcile();
    };
    const { overview, devOperator } = followed({ host: "127.0.0.1" }, { view, reconcile: failing });
    dev.edit("a.yaml", shop);
    await devOperator.reconcile();
    fault = "The disk is full";
    await expect(devOperator.reconcile()).rejects.toThrow(fault);
    const { failure, projects } = await stateOf(overview);
    expect(failure).toBe("Failed to apply the change; still serving the previous version: The disk is full");
    expect(projects).toHaveLength(1);
    fault = undefined;
    await devOperator.reconcile();
    expect((await stateOf(overview)).failure).toBeUndefined();
  });

  it("asks to try again before anything is known", async () => {
    const overview = createOverview({ host: "127.0.0.1" }, tokens);
    await expect(overview.serve(sent(path))).rejects.toMatchObject({ code: "project_unavailable" });
  });

  it("is not sent again to whom has it", async () => {
    const { overview } = followed();
    const { headers = {} } = (await overview.serve(sent(path))) ?? {};
    const again = await overview.serve(sent(path, { headers: { "if-none-match": headers.ETag ?? "" } }));
    expect([again?.status, again?.text]).toEqual([304, undefined]);
  });
});

describe("the overview", () => {
  it.each<[string, string, Sent]>([
    ["another method", "/", { method: "POST", headers: html }],
    ["another method of its state", path, { method: "DELETE" }],
    ["the path of a project", "/default/shop", { headers: html }],
    ["a malformed path", "//", { headers: html }],
    ["a malformed target", "state.json", { headers: html }],
    ["its folder", "/-/overview", { headers: html }],
    ["what is below its files", `${path}/more`, { headers: html }],
    ["other paths of its kind", "/-/other/state.json", { headers: html }],
  ])("leaves %s to the projects", (_what, rawUrl, request) => {
    const overview = createOverview({ host: "127.0.0.1" }, tokens);
    expect(overview.serve(sent(rawUrl, request))).toBeUndefined();
    expect(overview.isForFile(sent(rawUrl, request))).toBe(false);
  });

  it.each<[string, Sent]>([
    ["says nothing of what it takes", {}],
    ["takes anything, as curl does", { headers: { accept: "*/*" } }],
    ["takes JSON as well", { headers: { accept: "application/json, text/html" } }],
  ])("gives a client that %s the URLs of all projects, and of one at its base URL", async (_what, request) => {
    dev.edit("a.yaml", shop + books({}) + manifest("RootKey", "flags", inShop));
    const { overview, devOperator } = followed();
    await devOperator.reconcile();
    const url = "http://127.0.0.1:8080/default/shop";
    const urls = {
      name: "default/shop",
      serving: "ReadWrite",
      url,
      resources: [`${url}/api/books`],
      rootKeys: [`${url}/json/flags`],
      sessions: `${url}/sessions`,
      docs: `${url}/docs`,
      openapi: `${url}/openapi.json`,
      console: `${url}/console`,
    };
    const read = async (rawUrl: string): Promise<unknown> =>
      JSON.parse((await overview.serve(sent(rawUrl, request)))?.text ?? "null");
    expect(await read("/")).toEqual({ projects: [urls] });
    expect(await read("/default/shop")).toEqual(urls);
    expect(await read("/default/shop/")).toEqual(urls);
    expect(await read("/default/other")).toBeNull();
  });

  it("keeps the URLs from clients that reach it by a foreign name", async () => {
    dev.edit("a.yaml", shop);
    const { overview, devOperator } = followed();
    await devOperator.reconcile();
    for (const rawUrl of ["/", "/default/shop"])
      expect(overview.serve(sent(rawUrl, { host: "rebound.example" }))).toBeUndefined();
  });

  it("is a page whose files lie below it, under its own policy", async () => {
    const overview = createOverview({ host: "127.0.0.1" }, tokens);
    const page = await overview.serve(sent("/?x=1", { headers: html }));
    const text = Buffer.from(page?.file?.bytes ?? []).toString();
    expect(page).toMatchObject({ status: 200, headers: { Vary: "Accept, Accept-Encoding, Origin" } });
    expect(page?.headers?.["Content-Security-Policy"]).toContain("default-src 'none'; script-src 'self';");
    const files = [...text.matchAll(/"(-\/overview\/[a-z.]+\?v=[\w-]+)"/g)].map(([, name]) => `/${name}`);
    expect(files.map((file) => file.split("?")[0])).toEqual(["/-/overview/page.css", "/-/overview/page.js"]);
    for (const file of files) {
      expect(await overview.serve(sent(file))).toMatchObject({ status: 200 });
      expect(overview.isForFile(sent(file))).toBe(true);
    }
    await expect(overview.serve(sent("/-/overview/page.html"))).rejects.toMatchObject({ code: "unknown_path" });
  });

  it("is at the root of a public URL with a path, whether or not a proxy strips that", async () => {
    const { overview } = followed({ host: "127.0.0.1", publicUrl: "https://example.org/json/plane" });
    for (const root of ["/", "/json/plane/"]) {
      expect(await overview.serve(sent(root, { headers: html }))).toMatchObject({ status: 200 });
      expect(await overview.serve(sent(`${root}-/overview/state.json`))).toMatchObject({ status: 200 });
    }
    expect(overview.serve(sent("/json/plane", { headers: html }))).toBeUndefined();
  });
});
