// `npm run test:mutations`: puts one small fault after the other into a copy of the working tree and runs the tests that are there to
// notice it. `--only a,b` names some of them. Prints a line for each; exits 1 when one was not noticed, or could not be tried.

import { fileURLToPath } from "node:url";
import { readArguments, WrongArguments } from "../../tools/script-arguments.ts";
import { ScriptFailed, startScript } from "../../tools/start-script.ts";
import { failuresWithout, judgeMutation, type Verdict } from "./judge-mutation.ts";
import type { Mutation } from "./mutation.ts";
import { mutations } from "./mutations.ts";
import { copyWorkingTree } from "./working-copy.ts";

const script = startScript("npm run test:mutations");
const { values } = readArguments({ only: { type: "string" } });
const wanted = chosen(values.only?.split(","));
const copy = await copyWorkingTree(fileURLToPath(new URL("../..", import.meta.url)));
script.onInterrupt(() => copy.remove());
try {
  process.exitCode = await tryAll();
} finally {
  await copy.remove();
}

async function tryAll(): Promise<number> {
  const files = [...new Set(wanted.flatMap(({ caughtBy }) => caughtBy))];
  const failures = await failuresWithout(copy, files);
  if (failures.length > 0) {
    throw new ScriptFailed(`Tests fail without any mutation, so that they can judge none: ${failures.join("; ")}`);
  }
  let bad = 0;
  for (const mutation of wanted) {
    const verdict = await judgeMutation(copy, mutation);
    if (verdict.outcome !== "caught") bad += 1;
    console.log(lineOf(mutation, verdict));
  }
  console.log(`${wanted.length - bad} of ${wanted.length} mutations caught`);
  return bad === 0 ? 0 : 1;
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
