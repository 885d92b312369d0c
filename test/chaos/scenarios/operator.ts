// An operator that is not there while people go on declaring things.

import { declared } from "../../support/kubernetes/declared.ts";
import { eventually } from "../../support/time/eventually.ts";
import { oneServer } from "../places.ts";
import type { Scenario } from "../scenario.ts";

const hour = 3_600_000;

export const operatorDown: Scenario = {
  name: "operator-down",
  does: "a real operator is killed; sixty edits of an hour are made within seconds, the replicas' wall clocks go an hour ahead, a replica is killed and starts from Redis alone; then an operator comes back",
  promises:
    "everything that was published goes on being served meanwhile, logins included; all sixty edits are live afterwards, and a key that was deleted meanwhile is out",
  plan: { redis: oneServer("everysec"), fleet: true, shiftedClocks: true },
  seconds: 10,
  async run({ world, history, random, pause }) {
    const { fleet } = world;
    if (fleet === undefined) throw new Error("This scenario is for a fleet");
    const { place } = fleet;
    await pause(500, 1_500);
    history.fault("kill -9 of the operator");
    await fleet.killOperator();
    for (let edit = 1; edit <= 60; edit += 1) {
      const indexes = random.pick([["n"], ["key", "n"], ["key"]]);
      const description = `edit ${edit}`;
      if (edit % 3 === 0) await place.edit("ApiResource", "items", { indexes });
      else if (edit % 3 === 1) await place.create(declared("RootKey", `made-${edit}`, { initialValue: edit }));
      else await place.edit("ApiKey", "worker", { description });
      await pause(0, 50);
    }
    await place.edit("ApiResource", "items", { indexes: ["key", "n"] });
    history.fault("an hour passes");
    for (const replica of world.replicas) await replica.shiftClock(hour);
    const replica = random.pick(world.replicas);
    history.fault(`kill -9 ${replica.name}`);
    await replica.kill();
    await replica.start();
    await pause(2_000);
    history.fault("an operator starts");
    await fleet.startOperator();
    for (const { name, origin } of world.replicas) {
      await eventually(
        async () => {
          const answer = await fetch(`${origin}/default/shop/json/made-58`);
          const text = await answer.text();
          if (text !== "58") throw new Error(`${name} does not serve the last edit: ${answer.status} ${text}`);
        },
        { withinMs: 60_000, everyMs: 200 },
      );
    }
  },
};
