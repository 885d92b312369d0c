// Stands between the watch of one kind and its sink: a deletion is passed on only once the API server has answered, when asked
// after the deletion arrived, that the kind's CustomResourceDefinition is there. Objects that went with their definition are held: they
// stay as they were last, until objects of their names are there again, or a person confirms their deletion.

import type { ProjectRef } from "../../core/config/types.ts";
import type { Kind } from "../../core/manifests/object.ts";
import type { Timers } from "../../core/timers.ts";
import type { KubeObject } from "../kube/api.ts";
import { isDeleting, projectRefOf } from "../model/project-objects.ts";
import { type DefinitionAnswer, DefinitionReader, type ReadDefinition } from "./definitions.ts";
import {
  type Deletion,
  isChangeOf,
  type ObjectChange,
  wentWithDefinition,
  withLater,
  withoutDeletion,
} from "./deletion.ts";
import { keyOf } from "./object-cache.ts";
import { customResource } from "./project-index.ts";
import type { WatchSink } from "./watched.ts";

/** What is held of one kind, since one of its definitions went. */
export interface HeldKind {
  readonly kind: Kind;
  /** UID of the definition that the objects went with; where none was ever seen, that of the object that was held first. */
  readonly definition: string;
  /** For each object, the Project that it belongs to, or is. */
  readonly projects: readonly ProjectRef[];
}

export interface HeldDeletionsOptions {
  readonly kind: Kind;
  readonly read: ReadDefinition;
  readonly sink: WatchSink;
  readonly timers: Timers;
  readonly onReadFailed: (error: unknown) => void;
}

export class HeldDeletions implements WatchSink {
  readonly #options: HeldDeletionsOptions;
  readonly #definition: DefinitionReader;
  readonly #deletions = new Map<string, Deletion>();
  /** Stands for the UID of a definition that nobody has seen. */
  #unseenDefinition: string | undefined;

  constructor(options: HeldDeletionsOptions) {
    this.#options = options;
    this.#definition = new DefinitionReader({ ...options, onAnswer: (answer) => this.#decide(answer) });
  }

  upserted(object: KubeObject, before: KubeObject | undefined, listed: boolean): void {
    this.#apply({ what: "upserted", object, before, listed });
  }

  removed(before: KubeObject, listed: boolean): void {
    this.#apply({ what: "removed", object: before, listed });
  }

  /** By the definitions that went; none while nothing is held. */
  held(): readonly HeldKind[] {
    const { kind } = this.#options;
    const byDefinition = Map.groupBy(this.#heldObjects(), ({ definition = "" }) => definition);
    return [...byDefinition].map(([definition, objects]) => ({
      kind,
      definition,
      projects: objects.map(({ reported }) => projectRefOf(customResource(kind, reported))),
    }));
  }

  isHeld(namespace: string, name: string): boolean {
    return this.#deletions.get(`${namespace}/${name}`)?.isHeld === true;
  }

  /** Its deletion was seen and not passed on: the object is held, or waits until the definition was read. */
  isDeletionPending(namespace: string, name: string): boolean {
    return this.#deletions.has(`${namespace}/${name}`);
  }

  /** Reads the definition, in order to know a later one from it. */
  refresh(): void {
    this.#definition.ask();
  }

  /**
   * Resolves once every deletion that arrived before this call was passed on or is held, or can't be decided because the right to read
   * definitions was removed. Rejects when the signal is aborted.
   */
  async waitUntilDecided(signal: AbortSignal): Promise<void> {
    const asked = this.#definition.asked();
    const isWaiting = (): boolean =>
      [...this.#deletions.values()].some((deletion) => !deletion.isHeld && deletion.asked <= asked);
    while (isWaiting()) {
      if ((await this.#definition.nextAnswer(signal)) === "refused") return;
    }
  }

  /** UID of the definition that was there at the last reading; undefined when none was. */
  currentDefinition(): string | undefined {
    return this.#definition.currentUid();
  }

  /** Asks until it is answered; false where the right to read it was taken away. Rejects when the signal is aborted. */
  async isDefinitionGone(signal: AbortSignal): Promise<boolean> {
    const asked = this.#definition.ask();
    for (;;) {
      const answer = await this.#definition.nextAnswer(signal);
      if (answer === "refused") return false;
      if (answer.asked >= asked) return answer.state.what === "gone";
    }
  }

  /** Passes on the deletions of the objects that went with this definition. */
  release(definition: string): void {
    for (const deletion of this.#heldObjects()) if (deletion.definition === definition) this.#passOn(deletion);
    this.refresh();
  }

  stop(): void {
    this.#definition.stop();
  }

  #heldObjects(): readonly Deletion[] {
    return [...this.#deletions.values()].filter(({ isHeld }) => isHeld);
  }

  /** `asked` = the number of the definition reading that was requested for this change before. */
  #apply(change: ObjectChange, asked?: number): void {
    const { what, object } = change;
    const deletion = this.#deletions.get(keyOf(object));
    if (deletion === undefined) this.#applyUnheld(change, asked);
    else if (isChangeOf(deletion, object))
      this.#update({ ...deletion, actual: what === "removed" ? undefined : object });
    else if (deletion.isHeld) this.#replaceHeld(deletion, change);
    // A successor waits until it is decided what became of the object before it.
    else this.#deletions.set(keyOf(object), withLater(deletion, { ...change, asked: asked ?? this.#definition.ask() }));
  }

  /** Applies a change of a name under which no deletion is held or waits. */
  #applyUnheld(change: ObjectChange, asked: number | undefined): void {
    const { sink } = this.#options;
    const { what, object, listed } = change;
    const defer = (reported: KubeObject, actual: KubeObject | undefined): void => {
      this.#deletions.set(keyOf(reported), {
        reported,
        actual,
        isHeld: false,
        asked: asked ?? this.#definition.ask(),
        later: [],
      });
    };
    if (what === "removed") {
      // The deletion of a terminating object was passed on when it began.
      if (isDeleting(object)) sink.removed(object, listed);
      else defer(object, undefined);
      return;
    }
    const { before } = change;
    if (!isDeleting(object) || (before !== undefined && isDeleting(before))) {
      sink.upserted(object, before, listed);
      return;
    }
    const shown = before ?? withoutDeletion(object, object);
    if (before === undefined) sink.upserted(shown, undefined, listed);
    defer(shown, object);
  }

  #update(deletion: Deletion): void {
    if (deletion.isHeld) this.#hold(deletion);
    else this.#deletions.set(keyOf(deletion.reported), deletion);
  }

  /** The object was recreated under its name: the held one is not deleted, but replaced. */
  #replaceHeld({ reported }: Deletion, { object, listed }: ObjectChange): void {
    const { kind, sink } = this.#options;
    this.#deletions.delete(keyOf(object));
    const [was, is] = [reported, object].map((each) => projectRefOf(customResource(kind, each)).name);
    if (was !== is) sink.removed(reported, listed);
    this.#apply({ what: "upserted", object, before: undefined, listed });
    this.refresh();
  }

  #hold(deletion: Deletion): void {
    const { reported, actual } = deletion;
    const next = withoutDeletion(reported, actual);
    this.#deletions.set(keyOf(reported), { ...deletion, reported: next, isHeld: true, later: [] });
    this.#options.sink.upserted(next, reported, false);
  }

  /** The same for all that is held at a time. */
  #unseenDefinitionOf({ reported }: Deletion): string {
    const isInUse = this.#heldObjects().some(({ definition }) => definition === this.#unseenDefinition);
    if (!isInUse) this.#unseenDefinition = undefined;
    this.#unseenDefinition ??= reported.metadata.uid;
    return this.#unseenDefinition;
  }

  #passOn({ reported, actual }: Deletion): void {
    this.#deletions.delete(keyOf(reported));
    if (actual === undefined) this.#options.sink.removed(reported, false);
    else this.#options.sink.upserted(actual, reported, false);
  }

  #decide(answer: DefinitionAnswer): void {
    const lost = answer.state.what === "terminating" ? answer.state.uid : answer.former;
    // Also those that come up meanwhile, of what is delivered again.
    for (const deletion of this.#deletions.values()) {
      // What was delivered during the reading waits for the next one: the answer may be older than it.
      if (deletion.isHeld || deletion.asked > answer.asked) continue;
      if (wentWithDefinition(deletion, answer)) {
        this.#hold({ ...deletion, definition: lost ?? this.#unseenDefinitionOf(deletion) });
      } else this.#passOn(deletion);
      for (const change of deletion.later) this.#apply(change, change.asked);
    }
  }
}
