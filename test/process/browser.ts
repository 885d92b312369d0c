// A real browser, controlled over its DevTools protocol: opens pages, runs expressions in
// them, takes pictures, and writes down whatever a page complains of: errors, uncaught exceptions,
// refused resources, violations of its Content-Security-Policy.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "../../tools/parts/chromium.ts";
import { requirePart } from "../../tools/parts/part.ts";
import { guard } from "../support/process/watchdog.ts";
import { eventually } from "../support/time/eventually.ts";

export interface PageOptions {
  readonly width: number;
  readonly height: number;
  readonly scheme: "light" | "dark";
}

/** Virtual key codes, without which a page's default actions don't take place. */
const keyCodes = {
  ...{ Tab: 9, Enter: 13, Escape: 27, " ": 32, End: 35, Home: 36 },
  ...{ ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, a: 65, s: 83, z: 90 },
} as const;
export type PressedKey = keyof typeof keyCodes;

export interface Page {
  /** Loads it and waits for the load event. */
  goto(url: string): Promise<void>;
  /** The value of a JavaScript expression in the page; promises are waited for. */
  evaluate<T>(expression: string): Promise<T>;
  /** Waits until the expression is true. */
  until(expression: string): Promise<void>;
  /** Types as a keyboard does into what has the focus. */
  type(text: string): Promise<void>;
  /** Presses a key, by its name as `KeyboardEvent.key` has it. */
  press(key: PressedKey, modifier?: "Control"): Promise<void>;
  picture(file: string): Promise<void>;
  /** Gives the page another size or scheme. */
  look(options: PageOptions): Promise<void>;
  /** Takes the network away from the page, or gives it back. */
  setOnline(isOnline: boolean): Promise<void>;
  /** A second page in the same browser window, which shares what pages of one origin share. */
  beside(): Promise<Page>;
  readonly complaints: readonly string[];
  /**
   * URLs of all requests so far, without those by which a browser asks for leave to send another
   * one (CORS).
   */
  readonly requests: readonly string[];
}

export interface Browser {
  open(options: PageOptions): Promise<Page>;
  stop(): Promise<void>;
}

const flags = [
  ...[
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-dev-shm-usage",
  ],
  ...["--remote-debugging-port=0", "--disable-background-networking", "--disable-component-update", "--mute-audio"],
];

export async function startBrowser(): Promise<Browser> {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-browser-"));
  const program = await requirePart(process.env, chromium);
  const child = spawn(program, [...flags, `--user-data-dir=${folder}`, "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  });
  guard(child, folder);
  const lines: string[] = [];
  const endpoint = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(`${program} ended early:\n${lines.slice(-20).join("\n")}`)));
    createInterface({ input: child.stderr }).on("line", (line) => {
      lines.push(line);
      const [, url] = /^DevTools listening on (ws:\S+)$/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
  });
  const connection = await connect(endpoint);
  return {
    open: (options) => openPage(connection, options),
    async stop() {
      const gone = once(child, "exit");
      process.kill(-(child.pid ?? 0), "SIGKILL");
      await gone;
      connection.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

type Message = Readonly<Record<string, unknown>>;

interface Connection {
  call(method: string, params?: Message, sessionId?: string): Promise<Message>;
  follow(sessionId: string, onEvent: (method: string, params: Message) => void): void;
  close(): void;
}

async function connect(url: string): Promise<Connection> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true });
    socket.addEventListener("error", reject, { once: true });
  });
  const answers = new Map<number, (message: Message) => void>();
  const followers = new Map<string, (method: string, params: Message) => void>();
  let calls = 0;
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (typeof message.id === "number") answers.get(message.id)?.(message);
    else followers.get(String(message.sessionId))?.(String(message.method), message.params as Message);
  });
  return {
    call: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        calls += 1;
        const id = calls;
        answers.set(id, ({ error, result }) => {
          answers.delete(id);
          if (error === undefined) resolve(result as Message);
          else reject(new Error(`${method}: ${JSON.stringify(error)}`));
        });
        socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
      }),
    follow: (sessionId, onEvent) => void followers.set(sessionId, onEvent),
    close: () => socket.close(),
  };
}

async function openPage(connection: Connection, options: PageOptions): Promise<Page> {
  const { browserContextId } = await connection.call("Target.createBrowserContext");
  return await openPageIn(connection, String(browserContextId), options);
}

async function openPageIn(connection: Connection, browserContextId: string, options: PageOptions): Promise<Page> {
  const { targetId } = await connection.call("Target.createTarget", { url: "about:blank", browserContextId });
  const { sessionId } = await connection.call("Target.attachToTarget", { targetId, flatten: true });
  const session = String(sessionId);
  const call = (method: string, params?: Message) => connection.call(method, params, session);
  const complaints: string[] = [];
  const requests: string[] = [];
  const documents = followDocuments();
  connection.follow(session, (method, params) => {
    const complaint = complaintOf(method, params);
    if (complaint !== undefined) complaints.push(complaint);
    if (method === "Network.requestWillBeSent") {
      const sent = params.request as Readonly<Record<"method" | "url", string>>;
      if (sent.method !== "OPTIONS") requests.push(sent.url);
    }
    if (method === "Page.lifecycleEvent" && params.frameId === targetId) documents.note(params);
  });
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await call(`${domain}.enable`);
  await call("Page.setLifecycleEventsEnabled", { enabled: true });
  const look = async ({ width, height, scheme }: PageOptions): Promise<void> => {
    await call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    await call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  };
  await look(options);
  const evaluate = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = await call("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { readonly value: T }).value;
  };
  return {
    complaints,
    requests,
    evaluate,
    look,
    async setOnline(isOnline) {
      const speed = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
      await call("Network.emulateNetworkConditions", { offline: !isOnline, ...speed });
    },
    beside: () => openPageIn(connection, browserContextId, options),
    async goto(url) {
      const { loaderId } = await call("Page.navigate", { url });
      const isLoaded = () => assertThat(documents.isLoaded(String(loaderId)), `${url} is loaded`);
      await eventually(isLoaded, { withinMs: 60_000 });
    },
    async until(expression) {
      const holds = async () => assertThat((await evaluate(`Boolean(${expression})`)) === true, expression);
      try {
        await eventually(holds, { withinMs: 60_000, everyMs: 100 });
      } catch (cause) {
        const shown = await evaluate<string>('location.href + "\\n" + document.body?.innerText').catch(String);
        throw new Error(`Timed out waiting for: ${expression}\nThe page shows:\n${shown.slice(0, 2_000)}`, { cause });
      }
    },
    type: async (text) => void (await call("Input.insertText", { text })),
    async press(key, modifier) {
      const text = modifier === undefined ? { Enter: "\r", " ": " " }[String(key)] : undefined;
      const windowsVirtualKeyCode = keyCodes[key];
      const event = { key, code: key, windowsVirtualKeyCode, modifiers: modifier === "Control" ? 2 : 0 };
      await call("Input.dispatchKeyEvent", { type: "keyDown", ...event, ...(text !== undefined && { text }) });
      await call("Input.dispatchKeyEvent", { type: "keyUp", ...event });
    },
    async picture(file) {
      const { data } = await call("Page.captureScreenshot", { format: "png" });
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, Buffer.from(String(data), "base64"));
    },
  };
}

/** The documents of a page, one after the other, each by its loader id. */
function followDocuments() {
  const opened: string[] = [];
  const loaded = new Set<string>();
  return {
    /** A lifecycle event of the page's main frame. */
    note({ name, loaderId }: Message): void {
      if (name === "init") opened.push(String(loaderId));
      if (name === "load") loaded.add(String(loaderId));
    },
    /**
     * This document, or one to which it has led on. One that was opened before it may be loaded
     * later.
     */
    isLoaded(loaderId: string): boolean {
      const at = opened.indexOf(loaderId);
      return at >= 0 && opened.slice(at).some((each) => loaded.has(each));
    },
  };
}

function assertThat(holds: boolean, what: string): void {
  if (!holds) throw new Error(`It never came to be: ${what}`);
}

function complaintOf(method: string, params: Message): string | undefined {
  if (method === "Runtime.exceptionThrown") return JSON.stringify(params.exceptionDetails);
  if (method === "Log.entryAdded") {
    const { level, text, url } = params.entry as Readonly<Record<"level" | "text" | "url", string>>;
    return level === "error" || level === "warning" ? `${level}: ${text} ${url ?? ""}` : undefined;
  }
  if (method !== "Runtime.consoleAPICalled" || (params.type !== "error" && params.type !== "warning")) return undefined;
  const args = params.args as readonly { readonly value?: unknown; readonly description?: string }[];
  return `${params.type}: ${args.map(({ value, description }) => description ?? JSON.stringify(value)).join(" ")}`;
}
