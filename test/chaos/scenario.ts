// One kind of fault: what it needs, and what it does to the world while clients use it.

import type { Asker } from "./ask.ts";
import type { History } from "./history.ts";
import type { Random } from "./random.ts";
import type { World, WorldPlan } from "./world.ts";

export interface Scenario {
  readonly name: string;
  /** The fault, as it is printed. docs/chaos.md names what must hold. */
  readonly does: string;
  readonly plan: WorldPlan;
  /** How long trouble lasts unless the command says otherwise. */
  readonly seconds: number;
  /** Ends with everything mended. */
  run(stage: Stage): Promise<void>;
}

export interface Stage {
  readonly world: World;
  readonly history: History;
  readonly random: Random;
  readonly asker: Asker;
  /** How long the trouble may last. */
  readonly seconds: number;
  /** Milliseconds until then; never negative. */
  left(): number;
  /**
   * What was acknowledged from then to this moment may be gone, by what the durability promises.
   */
  mayLose(from: number): void;
  /** Tries a credential at every replica. */
  tries(credential: string, as: string): Promise<void>;
  /** Withdraws a credential, and notes when everybody was told: when `withdraw` resolves. */
  revokes(credential: string, withdraw: () => Promise<unknown>): Promise<void>;
  /** Waits; between `from` and `to` milliseconds where both are given, by the seed. */
  pause(from: number, to?: number): Promise<void>;
}

/** This machine or user can't play the scenario. */
export class NotPlayable extends Error {
  override readonly name = "NotPlayable";
}
