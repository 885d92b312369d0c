// `npm run mutations [-- --only WORDS,WORDS]`: puts one small fault after the other into copies of
// the working tree, and runs the tests that must notice it. `--only` takes parts of promises.
// Prints a line for each; exits 1 when a fault was not noticed, or could not be tried.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bringPartsOf } from "../../tools/parts/groups.ts";
import { lastWords, runCommand } from "../../tools/parts/run-command.ts";
import { root } from "../../tools/read-crds.ts";
import { readArguments, WrongArguments } from "../../tools/script-arguments.ts";
import { ScriptFailed, startScript } from "../../tools/start-script.ts";
import { reportOrNothing, verdictsOf } from "../../tools/test-run/vitest-report.ts";
import { mutate, NotApplicable } from "./mutate.ts";
import { type Mutation, mutations } from "./mutations.ts";
import { copyWorkingTree, type WorkingCopy } from "./working-copy.ts";

/** A test that waits for what never comes ends by its own limit before. */
const maxMilliseconds = 900_000;
/** One waits while the other computes. */
const atOnce = 2;

const script = startScript("npm run mutations");
const { values } = readArguments({ only: { type: "string" } });
const wanted = mutationsOf(values.only?.split(","));
await bringPartsOf("mutations");
const copies: WorkingCopy[] = [];
const removeCopies = async (): Promise<void> => {
  await Promise.all(copies.map((copy) => copy.remove()));
};
script.onInterrupt(removeCopies);
try {
  while (copies.length < Math.min(atOnce, wanted.length)) copies.push(await copyWorkingTree(root));
  await requireGreen(copies[0] as WorkingCopy);
  const waiting = [...wanted];
  const caught = (await Promise.all(copies.map((copy) => tryAll(copy, waiting)))).flat().filter(Boolean);
  console.log(`${caught.length} of ${wanted.length} mutations caught`);
  process.exitCode = caught.length === wanted.length ? 0 : 1;
} finally {
  await removeCopies();
}

function mutationsOf(only: readonly string[] | undefined): readonly Mutation[] {
  const unknown = only?.filter((words) => !mutations.some(({ promise }) => promise.includes(words))) ?? [];
  if (unknown.length > 0) throw new WrongArguments(`No promise in test/mutations has ${unknown.join(", ")}`);
  return mutations.filter(({ promise }) => only?.some((words) => promise.includes(words)) ?? true);
}

/** A test that fails anyway notices nothing. */
async function requireGreen(copy: WorkingCopy): Promise<void> {
  const { code, failed, output } = await runTests(copy, [...new Set(wanted.flatMap(({ tests }) => tests))]);
  if (code === 0) return;
  throw new ScriptFailed(`Tests fail without any mutation: ${failed.join("; ") || output}`);
}

/** Takes mutations from `waiting` until there are none; returns which ones were caught. */
async function tryAll(copy: WorkingCopy, waiting: Mutation[]): Promise<readonly boolean[]> {
  const caught: boolean[] = [];
  for (let mutation = waiting.shift(); mutation !== undefined; mutation = waiting.shift()) {
    const line = await verdictOf(copy, mutation);
    console.log(line);
    caught.push(line.startsWith("caught"));
  }
  return caught;
}

async function verdictOf(copy: WorkingCopy, { promise, file, fn, change, tests }: Mutation): Promise<string> {
  const path = join(copy.path, file);
  const text = await readFile(path, "utf8");
  try {
    await writeFile(path, mutate(file, text, fn, change));
    const { code, passed, failed, output } = await runTests(copy, tests);
    const [first] = failed;
    if (first !== undefined && passed > 0) return `caught    ${promise}: ${first}`;
    if (code === 0) return `SURVIVED  ${promise}: no test notices \`${change}\` in ${fn} of ${file}`;
    // A module that is broken altogether fails everything, which shows nothing.
    return `UNUSABLE  ${promise}: ${first === undefined ? output : `every test failed, ${first} first`}`;
  } catch (error) {
    if (error instanceof NotApplicable) return `UNUSABLE  ${promise}: ${error.message}`;
    throw error;
  } finally {
    await writeFile(path, text);
  }
}

async function runTests({ path }: WorkingCopy, files: readonly string[]) {
  const report = join(path, "mutation-report.json");
  await writeFile(report, "");
  const projects = [...new Set(files.map((file) => file.split("/")[1] ?? ""))].flatMap((name) => ["--project", name]);
  const args = ["run", ...projects, "--reporter=json", `--outputFile.json=${report}`, ...files];
  const vitest = join(path, "node_modules/.bin/vitest");
  const done = await runCommand(vitest, args, { cwd: path, timeout: maxMilliseconds });
  const { tests } = verdictsOf(await reportOrNothing(report), path, files);
  const failed = tests.filter((test) => !test.passed).map(({ name }) => name);
  return { code: done.code, passed: tests.length - failed.length, failed, output: lastWords(done) };
}
