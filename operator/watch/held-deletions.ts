// Stands between the watch of one kind and its sink: a deletion is passed on only once the API server has said, when asked
// after the deletion arrived, that the kind's CustomResourceDefinition stands. Objects that went with their definition are held: they
// stay as they were last, until objects of their names are there again, or a person confirms their deletion.

import type { ProjectRef } from "../../core/config/types.ts";
import type { Kind } from "../../core/manifests/object.ts";
import type { Timers } from "../../core/timers.ts";
import type { KubeObject } from "../kube/api.ts";
import { type DefinitionAnswer, DefinitionLooks } from "./definition-looks.ts";
import type { LookAtDefinition } from "./definitions.ts";
import { asItWas, type Deletion, isLeaving, isNewsOf, type News, wentWithDefinition, withLater } from "./deletion.ts";
import { keyOf } from "./object-cache.ts";
import { customResource, projectRefOf } from "./project-index.ts";
import type { WatchSink } from "./watched.ts";

/** What is held of one kind. */
export interface HeldKind {
  readonly kind: Kind;
  /** UID of the definition that the objects went with; where none was ever seen, that of the object that was held first. */
  readonly definition: string;
  /** Of each object, the Project that it belongs to, or is. */
  readonly projects: readonly ProjectRef[];
}

export interface HeldDeletionsOptions {
  readonly kind: Kind;
  readonly look: LookAtDefinition;
  readonly sink: WatchSink;
  readonly timers: Timers;
  readonly onLookFailed: (error: unknown) => void;
}

export class HeldDeletions implements WatchSink {
  readonly #options: HeldDeletionsOptions;
  readonly #looks: DefinitionLooks;
  readonly #deletions = new Map<string, Deletion>();
  /** What is held is named by it. */
  #lost: string | undefined;

  constructor(options: HeldDeletionsOptions) {
    this.#options = options;
    this.#looks = new DefinitionLooks({ ...options, onAnswer: (answer) => this.#decide(answer) });
  }

  upserted(object: KubeObject, before: KubeObject | undefined, listed: boolean): void {
    this.#take({ what: "upserted", object, before, listed });
  }

  removed(before: KubeObject, listed: boolean): void {
    this.#take({ what: "removed", object: before, listed });
  }

  /** Undefined while nothing is held. */
  held(): HeldKind | undefined {
    const held = this.#held();
    if (held.length === 0) return undefined;
    const { kind } = this.#options;
    const projects = held.map(({ shown }) => projectRefOf(customResource(kind, shown)));
    return { kind, definition: this.#lost ?? "", projects };
  }

  isHeld(namespace: string, name: string): boolean {
    return this.#deletions.get(`${namespace}/${name}`)?.isHeld === true;
  }

  /** Its deletion was seen and not passed on: it is held, or waits for a look. */
  isKept(namespace: string, name: string): boolean {
    return this.#deletions.has(`${namespace}/${name}`);
  }

  /** Looks at the definition, in order to know a later one from it. */
  learn(): void {
    this.#looks.ask();
  }

  /**
   * Resolves once every deletion that arrived before this call was passed on, or is held; or nobody can say, because the right to look was
   * taken away. Rejects when the signal is aborted.
   */
  async settled(signal: AbortSignal): Promise<void> {
    const asked = this.#looks.asked();
    const isWaiting = (): boolean =>
      [...this.#deletions.values()].some((deletion) => !deletion.isHeld && deletion.asked <= asked);
    while (isWaiting()) {
      if ((await this.#looks.nextAnswer(signal)) === "refused") return;
    }
  }

  /** UID of the definition that stood at the last look; undefined when none did. */
  standing(): string | undefined {
    return this.#looks.standing();
  }

  /** Asks until it is answered; false where the right to look was taken away. Rejects when the signal is aborted. */
  async isDefinitionGone(signal: AbortSignal): Promise<boolean> {
    const asked = this.#looks.ask();
    for (;;) {
      const answer = await this.#looks.nextAnswer(signal);
      if (answer === "refused") return false;
      if (answer.asked >= asked) return answer.state.what === "gone";
    }
  }

  /** Takes all that is held for deleted. */
  release(): void {
    for (const deletion of this.#held()) this.#passOn(deletion);
    this.learn();
  }

  stop(): void {
    this.#looks.stop();
  }

  // ---------------------------------------------------------------------------------------------------------------- inside

  #held(): readonly Deletion[] {
    return [...this.#deletions.values()].filter(({ isHeld }) => isHeld);
  }

  /** `asked` = it was asked for before, with this number. */
  #take(news: News, asked?: number): void {
    const { what, object } = news;
    const deletion = this.#deletions.get(keyOf(object));
    if (deletion === undefined) this.#takeOther(news, asked);
    else if (isNewsOf(deletion, object)) this.#update({ ...deletion, live: what === "removed" ? undefined : object });
    else if (deletion.isHeld) this.#succeed(deletion, news);
    // It is neither shown nor takes anything over before it is known what became of the one before it.
    else this.#deletions.set(keyOf(object), withLater(deletion, { ...news, asked: asked ?? this.#looks.ask() }));
  }

  /** Nothing of its name is held, or waits. */
  #takeOther(news: News, asked: number | undefined): void {
    const { sink } = this.#options;
    const { what, object, listed } = news;
    const putOff = (shown: KubeObject, live: KubeObject | undefined): void => {
      this.#deletions.set(keyOf(shown), { shown, live, isHeld: false, asked: asked ?? this.#looks.ask(), later: [] });
    };
    if (what === "removed") {
      // Of one on its way out, the deletion was passed on when it began.
      if (isLeaving(object)) sink.removed(object, listed);
      else putOff(object, undefined);
      return;
    }
    const { before } = news;
    if (!isLeaving(object) || (before !== undefined && isLeaving(before))) {
      sink.upserted(object, before, listed);
      return;
    }
    const shown = before ?? asItWas(object, object);
    if (before === undefined) sink.upserted(shown, undefined, listed);
    putOff(shown, object);
  }

  #update(deletion: Deletion): void {
    if (deletion.isHeld) this.#hold(deletion);
    else this.#deletions.set(keyOf(deletion.shown), deletion);
  }

  /** Made anew under its name. What is held was not deleted, and is succeeded to. */
  #succeed({ shown }: Deletion, { object, listed }: News): void {
    const { kind, sink } = this.#options;
    this.#deletions.delete(keyOf(object));
    const [was, is] = [shown, object].map((each) => projectRefOf(customResource(kind, each)).name);
    if (was !== is) sink.removed(shown, listed);
    this.#take({ what: "upserted", object, before: undefined, listed });
    this.learn();
  }

  #hold(deletion: Deletion): void {
    const { shown, live } = deletion;
    const next = asItWas(shown, live);
    this.#deletions.set(keyOf(shown), { ...deletion, shown: next, isHeld: true, later: [] });
    this.#options.sink.upserted(next, shown, false);
  }

  #passOn({ shown, live }: Deletion): void {
    this.#deletions.delete(keyOf(shown));
    if (live === undefined) this.#options.sink.removed(shown, false);
    else this.#options.sink.upserted(live, shown, false);
  }

  #decide(answer: DefinitionAnswer): void {
    const lost = answer.state.what === "terminating" ? answer.state.uid : answer.former;
    if (this.#held().length === 0) this.#lost = undefined;
    // Also those that come up meanwhile, of what is delivered again.
    for (const deletion of this.#deletions.values()) {
      // What was delivered during the look waits for the next one: the answer may be older than it.
      if (deletion.isHeld || deletion.asked > answer.asked) continue;
      if (wentWithDefinition(deletion, answer)) {
        this.#lost ??= lost ?? deletion.shown.metadata.uid;
        this.#hold(deletion);
      } else this.#passOn(deletion);
      for (const news of deletion.later) this.#take(news, news.asked);
    }
  }
}
