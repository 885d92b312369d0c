// `make parts` and `npm run parts -- [GROUP] [--list]`: brings every part that a command will use, `test` by default; with --list it
// only says what is there, from where and in which version. Exits 1 when a part can't be had.

import { bringParts, partLine } from "./parts/bring-parts.ts";
import { type PartGroup, partGroups, partsOf } from "./parts/groups.ts";
import { readArguments, WrongArguments } from "./script-arguments.ts";
import { startScript } from "./start-script.ts";

startScript("make parts");
const { values, words } = readArguments({ list: { type: "boolean" } }, ["[GROUP]"]);
const [group = "test"] = words;
if (!isGroup(group)) throw new WrongArguments(`${group} is not a group of parts: there are ${partGroups.join(", ")}`);
const parts = await partsOf(group, process.env);
if (values.list) for (const part of parts) console.log(await partLine(part, await part.find(process.env)));
else {
  await bringParts(process.env, parts);
  console.error(`All ${parts.length} parts are here.`);
}

function isGroup(name: string): name is PartGroup {
  return partGroups.some((known) => known === name);
}
