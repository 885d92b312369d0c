// Trouble around the configuration that replicas follow: different ages of it, hints that are gone,
// keys that seal it or sign tokens while they are replaced.

import { randomBytes } from "node:crypto";
import { configKeys } from "../../../core/config/config-keys.ts";
import { type Keyring, keyringText, newRingKey } from "../../../core/config/keyring.ts";
import type { SigningKey } from "../../../core/config/types.ts";
import { revocations } from "../../../dataplane/store/redis/keys.ts";
import { apikey, signingKey, withKey, withoutKey, withSigningKeys } from "../../support/http/projects.ts";
import { items, shelf } from "../project.ts";
import { oneServer } from "../redis-deployments.ts";
import type { Scenario } from "../scenario.ts";
import { untilAllReplicas } from "../until-replicas.ts";
import type { WorldReplica } from "../world-replica.ts";

const project = { namespace: "default", name: "shop" };

function hold(replica: WorldReplica, of: RegExp): void {
  if (replica.proxy === undefined) throw new Error(`${replica.name} has no proxy`);
  replica.proxy.hold(of);
}

export const configAge: Scenario = {
  name: "config-age",
  does: "one replica gets no configuration for up to five seconds (only those connections stall), while indexes are declared and dropped and clients write through both replicas",
  plan: { redis: oneServer("none"), proxies: true },
  seconds: 15,
  async run({ world, history, random, left, pause }) {
    while (left() > 0) {
      const replica = random.pick(world.replicas);
      history.fault(`${replica.name} keeps its configuration`);
      hold(replica, /jsonplane-config/);
      for (let change = random.whole(3); change >= 0; change -= 1) {
        await world.config.change(
          random.pick([items("n"), items("key", "n"), items("key")]),
          random.pick([shelf("rank"), shelf(), shelf("rank", "label")]),
        );
        await pause(100, 1_500);
      }
      replica.proxy?.release();
      await pause(300, 1_500);
    }
    await world.config.change(items("key", "n"), shelf("rank"));
  },
};

export const streamTrim: Scenario = {
  name: "stream-trim",
  does: "keys are created and withdrawn, sessions are ended, and the streams of hints are emptied, while a replica can't read them",
  plan: { redis: oneServer("none"), proxies: true },
  seconds: 16,
  async run(stage) {
    const { world, history, random, left, pause } = stage;
    const { redisClient } = world.config;
    const withdrawn: string[] = [];
    let made = 0;
    while (left() > 0) {
      made += 1;
      const name = `short-lived-${made}`;
      const { revision } = { revision: await world.config.change(withKey(name)) };
      await untilAllReplicas(stage, (state) => state.revision >= revision);
      await stage.tries(name, apikey(name));
      const replica = random.pick(world.replicas);
      history.fault(`${replica.name} misses every hint`);
      hold(replica, /jsonplane-(config|ended)/);
      await stage.revokes(name, () => world.config.change(withoutKey(name)));
      withdrawn.push(name);
      await pause(200, 1_500);
      for (const stream of [configKeys.changes, revocations.stream])
        await redisClient.write(stream, "XTRIM", stream, "MAXLEN", "0");
      replica.proxy?.release();
      for (const each of withdrawn) await stage.tries(each, apikey(each));
    }
    // Until the limit of the last one has passed.
    await pause(10_500);
    for (const each of withdrawn) await stage.tries(each, apikey(each));
  },
};

export const ringRotation: Scenario = {
  name: "config-key-rotation",
  does: "the fleet's key ring gets a new key in the operator's steps (append, promote, seal again, remove), a replica is killed between them, and the configuration changes meanwhile",
  plan: { redis: oneServer("none") },
  seconds: 20,
  async run(stage) {
    const { world, history, random } = stage;
    const { config } = world;
    let ring: Keyring = world.keyring;
    const mount = async (next: Keyring): Promise<void> => {
      ring = next;
      await world.mountKeyring(keyringText(next));
    };
    const killOne = async (): Promise<void> => {
      const replica = random.pick(world.replicas);
      history.fault(`kill -9 ${replica.name}`);
      await replica.kill();
      await replica.start();
    };
    do {
      const { names, keys } = ring;
      const key = newRingKey(randomBytes);
      history.fault("another sealing key");
      await mount({ names, keys: [...keys, key] });
      await untilAllReplicas(stage, ({ kids }) => kids.includes(key.kid));
      if (random.fraction() < 0.5) await killOne();
      await mount({ names, keys: [key, ...keys] });
      await config.insist(async (publisher) => publisher.setKeyring(ring));
      await config.change(random.pick([items("n"), items("key", "n")]));
      await config.insist((publisher) => publisher.reseal(project));
      const revision = config.publisher.newest();
      await untilAllReplicas(stage, (state) => state.revision >= revision && state.kids[0] === key.kid);
      await mount({ names, keys: [key] });
      await config.insist(async (publisher) => publisher.setKeyring(ring));
      await killOne();
    } while (stage.left() > 0);
  },
};

/** Sessions of these clients are over by then. */
const lifeOfSessions = 2_500;

export const signingRotation: Scenario = {
  name: "signing-key-rotation",
  does: "the key that signs tokens is replaced again and again (added, signs once every replica has it, the former one is removed), while four clients log in and out, and a replica is sometimes killed",
  plan: { redis: oneServer("none"), sessionClients: 4 },
  seconds: 16,
  async run(stage) {
    const { world, history, random, pause } = stage;
    const { config } = world;
    const publish = async (...keys: readonly SigningKey[]): Promise<void> => {
      const revision = await config.change(withSigningKeys(...keys));
      await untilAllReplicas(stage, (state) => state.revision >= revision);
    };
    while (stage.left() > 0) {
      const [former] = config.parts().signing.keys;
      if (former === undefined) throw new Error("A ring has a key");
      const next = signingKey({ signs: false });
      history.fault("another signing key");
      await publish(former, next);
      await publish({ ...next, signs: true }, { ...former, signs: false });
      if (random.fraction() < 0.5) {
        const replica = random.pick(world.replicas);
        history.fault(`kill -9 ${replica.name}`);
        await replica.kill();
        await replica.start();
      }
      await pause(lifeOfSessions);
      await publish({ ...next, signs: true });
    }
  },
};
