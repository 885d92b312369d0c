// Takes the Projects that no installation looks after, and leaves those of another one alone. With
// --adopt-data a Project of another one is taken too, but only once: of two installations that both
// adopt, the one that took it last keeps it.

import type { Logger } from "../../core/log/logger.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import type { KubeApi, KubeObject } from "../kube/api.ts";
import { controllerOf, isOthers } from "../model/controller.ts";
import { childrenByKind } from "../model/kinds.ts";
import type { CustomResource, Project } from "../model/objects.ts";
import { allObjects, type ProjectObjects } from "../model/project-objects.ts";
import { writeStatus } from "../status/apply-status.ts";
import { statusEventCatalogue } from "../status/events-of.ts";

export interface Ownership {
  /**
   * What this installation looks after, or may take; undefined = another one looks after the
   * Project.
   */
  ownOf(objects: ProjectObjects): ProjectObjects | undefined;
  /**
   * As `ownOf`, once the status of the Project says that it is this installation's. Throws a
   * Conflict where the Project was written meanwhile.
   */
  take(objects: ProjectObjects): Promise<ProjectObjects | undefined>;
}

export interface OwnershipDeps {
  readonly api: Pick<KubeApi, "apply">;
  /** What this installation calls itself in `status.controller`. */
  readonly controller: string;
  readonly adopt: boolean;
  readonly applyOwnWrite: (object: CustomResource, answer: KubeObject) => void;
  readonly recorder: EventRecorder;
  readonly logger: Logger;
}

export function createOwnership({ api, controller, adopt, applyOwnWrite, recorder, logger }: OwnershipDeps): Ownership {
  /** UIDs of what has been this installation's since it began to adopt. */
  const owned = new Set<string>();
  /** UIDs of Projects of others that were reported. */
  const reported = new Set<string>();

  const isLeftAlone = (object: CustomResource): boolean => {
    const { uid } = object.metadata;
    if (adopt && controllerOf(object) === controller) owned.add(uid);
    return isOthers(object, controller) && (!adopt || owned.has(uid));
  };

  const ownOf: Ownership["ownOf"] = (objects) => {
    const { project } = objects;
    // Children follow their Project. Without one, each says itself who looks after it.
    if (project !== undefined) return isLeftAlone(project) ? undefined : objects;
    const { own = [], others = [] } = Object.groupBy(allObjects(objects), (child) =>
      isLeftAlone(child) ? "others" : "own",
    );
    const othersUids = new Set(others.map(({ metadata }) => metadata.uid));
    return { ...objects, ...childrenByKind(own), othersUids };
  };

  const report = (project: Project): void => {
    const { namespace, name, uid } = project.metadata;
    if (reported.has(uid)) return;
    reported.add(uid);
    const holder = controllerOf(project);
    logger.warn("Another installation looks after the Project", { namespace, name, controller: holder });
    const { type, action } = statusEventCatalogue.OtherController;
    const note = `The installation ${holder} looks after this Project, as status.controller says, and ${controller} leaves it alone. To move it, stop that installation and start the other one once with --adopt-data`;
    recorder.emit({ kind: "Project", namespace, name, uid }, { type, reason: "OtherController", action, note });
  };

  const write = async (project: Project): Promise<Project> => {
    const { uid, resourceVersion } = project.metadata;
    const status = { ...project.status, controller };
    const answer = await writeStatus(api, { object: project, resourceVersion, status });
    if (adopt) owned.add(uid);
    applyOwnWrite(project, answer);
    const metadata = { ...project.metadata, resourceVersion: answer.metadata.resourceVersion };
    return { ...project, metadata, status } as Project;
  };

  return {
    ownOf,
    async take(objects) {
      const own = ownOf(objects);
      const { project } = objects;
      if (project === undefined) return own;
      if (own === undefined) {
        report(project);
        return undefined;
      }
      return controllerOf(project) === controller ? own : { ...own, project: await write(project) };
    },
  };
}
