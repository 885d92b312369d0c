// A complete list, page by page, as of one moment: gathered, or handed on as it comes. When the
// server has forgotten that moment between two pages, it begins again, once; a second time is a
// failure like any other.

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
  /** Called before each first page: earlier pages do not count. */
  readonly onBegin: () => void;
  readonly onPage: (items: readonly KubeObject[]) => void;
}

/** `keep` = what is kept of each of them; absent = all. */
export async function listPages(
  reader: KubeReader,
  { keep = (item) => item, ...listed }: Listed & { readonly keep?: ((item: KubeObject) => KubeObject) | undefined },
): Promise<{ readonly items: readonly KubeObject[]; readonly resourceVersion: string }> {
  let items: KubeObject[] = [];
  const resourceVersion = await readPages(reader, {
    ...listed,
    onBegin() {
      items = [];
      listed.onBegin();
    },
    onPage(page) {
      listed.onPage(page);
      for (const item of page) items.push(keep(item));
    },
  });
  return { items, resourceVersion };
}

/** Keeps nothing of the pages; answers with the version of the whole list. */
export async function readPages(reader: Pick<KubeReader, "list">, listed: Listed): Promise<string> {
  const first = await inOneGo(reader, listed);
  const version = first === "forgotten" ? await inOneGo(reader, listed) : first;
  if (version !== "forgotten") return version.ofList;
  throw new ApiFailure(410, { reason: "Expired", message: "list: its pages were forgotten twice in a row" });
}

async function inOneGo(
  reader: Pick<KubeReader, "list">,
  listed: Listed,
): Promise<{ readonly ofList: string } | "forgotten"> {
  const { type, scope, limit, signal, onBegin, onPage } = listed;
  onBegin();
  let page = await reader.list(type, { ...scope, limit }, { signal });
  for (;;) {
    onPage(page.items);
    if (page.continue === undefined) return { ofList: page.resourceVersion };
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
