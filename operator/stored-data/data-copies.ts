// Has the data of one Project copied into another one, where that declares it and the other one
// agrees: ordered once every replica serves both, followed until a replica has copied everything,
// and never again. That it is complete stands with the data, in their inventory, and in the status:
// where one of them is lost, what people have deleted since must not come back.

import { keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import {
  type CopyFigures,
  type CopyOrder,
  type CopyProgress,
  type CopyResult,
  copies,
} from "../../core/config/copy-order.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Project } from "../model/objects.ts";
import { isDeleting, projectRefOf } from "../model/project-objects.ts";
import { isPopulated, reportedCopy, resultIn } from "../model/reported-copy.ts";
import type { OpenRedis } from "../publish/config-writer.ts";
import type { OrderState } from "../publish/replica-orders.ts";
import { awaitsCopy, type CopyPlan, planCopy, sourceOf, type WhyNotCopied, waitingToCopy } from "./copy-plan.ts";
import { type Known, KnownOrders } from "./known-orders.ts";

/** What is known of the data that are copied into one Project. */
export interface CopyReport {
  /** Absent = everything was copied. */
  readonly why?: WhyNotCopied;
  /** Absent = what the status says stands. */
  readonly figures?: CopyFigures & { readonly endedAt?: number };
}

export interface DataCopies {
  /**
   * Orders what is missing. Undefined where the Project declares nothing to copy; then Redis is not
   * asked.
   */
  reportOf(project: Project | undefined, redis: CopyingRedis): Promise<CopyReport | undefined>;
  /** Looks at what has changed, and has the statuses follow. For a timer. */
  refresh(): Promise<void>;
  /** Redis may have come back with other orders than it had. */
  onSessionBegun(): void;
}

export type CopyingRedis = Pick<OpenRedis, "copyOrders" | "publisher" | "acknowledgements">;

export interface DataCopiesDeps {
  readonly now: () => number;
  /** Undefined before Redis was reached. */
  readonly redis: () => CopyingRedis | undefined;
  /** As it is now; undefined = it is gone. */
  readonly projectOf: (ref: ProjectRef) => Project | undefined;
  /** False of a namespace whose objects are not known: a Project missing there may exist. */
  readonly isCurrent: (namespace: string) => boolean;
  /** Has the Project looked at, and its status written. */
  readonly enqueue: (key: string) => void;
}

/** Between two reports of one copy that goes on. */
const progressMs = 5_000;

type CopyState = OrderState<CopyProgress, CopyResult>;

interface Look {
  readonly plan: CopyPlan;
  readonly standing: Known<CopyOrder> | undefined;
  readonly state: CopyState;
}

export function createDataCopies(deps: DataCopiesDeps): DataCopies {
  const { now, redis: openRedis, projectOf, isCurrent, enqueue } = deps;
  const known = new KnownOrders<CopyOrder, CopyProgress, CopyResult>(copies.what);
  /** By key, of Projects that are to be copied into: what the status says, and since when. */
  const said = new Map<string, { readonly text: string; readonly at: number }>();

  const look = async (project: Project, redis: CopyingRedis): Promise<Look> => {
    const plan = planCopy(project, {
      projectOf,
      waits: awaitsCopy,
      from: await redis.publisher.load(sourceOf(project)),
      into: await redis.publisher.load(projectRefOf(project)),
      rolloutOf: redis.acknowledgements.rolloutOf,
    });
    const standing = await known.of(project.metadata.uid, redis.copyOrders);
    const state = standing && (await known.stateOf(standing, redis.copyOrders));
    return { plan, standing, state: state ?? { state: "lost" } };
  };

  /** Orders what is missing; what is said, and the state that it leaves. */
  const advance = async (
    project: Project,
    found: Look,
    redis: CopyingRedis,
  ): Promise<{ readonly report: CopyReport; readonly state: CopyState }> => {
    const { plan, standing, state } = found;
    if (state.state === "done") {
      await recordCopied(project, state.result, redis);
      return { report: { figures: state.result }, state };
    }
    if (goesOn(found)) return { report: { why: isFull(state) ? full : copying(standing), ...figuresIn(state) }, state };
    const report = { why: whyNow(plan), ...figuresIn(state) };
    const wanted = wantedOrder(found);
    if (wanted !== undefined) {
      await known.order(wanted, redis.copyOrders);
      return { report, state: { state: "open", figures: undefined } };
    }
    if (standing === undefined || standing.isHeld) return { report, state };
    await known.forget(standing, redis.copyOrders);
    return { report, state: { state: "lost" } };
  };

  const isOver = ({ project: ref, uid }: CopyOrder): boolean => {
    const project = projectOf(ref);
    return isCurrent(ref.namespace) && !(project?.metadata.uid === uid && awaitsCopy(project));
  };

  const refreshOne = async (key: string, redis: CopyingRedis): Promise<void> => {
    const project = projectOf(projectOfKey(key));
    if (project === undefined || !awaitsCopy(project)) return void said.delete(key);
    const found = await look(project, redis);
    const before = said.get(key);
    const isMoving = found.state.state === "open" && found.state.figures !== undefined;
    if (before?.text === textOf(found) && !(isMoving && now() - before.at >= progressMs)) return;
    said.set(key, { text: textOf(found), at: now() });
    enqueue(key);
  };

  return {
    async reportOf(project, redis) {
      if (project?.spec.dataSourceRef === undefined || isDeleting(project)) return undefined;
      const { data } = await redis.publisher.load(projectRefOf(project));
      if (isPopulated(project.status)) {
        const result = resultIn(reportedCopy(project.status));
        if (data?.copied === undefined && result !== undefined) await recordCopied(project, result, redis);
        return {};
      }
      if (data?.copied !== undefined) return { figures: data.copied };
      const found = await look(project, redis);
      const { report, state } = await advance(project, found, redis);
      said.set(keyOfProject(projectRefOf(project)), { text: textOf({ ...found, state }), at: now() });
      return report;
    },
    async refresh() {
      const redis = openRedis();
      if (redis === undefined) return;
      for (const order of await known.all(redis.copyOrders)) {
        if (isOver(order)) await known.forget(order, redis.copyOrders);
      }
      await visitAll([...said.keys()], (key) => refreshOne(key, redis));
    },
    onSessionBegun: () => known.readAgain(),
  };
}

/**
 * One that fails, such as on another node of a Cluster, hides no other. Throws the first failure.
 */
async function visitAll(keys: readonly string[], visit: (key: string) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const key of keys) await visit(key).catch((error: unknown) => void failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** With the data, so that it lasts as long as they do. */
async function recordCopied(project: Project, copied: CopyResult, { publisher }: CopyingRedis): Promise<void> {
  const { data } = await publisher.load(projectRefOf(project));
  if (data !== undefined) await publisher.writeData(projectRefOf(project), { ...data, copied });
}

/** Changes whenever the status is to say something else, figures aside. */
function textOf({ plan, state }: Look): string {
  return JSON.stringify([plan.order?.text, plan.order?.isServed, plan.why, state.state, isFull(state)]);
}

/** Whether the order that stands is the one that is wanted. */
function goesOn({ plan, standing, state }: Look): boolean {
  if (standing === undefined || standing.isHeld || state.state !== "open") return false;
  const { id: _id, key: _key, progress: _progress, ...order } = standing;
  return plan.order?.text === copies.write(order);
}

/**
 * In the place of the one that stands: it goes on where that had come to, or keeps that while
 * nothing may be copied. Else what people have deleted meanwhile would come back. Undefined = none.
 */
function wantedOrder({ plan, standing, state }: Look): CopyOrder | undefined {
  const progress = state.state === "open" ? (state.figures ?? standing?.progress) : undefined;
  if (plan.order?.isServed) {
    const { given } = plan.order;
    const isSameSource = given.source.uid === standing?.source.uid;
    return { ...given, ...(isSameSource && progress !== undefined && { progress }) };
  }
  if (standing === undefined || standing.isHeld || progress === undefined) return undefined;
  const { id: _id, key: _key, ...order } = standing;
  return { ...order, progress, isHeld: true };
}

function figuresIn(state: CopyState): Pick<CopyReport, "figures"> {
  return state.state === "open" && state.figures !== undefined ? { figures: state.figures } : {};
}

function isFull(state: CopyState): boolean {
  return state.state === "open" && state.figures?.isFull === true;
}

function whyNow({ why, order }: CopyPlan): WhyNotCopied {
  if (order === undefined) return why;
  if (!order.isServed) return waitingToCopy("It begins once every replica serves both Projects");
  return copying(order.given);
}

function copying(order: CopyOrder | undefined): WhyNotCopied {
  return { reason: "Copying", message: `The data of Project "${order?.source.name}" are being copied` };
}

const full: WhyNotCopied = {
  reason: "QuotaExceeded",
  message:
    "There is no room for more objects or bytes: raise spec.limits.quota of this Project, or spec.limits.maxObjects of its ApiResource. What was copied stays, and the rest follows within seconds of that",
};
