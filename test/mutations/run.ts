// `npm run mutations`: puts one small fault after the other into copies of the working tree and runs the tests that are there to
// notice it, one in each of two copies at a time: a test that waits leaves the processor to the other. `--only a,b` names some of them.
// Prints a line for each; exits 1 when one was not noticed, or could not be tried.

import { fileURLToPath } from "node:url";
import { readArguments, WrongArguments } from "../../tools/script-arguments.ts";
import { ScriptFailed, startScript } from "../../tools/start-script.ts";
import { checkMutation, failuresWithout, type Verdict } from "./check-mutation.ts";
import type { Mutation } from "./mutation.ts";
import { mutations } from "./mutations.ts";
import { copyWorkingTree, type WorkingCopy } from "./working-copy.ts";

const script = startScript("npm run mutations");
const { values } = readArguments({ only: { type: "string" } });
const wanted = chosen(values.only?.split(","));
const root = fileURLToPath(new URL("../..", import.meta.url));
const copies: WorkingCopy[] = [];
const removeCopies = async (): Promise<void> => {
  await Promise.all(copies.map((copy) => copy.remove()));
};
script.onInterrupt(removeCopies);
try {
  for (let copy = 0; copy < Math.min(2, wanted.length); copy += 1) copies.push(await copyWorkingTree(root));
  process.exitCode = await tryAll();
} finally {
  await removeCopies();
}

async function tryAll(): Promise<number> {
  const [first] = copies;
  if (first === undefined) return 0;
  const files = [...new Set(wanted.flatMap(({ caughtBy }) => caughtBy))];
  const failures = await failuresWithout(first, files);
  if (failures.length > 0) {
    throw new ScriptFailed(`Tests fail without any mutation, so that they can check none: ${failures.join("; ")}`);
  }
  const untried = [...wanted];
  const bad = await Promise.all(copies.map((copy) => tryIn(copy, untried)));
  const survived = bad.reduce((sum, count) => sum + count, 0);
  console.log(`${wanted.length - survived} of ${wanted.length} mutations caught`);
  return survived === 0 ? 0 : 1;
}

/** Takes mutations from `untried` until there is none left; how many were not caught. */
async function tryIn(copy: WorkingCopy, untried: Mutation[]): Promise<number> {
  let bad = 0;
  for (let mutation = untried.shift(); mutation !== undefined; mutation = untried.shift()) {
    const verdict = await checkMutation(copy, mutation);
    if (verdict.outcome !== "caught") bad += 1;
    console.log(lineOf(mutation, verdict));
  }
  return bad;
}

function chosen(names: readonly string[] | undefined): readonly Mutation[] {
  const unknown = names?.filter((name) => !mutations.some((mutation) => mutation.name === name)) ?? [];
  if (unknown.length > 0) {
    const all = mutations.map(({ name }) => name).join(", ");
    throw new WrongArguments(`No mutation is called ${unknown.join(", ")}; there are ${all}`);
  }
  return mutations.filter(({ name }) => names?.includes(name) ?? true);
}

function lineOf({ name, harm, file }: Mutation, verdict: Verdict): string {
  switch (verdict.outcome) {
    case "caught":
      return `caught    ${name}: ${verdict.by}`;
    case "survived":
      return `SURVIVED  ${name} in ${file}. ${harm}, and no test says so`;
    case "unusable":
      return `UNUSABLE  ${name} in ${file}: ${verdict.why}`;
  }
}
