// Reports objects that were deleted with the CustomResourceDefinition of their kind as held, and treats them as deleted once a person
// confirms that, with the name of the hold on the Secret of the fleet's key ring.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { Kind } from "../../core/manifests/object.ts";
import { wordsIn } from "../kube/annotations.ts";
import { isConflict, type ObjectName } from "../kube/api.ts";
import { customTypes } from "../kube/resource-types.ts";
import type { Publisher } from "../publish/publisher.ts";
import type { EventNote, EventRecorder } from "../record/event-recorder.ts";
import type { Caches } from "../watch/caches.ts";
import { definitionNameOf } from "../watch/definitions.ts";
import type { HeldKind } from "../watch/held-deletions.ts";
import { createReplacedDefinitions, definitionsAnnotation, type ReplacedDefinitions } from "./replaced-definitions.ts";

/** On the Secret of the fleet's key ring: names of the holds that are confirmed, with commas or blanks between them. */
export const confirmAnnotation = "jsonplane.io/confirm-deletion";

export interface HeldObjects extends Pick<ReplacedDefinitions, "begin" | "isReplaced" | "lacks"> {
  /** As of the last look. */
  held(): readonly HeldKind[];
  /** An object of this name counts as there although there is none. */
  countsAsExisting(kind: Kind, namespace: string, name: string): boolean;
  /** To be called every few seconds. */
  look(): Promise<void>;
}

export interface HeldObjectsDeps {
  readonly caches: Pick<Caches, "held" | "isDeletionPending" | "releaseHeld" | "definitionOf" | "index">;
  /** Annotations of the ring's Secret. */
  readonly getAnnotation: (name: string) => Promise<string | undefined>;
  readonly setAnnotation: (name: string, value: string) => Promise<void>;
  readonly publisher: () => Promise<Publisher>;
  /** Called when something of any Project is no longer held. */
  readonly onReleased: () => void;
  /** The operator runs with --adopt-data. */
  readonly adopt: boolean;
  readonly ringSecret: ObjectName;
  readonly recorder: EventRecorder;
  readonly logger: Logger;
}

export function createHeldObjects(deps: HeldObjectsDeps): HeldObjects {
  const { caches, getAnnotation, setAnnotation, publisher, ringSecret, recorder, logger } = deps;
  const replaced = createReplacedDefinitions({
    currentDefinition: caches.definitionOf,
    holding: (kind) =>
      caches
        .held()
        .filter((each) => each.kind === kind)
        .map(({ definition }) => definition),
    adopt: deps.adopt,
    remembered: () => getAnnotation(definitionsAnnotation),
    remember: async (text) => {
      try {
        await setAnnotation(definitionsAnnotation, text);
        return true;
      } catch (error) {
        if (isConflict(error)) return false;
        throw error;
      }
    },
    publisher,
    objectsOf: caches.index.objectsOf,
  });
  const held = (): readonly HeldKind[] => [...caches.held(), ...replaced.held()];
  /** Names of holds, and keys of the Projects that each of them was reported to. */
  const reported = new Map<string, Set<string>>();

  const begin = (name: string, { kind, projects: { length } }: HeldKind): Set<string> => {
    const projects = new Set<string>();
    reported.set(name, projects);
    logger.error("CustomResourceDefinition deleted; its objects are served as they were last", {
      definition: definitionNameOf(kind),
      objects: length,
      advice: `Apply it and its objects again, or ${adviceOf(name, ringSecret)}`,
    });
    return projects;
  };

  const report = (name: string, hold: HeldKind): void => {
    const projects = reported.get(name) ?? begin(name, hold);
    const refs = new Map(hold.projects.map((ref) => [keyOfProject(ref), ref]));
    for (const [key, ref] of refs) {
      const project = projects.has(key) ? undefined : caches.index.projectOf(ref);
      projects.add(key);
      if (project === undefined) continue;
      const subject = { kind: "Project", ...ref, uid: project.metadata.uid } as const;
      recorder.record(subject, noteOf(hold.kind, adviceOf(name, ringSecret)));
    }
  };

  const confirmOrReport = async (name: string, hold: HeldKind, names: ReadonlySet<string>): Promise<void> => {
    if (!names.has(name)) {
      report(name, hold);
      return;
    }
    caches.releaseHeld(hold.kind, hold.definition);
    await replaced.release(hold.kind, hold.definition);
    deps.onReleased();
    logger.warn("Deletion confirmed", { definition: definitionNameOf(hold.kind), objects: hold.projects.length });
  };

  return {
    begin: replaced.begin,
    isReplaced: replaced.isReplaced,
    lacks: replaced.lacks,
    held,
    countsAsExisting: (kind, namespace, name) =>
      caches.isDeletionPending(kind, namespace, name) || replaced.isReplaced(kind),
    async look() {
      await replaced.look();
      const holds = new Map(held().map((hold) => [holdNameOf(hold), hold]));
      for (const name of reported.keys()) if (!holds.has(name)) reported.delete(name);
      if (holds.size === 0) return;
      const names = new Set(wordsIn(await getAnnotation(confirmAnnotation)));
      for (const [name, hold] of holds) await confirmOrReport(name, hold, names);
    },
  };
}

/** Names one definition, so that a confirmation that stays in Git confirms no later deletion. */
function holdNameOf({ kind, definition }: HeldKind): string {
  return `${customTypes[kind].plural}-${definition.slice(0, 8)}`;
}

function noteOf(kind: Kind, advice: string): EventNote {
  const what = kind === "Project" ? "the Project" : `${kind}s of the Project`;
  const note = `The CustomResourceDefinition ${definitionNameOf(kind)} was deleted, and ${what} with it: served as before, keys and data are kept. Apply what was deleted again, or ${advice}`;
  return { type: "Warning", reason: "DeletionHeld", action: "Reconcile", note };
}

function adviceOf(name: string, { namespace, name: secret }: ObjectName): string {
  return `confirm the deletion by annotating Secret ${namespace}/${secret} with ${confirmAnnotation}: "${name}"`;
}
