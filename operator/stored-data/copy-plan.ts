// Decides what is to be copied into a Project from another one, or why nothing can be. Pure.

import { type CopyOrder, copies } from "../../core/config/copy-order.ts";
import type { CompiledProject, ProjectRef } from "../../core/config/types.ts";
import { compileOmit } from "../compile/data-source.ts";
import type { Project } from "../model/objects.ts";
import { isDeleting } from "../model/project-objects.ts";
import type { Reason } from "../model/reasons.ts";
import { isPopulated } from "../model/reported-copy.ts";
import type { Fault } from "../model/verdict.ts";
import type { RolloutState } from "../publish/acknowledgements.ts";
import type { PublishedProject } from "../publish/writer-session.ts";

export interface WhyNotCopied extends Fault {
  readonly reason: Reason;
}

export type CopyPlan =
  | { readonly why: WhyNotCopied; readonly order?: undefined }
  | {
      readonly why?: undefined;
      readonly order: {
        readonly given: CopyOrder;
        /** Equal for equal orders. */
        readonly text: string;
        /** Every replica serves both Projects as they are published now. */
        readonly isServed: boolean;
      };
    };

export interface CopyContext {
  /** Undefined = there is none. */
  readonly projectOf: (ref: ProjectRef) => Project | undefined;
  /** Whether a Project to copy from has to be copied into itself first. */
  readonly waits: (source: Project) => boolean;
  /** What is published of the Project to copy from. */
  readonly from: PublishedProject;
  /** What is published of the Project itself. */
  readonly into: PublishedProject;
  readonly rolloutOf: (revision: number) => RolloutState;
}

export function planCopy(project: Project, context: CopyContext): CopyPlan {
  const { from, into, rolloutOf } = context;
  const { dataSource = {} } = project.spec;
  const source = agreeingSource(project, context);
  if ("reason" in source) return { why: source };
  const missing = missingHere(project, into.config) ?? missingThere(project, from.config);
  if (missing !== undefined) return { why: missing };
  const both = { source: resourcesOf(from.config), target: resourcesOf(into.config) };
  const { omit, faults } = compileOmit(dataSource, both);
  const [fault] = faults;
  if (fault !== undefined) return { why: { reason: "InvalidSpec", ...fault } };
  const { namespace, name, uid } = project.metadata;
  const given: CopyOrder = {
    project: { namespace, name },
    uid,
    source: { name: source.metadata.name, uid: source.metadata.uid },
    resources: dataSource.resources ?? [],
    rootKeys: dataSource.rootKeys ?? [],
    omit,
  };
  const isServed = [from, into].every(({ revision }) => rolloutOf(revision) === "programmed");
  return { order: { given, text: copies.write(given), isServed } };
}

/** Whether its data are still to come from another Project. */
export function awaitsCopy(project: Project): boolean {
  return project.spec.dataSourceRef !== undefined && !isDeleting(project) && !isPopulated(project.status);
}

export function sourceOf({ metadata, spec }: Project): ProjectRef {
  return { namespace: metadata.namespace, name: spec.dataSourceRef?.name ?? "" };
}

export function waitingToCopy(message: string): WhyNotCopied {
  return { reason: "WaitingToCopy", message };
}

const sourceName = "/spec/dataSourceRef/name";

function agreeingSource(project: Project, { projectOf, waits, from }: CopyContext): Project | WhyNotCopied {
  const { namespace, name } = sourceOf(project);
  const source = projectOf({ namespace, name });
  if (source === undefined || isDeleting(source)) {
    return {
      reason: "SourceNotFound",
      message: `Namespace "${namespace}" has no Project "${name}"`,
      pointer: sourceName,
    };
  }
  const circle = circleOf(project, projectOf);
  if (circle !== undefined) {
    const message = `Projects wait for each other's data, ${circle.join(" for ")}: delete one, and create it without spec.dataSourceRef`;
    return { reason: "InvalidSpec", message, pointer: sourceName };
  }
  if (source.spec.copies?.allow !== "Namespace") {
    const message = `Project "${name}" doesn't allow copies: whoever is responsible for it sets spec.copies.allow to Namespace`;
    return { reason: "CopyNotAllowed", message, pointer: sourceName };
  }
  if (waits(source)) {
    return waitingToCopy(`Project "${name}" waits for data of another Project itself; see its condition Populated`);
  }
  if (from.config?.project.uid === source.metadata.uid) return source;
  return {
    reason: "SourceNotFound",
    message: `Project "${name}" is not served; see its own status`,
    pointer: sourceName,
  };
}

/** Names from the Project to itself again, each waiting for the next; undefined = it has an end. */
function circleOf(project: Project, projectOf: CopyContext["projectOf"]): readonly string[] | undefined {
  const names = [project.metadata.name];
  for (
    let next = projectOf(sourceOf(project));
    next !== undefined && awaitsCopy(next);
    next = projectOf(sourceOf(next))
  ) {
    const { name } = next.metadata;
    const isKnown = names.includes(name);
    names.push(name);
    if (isKnown) return name === names[0] ? names : undefined;
  }
  return undefined;
}

function missingHere(project: Project, config: CompiledProject | undefined): WhyNotCopied | undefined {
  if (config?.project.uid !== project.metadata.uid) return waitingToCopy("This Project is not served yet");
  const lacking = lackingOf(project, config);
  return lacking === undefined ? undefined : waitingToCopy(`This Project serves no ${lacking} yet`);
}

function missingThere(project: Project, config: CompiledProject | undefined): WhyNotCopied | undefined {
  const lacking = lackingOf(project, config);
  if (lacking === undefined) return undefined;
  const message = `Project "${project.spec.dataSourceRef?.name}" serves no ${lacking}`;
  return { reason: "SourceNotFound", message, pointer: "/spec/dataSource" };
}

/** The first that is to be copied and not served. */
function lackingOf({ spec: { dataSource } }: Project, config: CompiledProject | undefined): string | undefined {
  const { resources = [], rootKeys = [] } = dataSource ?? {};
  const resource = resources.find((name) => config?.resources.has(name) !== true);
  if (resource !== undefined) return `ApiResource "${resource}"`;
  const rootKey = rootKeys.find((key) => config?.rootKeys.has(key) !== true);
  return rootKey === undefined ? undefined : `RootKey "${rootKey}"`;
}

function resourcesOf(config: CompiledProject | undefined): CompiledProject["resources"] {
  return config?.resources ?? new Map();
}
