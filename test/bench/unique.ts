// `npm run bench -- unique`: what a unique rule costs a create, by the rate of the same create
// without one, in turn. Exits 1 beyond twice the goal's distance from 1.

import { readArguments } from "../../tools/script-arguments.ts";
import { startRedis } from "../support/redis/redis.ts";
import { lengthOf, machine, median, printTable, ratiosOf, spread } from "./figures.ts";
import { sendLoad } from "./load.ts";
import { startServer } from "./processes.ts";
import type { Plane } from "./stage.ts";
import { bookText } from "./subjects.ts";

const connections = 16;
const goal = 0.9;
const slack = 2;

export async function measureUnique(args: readonly string[]): Promise<void> {
  readArguments({}, [], args);
  const { rounds, seconds } = lengthOf({ rounds: 5, seconds: 3 });
  console.log(`${rounds} rounds of ${seconds} s (${machine()})\n`);
  const redis = await startRedis();
  const server = await startServer<Plane>("plane-server.ts", [redis.url]);
  try {
    const { base, admin } = server.says;
    const headers = { authorization: `apikey ${admin}`, "content-type": "application/json" };
    const body = bookText(1).replace(/"title":"[^"]*"/, '"title":"Book #"');
    const rateOf = async (resource: string): Promise<number> => {
      const request = { url: `${base}/api/${resource}`, method: "POST", headers, body };
      return (await sendLoad(request, { connections, seconds })).perSecond;
    };
    const [ruled, plain]: [number[], number[]] = [[], []];
    for (let round = -1; round < rounds; round += 1) {
      const rates = [await rateOf("books"), await rateOf("distinct")] as const;
      // The first round warms up.
      if (round < 0) continue;
      plain.push(rates[0]);
      ruled.push(rates[1]);
    }
    const ratios = ratiosOf(ruled, plain);
    printTable(
      ["what", "measured", "goal"],
      [["create with a unique field, of the rate without", spread(ratios), `≥ ${goal}`]],
    );
    process.exitCode = 1 - median(ratios) > (1 - goal) * slack ? 1 : 0;
  } finally {
    await server.stop();
    await redis.stop();
  }
}
