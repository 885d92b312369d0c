// A complete list, page by page, as of one moment. When the server has forgotten that moment between two pages, it begins anew,
// once; a second time is a failure like any other.

import {
  ApiFailure,
  type KubeObject,
  type KubeReader,
  type ListPage,
  type ListScope,
  type ResourceType,
} from "../kube/api.ts";

export interface Listed {
  readonly type: ResourceType;
  readonly scope: ListScope;
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Called before each first page. */
  readonly onBegin: () => void;
  readonly onPage: () => void;
}

export interface WholeList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
}

export async function listPages(reader: KubeReader, listed: Listed): Promise<WholeList> {
  const first = await inOneGo(reader, listed);
  const list = first === "forgotten" ? await inOneGo(reader, listed) : first;
  if (list !== "forgotten") return list;
  throw new ApiFailure(410, { reason: "Expired", message: "list: its pages were forgotten twice in a row" });
}

async function inOneGo(reader: KubeReader, listed: Listed): Promise<WholeList | "forgotten"> {
  const { type, scope, limit, signal, onBegin, onPage } = listed;
  const items: KubeObject[] = [];
  onBegin();
  let page = await reader.list(type, { ...scope, limit }, { signal });
  for (;;) {
    onPage();
    for (const item of page.items) items.push(item);
    if (page.continue === undefined) return { items, resourceVersion: page.resourceVersion };
    signal.throwIfAborted();
    const next = await orForgotten(reader.list(type, { ...scope, limit, continue: page.continue }, { signal }));
    if (next === "forgotten") return next;
    page = next;
  }
}

async function orForgotten(page: Promise<ListPage>): Promise<ListPage | "forgotten"> {
  try {
    return await page;
  } catch (error) {
    if (isGone(error)) return "forgotten";
    throw error;
  }
}

/** The server no longer knows the version that was asked about. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 410;
}
