// Copies the data of one Project of the folder into another one, as its `dataSourceRef` says: by
// the rules of a cluster and with the code of a replica, with each pass, and only into what is
// empty. Nothing is remembered of it.

import { keyOfProject } from "../../../core/config/config-keys.ts";
import {
  type CopyFigures,
  type CopyOrder,
  type CopyProgress,
  describeCopied,
} from "../../../core/config/copy-order.ts";
import type { DataStore } from "../../../dataplane/store/port.ts";
import { type CopyStepsDeps, copySteps } from "../../../dataplane/transfer/carry-out-copies.ts";
import type { Project } from "../../../operator/model/objects.ts";
import { projectRefOf } from "../../../operator/model/project-objects.ts";
import { faultMessage } from "../../../operator/status/messages.ts";
import type { CopyPlan } from "../../../operator/stored-data/copy-plan.ts";
import { planFolderCopy, projectsByKey } from "../../manifests/folder-copies.ts";
import { storedObject } from "../data-folder/dev-state.ts";
import type { DevMessage, MessageFacts } from "../report/messages.ts";

export interface DevCopies {
  /** Copies what can be copied now; returns what is new. */
  afterPass(facts: MessageFacts): Promise<readonly DevMessage[]>;
}

type Store = CopyStepsDeps["store"] & Pick<DataStore, "count">;

export function createDevCopies(deps: CopyStepsDeps & { readonly store: Store }): DevCopies {
  /** By Project, what was said last. */
  const said = new Map<string, string>();

  /** What is empty of it. */
  const emptyOf = async (order: CopyOrder): Promise<CopyOrder> => {
    const { project } = order;
    const resources = await filtered(
      order.resources,
      async (resource) => (await deps.store.count({ project, resource }, {})) === 0,
    );
    const rootKeys = await filtered(
      order.rootKeys,
      async (rootKey) => (await deps.store.readAt({ project, rootKey }, [])).outcome === "missing_document",
    );
    return { ...order, resources, rootKeys };
  };

  const copyAll = async (order: CopyOrder): Promise<CopyFigures> => {
    const step = copySteps(deps, order);
    for (let progress: CopyProgress | undefined; ; ) {
      const next = await step(progress);
      if (next.isDone) return next.result;
      if (next.waits) return next.progress;
      progress = next.progress;
    }
  };

  /** Undefined where there was nothing to copy. */
  const become = async ({ why, order }: CopyPlan): Promise<string | undefined> => {
    if (order === undefined) return `Nothing is copied: ${faultMessage(why)} (${why.reason})`;
    const figures = await copyAll(await emptyOf(order.given));
    return figures.copied + figures.refused === 0 ? undefined : describeCopied(order.given.source.name, figures);
  };

  return {
    async afterPass(facts) {
      const projects = projectsIn(facts);
      const messages: DevMessage[] = [];
      for (const project of projects.values()) {
        if (project.spec.dataSourceRef === undefined) continue;
        const plan = planFolderCopy(project, projects, facts.published);
        const key = keyOfProject(projectRefOf(project));
        const text = await become(plan);
        if (text !== undefined && said.get(key) !== text) messages.push({ text: `Project/${key}: ${text}` });
        said.set(key, text ?? "");
      }
      return messages;
    },
  };
}

function projectsIn({ known }: MessageFacts): ReadonlyMap<string, Project> {
  const objects = [...known.objects.values()].map((each) => storedObject(each, each.manifest));
  return projectsByKey(objects.filter((object) => object.kind === "Project"));
}

async function filtered<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<readonly T[]> {
  const answers = await Promise.all(items.map(holds));
  return items.filter((_, at) => answers[at]);
}
