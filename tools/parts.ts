// `make parts` and `npm run parts -- [GROUP] [--list]`: brings every part that a command will use,
// `test` by default; with --list it only says what is there, from where and in which version. Exits
// 1 when a part can't be had, or a variable names what can't be used.

import { bringParts, partLine } from "./parts/bring-parts.ts";
import { type PartGroup, partGroups, partsOf } from "./parts/groups.ts";
import { type Part, PartMissing } from "./parts/part.ts";
import { readArguments, WrongArguments } from "./script-arguments.ts";
import { startScript } from "./start-script.ts";

startScript("make parts");
const { values, words } = readArguments({ list: { type: "boolean" } }, ["[GROUP]"]);
const [group = "test"] = words;
if (!isGroup(group)) throw new WrongArguments(`${group} is not a group of parts: there are ${partGroups.join(", ")}`);
const parts = await partsOf(group, process.env);
if (values.list) for (const part of parts) console.log(await lineOf(part));
else {
  await bringParts(process.env, parts);
  console.error(`All ${parts.length} parts are here.`);
}

/** What a variable names in vain is told on the part's line, and the list goes on. */
async function lineOf(part: Part): Promise<string> {
  try {
    return await partLine(part, await part.find(process.env));
  } catch (error) {
    if (!(error instanceof PartMissing)) throw error;
    process.exitCode = 1;
    return `  ${part.name.padEnd(25)} unusable  ${error.message.split("\n", 1)[0]}`;
  }
}

function isGroup(name: string): name is PartGroup {
  return partGroups.some((known) => known === name);
}
