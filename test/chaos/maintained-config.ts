// Plays the operator where none is needed: publishes the project through the real publisher,
// withdraws nothing, looks every second whether Redis still has it, and publishes again when it was
// lost, as the operator's maintenance does.

import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../core/clock.ts";
import type { Keyring } from "../../core/config/keyring.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { createPublisher, type Publisher } from "../../operator/publish/publisher.ts";
import { openRedisClient, rememberedStore } from "../support/fleet/publishing.ts";
import { changed, type Modifier } from "../support/http/projects.ts";
import { eventually } from "../support/time/eventually.ts";

export interface MaintainedConfig {
  readonly redisClient: RedisClient;
  readonly publisher: Publisher;
  parts(): CompiledProject;
  /** Publishes a change, again and again until Redis has it. Returns its revision. */
  change(...modifiers: readonly Modifier[]): Promise<number>;
  /** Work of the publisher that is repeated until it succeeds, as the operator does. */
  insist<T>(work: (publisher: Publisher) => Promise<T>): Promise<T>;
  /** From now on nobody looks after Redis, until `resume`. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

const lookEvery = 1_000;
const patience = { withinMs: 40_000, everyMs: 200 };

/** `beside`: projects that are published with it and stay as they are. */
export async function maintainConfig(
  url: string,
  keyring: Keyring,
  first: CompiledProject,
  beside: readonly CompiledProject[] = [],
): Promise<MaintainedConfig> {
  const redisClient = await openRedisClient(url);
  const publisher = createPublisher({
    redisClient,
    keyring,
    clock: systemClock,
    owner: "chaos",
    store: rememberedStore("Serve"),
  });
  let parts = first;
  let paused = false;
  let stopped = false;
  let turn: Promise<unknown> = Promise.resolve();

  /** One at a time, like the reconciles of one project. */
  const withPermit = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work, work);
    turn = mine.catch(() => undefined);
    return mine;
  };
  const everything = async (): Promise<number> => {
    if (!publisher.isWriter()) await publisher.begin();
    for (const other of beside) await publisher.publish(other);
    const { revision } = await publisher.publish(parts);
    await publisher.complete();
    return revision;
  };
  const look = async (): Promise<void> => {
    if (!publisher.isWriter() || (await publisher.verify()) === "lost") await everything();
  };
  await everything();
  const looking = (async () => {
    while (!stopped) {
      await sleep(lookEvery);
      if (!paused && !stopped) await withPermit(look).catch(() => undefined);
    }
  })();

  return {
    redisClient,
    publisher,
    parts: () => parts,
    async change(...modifiers) {
      parts = changed(parts, ...modifiers);
      return await eventually(() => withPermit(everything), patience);
    },
    insist: (work) =>
      eventually(
        () =>
          withPermit(async () => {
            if (!publisher.isWriter()) await everything();
            return await work(publisher);
          }),
        patience,
      ),
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
    },
    async stop() {
      stopped = true;
      await looking;
      redisClient.disconnect();
    },
  };
}
