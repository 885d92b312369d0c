// Pastes the README's first five minutes into a shell, word for word but for ports and the data
// folder, and sends the requests of its table of callers.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/process/free-port.ts";
import { eventually } from "../support/time/eventually.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const closing: (() => Promise<void>)[] = [];
let answers: readonly string[] = [];
let bookshop = "";
let secrets = "";

beforeAll(async () => {
  const data = await mkdtemp(join(tmpdir(), "jsonplane-readme-"));
  closing.push(() => rm(data, { recursive: true, force: true }));
  const [port, adminPort] = [await freePort(), await freePort()];
  await serveExamples(["--port", String(port), "--admin-port", String(adminPort), "--data", data]);
  bookshop = `http://127.0.0.1:${port}/default/bookshop`;
  secrets = join(data, "secrets/default");
  const script = (await firstFiveMinutes())
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`)
    .replaceAll("127.0.0.1:9090", `127.0.0.1:${adminPort}`)
    .replaceAll(".jsonplane/examples/", `${data}/`);
  const { stdout, stderr } = await promisify(execFile)("sh", ["-euc", script], { cwd: root });
  expect(stderr).toBe("");
  answers = stdout.trimEnd().split("\n");
});

afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

async function serveExamples(flags: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ["cli/main.ts", "dev", "examples", ...flags], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  closing.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
  });
  const ended = once(child, "exit").then(() => {
    throw new Error(`jsonplane dev ended before it was ready:\n${output}`);
  });
  await Promise.race([eventually(() => expect(output).toMatch(/^Ready$/m), { withinMs: 120_000 }), ended]);
}

async function firstFiveMinutes(): Promise<string> {
  const text = await readFile(join(root, "README.md"), "utf8");
  const section = text.slice(text.indexOf("## The first five minutes"), text.indexOf("## The command line"));
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join("");
}

const answer = (index: number): unknown => JSON.parse(answers[index] ?? "");

describe("the README's first five minutes", () => {
  it("create a book, have a bad one refused with a pointer to its price, and create another", () => {
    expect(answer(0)).toMatchObject({ title: "Emma", _metadata: { creator: "back-office", creator_type: "apikey" } });
    expect(answer(1)).toMatchObject({ status: 400, code: "validation_failed", errors: [{ pointer: "/price" }] });
    expect(answer(2)).toMatchObject({ title: "Ulysses", price: 12 });
  });

  it("list books sorted and filtered, and change one field of one", () => {
    expect(answer(3)).toMatchObject({ count: 2, items: [{ title: "Ulysses" }, { title: "Emma" }] });
    expect(answer(4)).toMatchObject({ count: 1, items: [{ title: "Emma" }] });
    expect(answer(5)).toMatchObject({ title: "Emma", author: { name: "Jane Austen" }, price: 8 });
  });

  it("log a customer in, who writes and finds a review, and refresh her token", () => {
    expect(answer(6)).toMatchObject({ stars: 5, _metadata: { creator: "ada", creator_type: "user" } });
    expect(answer(7)).toMatchObject({ count: 1, items: [{ stars: 5 }] });
    expect(answer(8)).toEqual({ access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) });
  });

  it("read, insert and remove inside a value by its path", () => {
    expect(answer(9)).toBe("09:00");
    expect(answer(10)).toMatchObject({ days: ["Thu"] });
    expect(answer(11)).toMatchObject([{ from: "09:00" }, { days: ["Thu"] }, { days: ["Sat"] }]);
    expect(answer(12)).toEqual({});
  });

  it("delete the book and show how the key/value store was used", () => {
    expect(answers[13]).toBe("204");
    expect(answer(14)).toMatchObject({ requestsLastHour: 4 });
    expect(answers).toHaveLength(15);
  });
});

describe("the README's table of callers", () => {
  it("shows the answers that they get", async () => {
    const shown = await tableOfCallers();
    const answered: Row[] = [];
    for (const { caller } of shown) answered.push({ caller, cells: await answersTo(await credentialOf(caller)) });
    expect(shown).toHaveLength(5);
    expect(answered).toEqual(shown);
  });
});

interface Row {
  readonly caller: string;
  readonly cells: readonly string[];
}

/**
 * GET books, POST books, GET reviews, PUT orders, DELETE orders: statuses, and whose reviews a
 * caller sees.
 */
async function tableOfCallers(): Promise<readonly Row[]> {
  const text = await readFile(join(root, "README.md"), "utf8");
  const columns = "| caller | GET books | POST books | GET reviews | PUT orders | DELETE orders |";
  const [table = ""] = text.slice(text.indexOf(columns)).split("\n\n");
  return table
    .split("\n")
    .slice(2)
    .map((line) => line.slice(2, -2).split(" | "))
    .map(([caller = "", ...cells]) => ({
      caller,
      cells: cells.map((cell) => cell.replace(/\b(?:her|its) own$/, "own")),
    }));
}

async function credentialOf(caller: string): Promise<string | undefined> {
  const [, kind, name = ""] = /^(user|key) `([^`]+)`/.exec(caller) ?? [];
  if (kind === undefined) return undefined;
  const file = await readFile(join(secrets, `${name}-${kind === "user" ? "password" : "api-key"}.yaml`), "utf8");
  const [, secret = ""] = /^ *(?:password|apiKey): (.*)$/m.exec(file) ?? [];
  if (kind === "key") return `apikey ${secret}`;
  const basic = `Basic ${Buffer.from(`${name}:${secret}`).toString("base64")}`;
  const { body } = await send("POST", "/sessions", basic);
  return `bearer ${(body as { access_token: string }).access_token}`;
}

async function answersTo(credential: string | undefined): Promise<readonly string[]> {
  const book = { title: "Emma", author: { name: "Jane Austen" }, price: 9.5 };
  const administrator = await credentialOf("key `back-office`");
  const line = { book: "01a1fec1-6546-7000-a8ef-e66f47381989", quantity: 1 };
  const shipTo = { name: "Ada", street: "Main Street 1", city: "Vienna", country: "AT" };
  const placed = await send("POST", "/api/orders", administrator, { lines: [line], total: 9.5, shipTo });
  const order = `/api/orders/${(placed.body as { id: string }).id}`;
  if (credential !== undefined) await send("POST", "/api/reviews", credential, { book: line.book, stars: 4 });
  await send("POST", "/api/reviews", administrator, { book: line.book, stars: 5 });
  const answered = [
    await send("GET", "/api/books", credential),
    await send("POST", "/api/books", credential, book),
    await send("GET", "/api/reviews", credential),
    await send("PUT", order, credential, { state: "paid" }),
    await send("DELETE", order, credential),
  ];
  return answered.map(({ status, body }, column) =>
    column === 2 && status === 200 ? `200, ${whose(body)}` : `${status}`,
  );
}

/** All, where reviews of two creators or more are shown. */
function whose(list: unknown): string {
  const { items } = list as { items: readonly { _metadata: { creator: string } }[] };
  return new Set(items.map(({ _metadata }) => _metadata.creator)).size > 1 ? "all" : "own";
}

async function send(method: string, path: string, credential?: string, body?: unknown) {
  const headers = credential === undefined ? {} : { Authorization: credential };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await fetch(`${bookshop}${path}`, init);
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
}
