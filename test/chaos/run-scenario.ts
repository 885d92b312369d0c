// Plays one scenario: fills the world, lets clients go, makes trouble, waits until everything works
// again by itself, reads everything back through every replica, and has the history checked, each
// second and at the end.

import { setTimeout as sleep } from "node:timers/promises";
import { apikey } from "../support/http/projects.ts";
import { expectIndexesExact } from "../support/redis/check-integrity.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { eventually } from "../support/time/eventually.ts";
import { type Asker, createAsker, type Target } from "./ask.ts";
import { revocationLimit } from "./check/access.ts";
import { checkHistory } from "./check/check-history.ts";
import type { ClientDeps } from "./clients/client.ts";
import { readEverything } from "./clients/final-reader.ts";
import { runFlooder, runGuesser, runScribbler } from "./clients/flooder.ts";
import { type Acknowledged, repeatAll, runRepeater } from "./clients/repeater.ts";
import { runSessions, runVictim, type SessionsKept, tryEverywhere } from "./clients/sessions.ts";
import { Subscriber, sources } from "./clients/subscriber.ts";
import { fillShelf, runMover, runWalker } from "./clients/walker.ts";
import { type KnownObject, runOwner, runWriter } from "./clients/writer.ts";
import { declareShop } from "./fleet-world.ts";
import { History } from "./history.ts";
import { isTelling, outcomeOf, type ScenarioOutcome, tried } from "./outcome.ts";
import { base, owners, repeaters, victim, writers } from "./project.ts";
import { createRandom } from "./random.ts";
import type { Scenario } from "./scenario.ts";
import { openWorld, publishShop, type World } from "./world.ts";

export interface RunOptions {
  readonly seed: number;
  readonly seconds: number;
  /**
   * By how much every time limit is multiplied, 1 by default. What docs/chaos.md promises in
   * seconds holds on a machine that does nothing else; a test holds on any.
   */
  readonly slack?: number;
}

/** Trouble is over: how long it may take until everything works without anybody's help. */
const recoveryLimit = 20_000;
/** Between Redis' acknowledgement and the client's. */
const underWay = 300;
/** After the last write: a replica that misses every hint looks into a log every five seconds. */
const toldLimit = 15_000;
/** Until then, positions in a log are never too old within a run. */
const entriesOfRun = 50_000;
/** Before and after the trouble; less around a short one. */
const calm = 1_500;
/** How long a busy machine may take until enough was tried for a run to show something. */
const slowestMs = 60_000;

export async function runScenario(scenario: Scenario, options: RunOptions): Promise<ScenarioOutcome> {
  const { seed, seconds, slack = 1 } = options;
  const history = new History();
  const asker = createAsker(history, slack);
  const world = await openWorld(scenario.plan, scenario.plan.fleet ? declareShop : publishShop);
  try {
    const run = new Run({ scenario, history, asker, world, seed, seconds, slack });
    const recoveredMs = await run.play();
    const errors = world.replicas.flatMap((replica) => errorsIn(replica.log()));
    return outcomeOf({ scenario, seed, seconds, entries: history.entries, recoveredMs, errors }, slack);
  } finally {
    asker.close();
    await world.stop();
  }
}

/** Lines of a replica's log, since it was started last. */
function errorsIn(log: string): readonly string[] {
  return log.split("\n").filter((line) => line.includes('"level":"error"'));
}

interface RunParts extends Required<RunOptions> {
  readonly scenario: Scenario;
  readonly history: History;
  readonly asker: Asker;
  readonly world: World;
}

class Run {
  readonly #parts: RunParts;
  readonly #kept: SessionsKept = { ended: new Map(), unfinished: [] };
  readonly #acknowledged: Acknowledged[] = [];
  #stopped = false;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  /** Milliseconds that it took to work again. */
  async play(): Promise<number> {
    const { history, scenario } = this.#parts;
    const sessionClients = Array.from({ length: scenario.plan.sessionClients ?? 1 }, (_, at) => `sessions ${at + 1}`);
    const fixed = await fillShelf(this.#deps("shelf"));
    const known: KnownObject[] = [];
    const clients = [
      ...writers.map((name) => runWriter(name, known, this.#deps(name))),
      ...repeaters.map((name) => runRepeater(name, this.#acknowledged, this.#deps(name))),
      runWalker(fixed, this.#deps("walker")),
      runMover(fixed, this.#deps("mover")),
      ...sessionClients.map((name) => runSessions(name, this.#kept, this.#deps(name))),
      runVictim(this.#deps("victim")),
      ...(scenario.plan.follows ? owners.map((name) => runOwner(name, this.#owner(name))) : []),
      ...(scenario.plan.limits ? this.#limitedClients() : []),
      this.#probe(),
      this.#endAtViolation(),
    ];
    const subscribers = this.#subscribers();
    const following = subscribers.map((each) => each.run());
    let recoveredMs = Number.NaN;
    try {
      await sleep(this.#calm());
      await Promise.all([this.#trouble(), this.#revokeVictim()]);
      recoveredMs = await this.#recovered();
      if (!this.#stopped) await sleep(this.#calm());
      await this.#enough();
    } catch (error) {
      history.unexpected(`The scenario itself failed: ${error instanceof Error ? error.stack : String(error)}`);
    }
    this.#stopped = true;
    await Promise.all(clients);
    if (!Number.isNaN(recoveredMs)) {
      await Promise.all(subscribers.map((each) => each.settle()));
      await this.#lookThrough();
    }
    for (const each of subscribers) each.stop();
    await Promise.all(following);
    return recoveredMs;
  }

  #owner(name: string): ClientDeps {
    const deps = this.#deps(name);
    return { ...deps, credentials: { ...deps.credentials, worker: apikey(name) } };
  }

  #subscribers(): readonly Subscriber[] {
    const { follows } = this.#parts.scenario.plan;
    if (follows === undefined) return [];
    const isTrimmed = follows.maxEntries < entriesOfRun;
    const withinMs = toldLimit * this.#parts.slack;
    return sources.map((source) => new Subscriber(source, { ...this.#deps(source.name), isTrimmed, withinMs }));
  }

  #limitedClients(): readonly Promise<void>[] {
    return [
      runFlooder(this.#deps("flooder")),
      runGuesser(this.#deps("guesser")),
      runScribbler(this.#deps("scribbler")),
    ];
  }

  #calm(): number {
    return Math.min(calm, this.#parts.seconds * 150);
  }

  /** Lets clients go on until so much was tried that the run shows something. */
  async #enough(): Promise<void> {
    const { history } = this.#parts;
    const end = history.now() + slowestMs;
    while (!this.#stopped && history.now() < end && !isTelling(tried(history.entries))) await sleep(100);
  }

  #deps(name: string): ClientDeps {
    const { history, asker, seed, world, scenario } = this.#parts;
    const random = createRandom(seed, `${scenario.name} ${name}`);
    const replicas = (): readonly Target[] => world.replicas;
    const clocksJump = scenario.plan.shiftedClocks ?? false;
    const { credentials } = world;
    const { ends } = scenario.plan;
    return { history, asker, random, replicas, credentials, stopped: () => this.#stopped, clocksJump, ends };
  }

  async #trouble(): Promise<void> {
    const { scenario, world, history, asker, seed, seconds } = this.#parts;
    const random = createRandom(seed, scenario.name);
    const end = history.now() + seconds * 1_000;
    const left = (): number => Math.max(0, end - history.now());
    const pause = (from: number, to = from): Promise<void> => sleep(from + random.fraction() * (to - from));
    await scenario.run({
      world,
      history,
      random,
      asker,
      seconds,
      left,
      pause,
      mayLose: (from) => history.add({ kind: "loss", from, to: history.now() + underWay }),
      tries: (credential, as) => tryEverywhere(this.#deps("stage"), credential, as),
      revokes: (credential, withdraw) => this.#revoke(credential, withdraw),
    });
  }

  async #revoke(credential: string, withdraw: () => Promise<unknown>): Promise<void> {
    const revoking = this.#parts.history.beginRevoking(credential);
    await withdraw();
    revoking.end();
  }

  /** In the middle of the trouble, whatever it is. */
  async #revokeVictim(): Promise<void> {
    const { world, seconds, seed } = this.#parts;
    await sleep(seconds * 1_000 * (0.2 + 0.5 * createRandom(seed, "victim's end").fraction()));
    await this.#revoke(victim, () => world.withdrawVictim());
  }

  async #probe(): Promise<void> {
    const { history, world } = this.#parts;
    while (!this.#stopped) {
      for (const replica of world.replicas) {
        const status = await replica.ready();
        const ready = status === undefined ? undefined : status === 200;
        history.add({ kind: "probe", replica: replica.name, at: history.now(), ready });
      }
      await sleep(100);
    }
  }

  /** Ends the run at the first thing that must not be. */
  async #endAtViolation(): Promise<void> {
    while (!this.#stopped) {
      await sleep(1_000);
      if (checkHistory(this.#parts.history.entries, this.#parts.slack).violations.length > 0) this.#stopped = true;
    }
  }

  async #recovered(): Promise<number> {
    const { history, world } = this.#parts;
    const from = history.now();
    history.fault("mended");
    await eventually(
      async () => {
        if (this.#stopped) return;
        for (const replica of world.replicas) {
          const status = await replica.ready();
          if (status !== 200)
            throw new Error(`${replica.name} is not ready: ${status}\n${replica.log().slice(-2_000)}`);
          await this.#works(replica);
        }
      },
      { withinMs: recoveryLimit * this.#parts.slack, everyMs: 50 },
    );
    return this.#stopped ? Number.NaN : history.now() - from;
  }

  async #works(replica: Target): Promise<void> {
    const { world } = this.#parts;
    const path = `${base}/api/shelf`;
    const { status, text } = await this.#parts.asker.ask(replica, {
      method: "POST",
      path,
      as: world.credentials.worker,
      body: { rank: 9_999 },
    });
    if (status !== 201) throw new Error(`${replica.name} doesn't write: ${status} ${text}`);
  }

  async #lookThrough(): Promise<void> {
    const { history, world } = this.#parts;
    const deps = this.#deps("reader");
    await repeatAll(this.#acknowledged, deps);
    for (const replica of world.replicas) await readEverything(deps, replica);
    await this.#revokedStayOut();
    await this.#indexesEqualDocuments().catch((error: unknown) =>
      history.unexpected(`Indexes and documents differ: ${error}`),
    );
  }

  async #revokedStayOut(): Promise<void> {
    const { history, world, asker } = this.#parts;
    // Everything works again: what was asked for while nothing could be written has to take place
    // now.
    for (const { credential, as, revoking } of this.#kept.unfinished) {
      revoking.end();
      this.#kept.ended.set(credential, as);
    }
    const all = [...this.#kept.ended, [victim, world.credentials.victim] as const];
    const until = history.now() + revocationLimit * this.#parts.slack;
    for (const [credential, as] of all) {
      for (const replica of world.replicas) {
        for (;;) {
          const { status, from, to } = await asker.ask(replica, { path: `${base}/api/items?_limit=1`, as });
          const admitted = status === 200;
          history.add({ kind: "access", credential, replica: replica.name, admitted, from, to });
          if (status === 401 || history.now() > until) break;
          await sleep(100);
        }
      }
    }
  }

  async #indexesEqualDocuments(): Promise<void> {
    const { world } = this.#parts;
    const store = await openRedisStore({ url: world.redis.url });
    try {
      for (const [resource, names] of [
        ["items", ["worker", ...owners].map((name) => `apikey:${name}`)],
        ["shelf", []],
      ] as const) {
        const project = { namespace: "default", name: "shop" };
        await eventually(
          async () => {
            const building = (await store.indexes({ project, resource })).filter(({ state }) => state !== "ready");
            if (building.length > 0) throw new Error(`Still building: ${JSON.stringify(building)}`);
          },
          { withinMs: recoveryLimit * this.#parts.slack },
        );
        await expectIndexesExact(store, { project, resource }, names);
      }
    } finally {
      await store.close();
    }
  }
}
