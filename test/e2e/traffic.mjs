// Continuous traffic from inside the cluster, as a client with kept connections: creates objects
// and reads them back, and writes down what was answered. SIGUSR2 makes it print what it has so far
// as one line of JSON and begin a new chapter; SIGTERM ends it.

import process, { argv, env, exit, stdout } from "node:process";

const { URL_OF_PROJECT: base, API_KEY: key } = env;
const [workers = "4", pauseMs = "30"] = argv.slice(2);
const headers = { authorization: `apikey ${key}`, "content-type": "application/json" };
const maxMs = 10_000;

/** Numbers of objects whose creation was answered with success, in all chapters. */
const acknowledged = new Set();
let next = 0;
let chapter = newChapter();
let running = true;

function newChapter() {
  return { began: Date.now(), requests: 0, acknowledged: 0, failures: [], unavailable: 0, slowestMs: 0 };
}

async function call(what, path, init = {}) {
  const began = Date.now();
  const current = chapter;
  try {
    const response = await fetch(`${base}${path}`, { headers, signal: AbortSignal.timeout(maxMs), ...init });
    const text = await response.text();
    current.requests += 1;
    current.slowestMs = Math.max(current.slowestMs, Date.now() - began);
    if (response.ok) return { status: response.status, text };
    const { code } = JSON.parse(text);
    if (response.status === 503 && /^(store_unavailable|outcome_unknown|project_unavailable)$/.test(code))
      current.unavailable += 1;
    else note(current, `${what}: ${response.status} ${text}`);
  } catch (error) {
    note(current, `${what}: ${error.name} ${error.message} ${error.cause?.code ?? error.cause?.message ?? ""}`);
  }
  return undefined;
}

function note({ failures }, words) {
  if (failures.length < 50) failures.push(`${new Date().toISOString()} ${words}`);
}

async function work() {
  while (running) {
    const n = next++;
    const current = chapter;
    const made = await call("create", "/api/items", { method: "POST", body: JSON.stringify({ number: n }) });
    if (made !== undefined) {
      const { id } = JSON.parse(made.text);
      current.acknowledged += 1;
      acknowledged.add(n);
      const read = await call("read", `/api/items/${id}`);
      if (read !== undefined && JSON.parse(read.text).number !== n) note(current, `read ${id}: ${read.text}`);
    }
    await new Promise((resolve) => setTimeout(resolve, Number(pauseMs)));
  }
}

function report() {
  stdout.write(`${JSON.stringify({ ...chapter, seconds: (Date.now() - chapter.began) / 1000 })}\n`);
  chapter = newChapter();
}

/** Every number that is stored, as often as it is. */
async function stored() {
  const numbers = [];
  for (;;) {
    const page = await call("list", `/api/items?_limit=100&_offset=${numbers.length}`);
    if (page === undefined) throw new Error("the objects could not be read back");
    const { items } = JSON.parse(page.text);
    if (items.length === 0) return numbers;
    numbers.push(...items.map(({ number }) => number));
  }
}

async function audit() {
  const numbers = await stored();
  const there = new Set(numbers);
  const lost = [...acknowledged].filter((number) => !there.has(number));
  const twice = numbers.length - there.size;
  stdout.write(`${JSON.stringify({ acknowledged: acknowledged.size, stored: numbers.length, twice, lost })}\n`);
}

process.on("SIGUSR2", report);
process.on("SIGTERM", () => {
  running = false;
});
await Promise.all(Array.from({ length: Number(workers) }, work));
report();
await audit();
exit(0);
