// Decides what is to be copied into a Project from another one, or why nothing can be. Pure.

import { type CopyOrder, copies } from "../../core/config/copy-order.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import { compileOmit } from "../compile/data-source.ts";
import type { Project } from "../model/objects.ts";
import { isDeleting } from "../model/project-objects.ts";
import type { Reason } from "../model/reasons.ts";
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
  /** The Project to copy from; undefined = there is none. */
  readonly source: Project | undefined;
  /** That is to be copied into itself first. */
  readonly sourceWaits: boolean;
  /** What is published of that. */
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

export function waitingToCopy(message: string): WhyNotCopied {
  return { reason: "WaitingToCopy", message };
}

const sourceName = "/spec/dataSourceRef/name";

function agreeingSource(project: Project, { source, sourceWaits, from }: CopyContext): Project | WhyNotCopied {
  const { namespace } = project.metadata;
  const name = project.spec.dataSourceRef?.name ?? "";
  if (source === undefined || isDeleting(source)) {
    return {
      reason: "SourceNotFound",
      message: `Namespace "${namespace}" has no Project "${name}"`,
      pointer: sourceName,
    };
  }
  if (source.spec.copies?.allow !== "Namespace") {
    const message = `Project "${name}" doesn't allow copies: whoever is responsible for it sets spec.copies.allow to Namespace`;
    return { reason: "CopyNotAllowed", message, pointer: sourceName };
  }
  if (sourceWaits) {
    return waitingToCopy(`Project "${name}" waits for data of another Project itself; see its condition Populated`);
  }
  if (from.config?.project.uid === source.metadata.uid) return source;
  return {
    reason: "SourceNotFound",
    message: `Project "${name}" is not served; see its own status`,
    pointer: sourceName,
  };
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
