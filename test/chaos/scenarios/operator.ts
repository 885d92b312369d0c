// An operator that is not there while people go on declaring things, and one that comes to lead
// without having heard of them.

import { declared } from "../../support/kubernetes/declared.ts";
import { eventually } from "../../support/time/eventually.ts";
import { base } from "../project.ts";
import { oneServer } from "../redis-deployments.ts";
import type { Scenario } from "../scenario.ts";

const hour = 3_600_000;

export const operatorDown: Scenario = {
  name: "operator-down",
  does: "a real operator is killed; sixty edits, as of one hour, are made within seconds; the replicas' wall clocks are set an hour ahead; a replica is killed and starts from Redis alone; then an operator starts",
  plan: { redis: oneServer("everysec"), fleet: true, shiftedClocks: true },
  seconds: 10,
  async run({ world, history, random, pause }) {
    const { fleet } = world;
    if (fleet === undefined) throw new Error("This scenario is for a fleet");
    const { tenant } = fleet;
    await pause(500, 1_500);
    history.fault("kill -9 of the operator");
    await fleet.killOperator();
    for (let edit = 1; edit <= 60; edit += 1) {
      const indexes = random.pick([["n"], ["key", "n"], ["key"]]);
      const description = `edit ${edit}`;
      if (edit % 3 === 0) await tenant.edit("ApiResource", "items", { indexes });
      else if (edit % 3 === 1) await tenant.create(declared("RootKey", `made-${edit}`, { initialValue: edit }));
      else await tenant.edit("ApiKey", "worker", { description });
      await pause(0, 50);
    }
    await tenant.edit("ApiResource", "items", { indexes: ["key", "n"] });
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

/** Until a key that was withdrawn has to be refused everywhere, with some to spare. */
const settledMs = 10_500;

export const staleLeader: Scenario = {
  name: "stale-leader",
  does: "a real operator stands by with connections to the API server that pass nothing any more, as after a firewall dropped them. A key is revoked, the leader is killed, and the standby becomes the leader; again and again, each time with a new standby",
  plan: { redis: oneServer("everysec"), fleet: true },
  seconds: 20,
  async run({ world, history, left, pause, tries, revokes }) {
    const { fleet } = world;
    if (fleet === undefined) throw new Error("This scenario is for a fleet");
    const revoked = new Map<string, string>();
    const letIn = async (as: string): Promise<readonly string[]> => {
      const names = await Promise.all(
        world.replicas.map(async ({ name, origin }) => {
          const { status } = await fetch(`${origin}${base}/api/items?_limit=1`, { headers: { authorization: as } });
          return status === 200 ? [name] : [];
        }),
      );
      return names.flat();
    };
    const tryRevoked = async (): Promise<void> => {
      for (const [name, as] of revoked) {
        await tries(name, as);
        for (const replica of await letIn(as))
          history.unexpected(`${replica} let ${name} in again, which it had refused`);
      }
    };
    do {
      const name = `lent-${revoked.size + 1}`;
      const standby = await fleet.addStandby();
      const as = await fleet.makeKey(name);
      await tries(name, as);
      // The standby hears of the key, and of nothing afterwards.
      await pause(500, 1_000);
      history.fault("a standby goes deaf");
      standby.goDeaf();
      await revokes(name, () => fleet.withdrawKey(name));
      await eventually(
        async () => {
          if ((await letIn(as)).length > 0) throw new Error(`${name} is not refused everywhere`);
        },
        { withinMs: 60_000, everyMs: 50 },
      );
      revoked.set(name, as);
      await pause(0, 1_000);
      history.fault("kill -9 of the leader");
      await fleet.killLeader();
      await eventually(
        async () => {
          await tryRevoked();
          if (!(await standby.hasTakenOver())) throw new Error("The deaf standby does not lead");
        },
        { withinMs: 60_000, everyMs: 100 },
      );
    } while (left() > 0);
    await pause(settledMs);
    await tryRevoked();
  },
};
