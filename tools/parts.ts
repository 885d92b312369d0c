// `make parts` and `npm run parts -- [GROUP] [--list]`: brings every part that a command will use, `test` by default; with --list it
// only says what is there, from where and in which version. Exits 1 when a part can't be had.

import { bringParts, partLine } from "./parts/bring-parts.ts";
import { type PartGroup, partGroups, partsOf } from "./parts/groups.ts";
import { PartMissing } from "./parts/part.ts";

const usage = `npm run parts -- [GROUP] [--list]\nGROUP is one of ${partGroups.join(", ")}; test by default`;

async function main(args: readonly string[]): Promise<number> {
  const list = args.includes("--list");
  const [group = "test", ...others] = args.filter((arg) => arg !== "--list");
  if (others.length > 0 || !isGroup(group)) {
    console.error(usage);
    return 2;
  }
  try {
    const parts = await partsOf(group, process.env);
    if (list) for (const part of parts) console.log(await partLine(part, await part.find(process.env)));
    else await bringParts(process.env, parts);
    if (!list) console.error(`All ${parts.length} parts are here.`);
    return 0;
  } catch (error) {
    if (!(error instanceof PartMissing)) throw error;
    console.error(`\nA part can't be had: ${error.message}`);
    return 1;
  }
}

function isGroup(name: string): name is PartGroup {
  return partGroups.some((group) => group === name);
}

process.exitCode = await main(process.argv.slice(2));
