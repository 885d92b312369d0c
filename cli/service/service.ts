// Requests of commands to a service: each with the credential, and pages of lists with exact texts.
// Throws ServiceRefused where asking again would change nothing, and ServerAway where it may.

import { InvalidSetting } from "../../core/env/read-settings.ts";
import { readPublicUrl } from "../../core/env/setting-readers.ts";
import { isRetryable } from "../../core/http/event-stream.ts";
import { elementsOf, valuesOf } from "../../core/json/members.ts";

/** Its message is for the person who started the command. */
export class ServiceRefused extends Error {
  override readonly name = "ServiceRefused";
  /** Of the response; undefined = nothing was asked. */
  readonly status: number | undefined;

  constructor(message: string, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.status = status;
  }
}

/** The server can't be reached, or can't answer now. */
export class ServerAway extends Error {
  override readonly name = "ServerAway";
  readonly retryAfterMs: number;

  constructor(message: string, { retryAfterMs = 0, cause }: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

/** Base URL of a project, as a person writes it. */
export function baseUrlOf(text: string): string {
  try {
    return readPublicUrl(text);
  } catch (error) {
    throw error instanceof InvalidSetting ? new ServiceRefused(`URL ${error.message}`) : error;
  }
}

export interface ListedObject {
  readonly id: string;
  readonly etag: string;
  /** As JSON, exactly as it was sent. */
  readonly text: string;
}

export interface ListedPage {
  readonly objects: readonly ListedObject[];
  /** Of the changes of what is listed; undefined = there is no log of them. */
  readonly position: string | undefined;
  /** The cursor of the next page; undefined = this is the last one. */
  readonly next: string | undefined;
}

export interface ServiceOptions {
  readonly fetch: typeof fetch;
  /** The Authorization header, read for each request: tokens are renewed in their file. */
  readonly authorization: () => Promise<string | undefined>;
  readonly signal?: AbortSignal;
}

export interface Service {
  /** A response of 200; `signal` ends reading it as well. */
  read(to: URL, headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Response>;
  /** The text of a response of 200 to a POST. */
  post(to: URL, type: string, body: Uint8Array<ArrayBuffer>): Promise<string>;
  /**
   * A page of the collection, the first one with an empty cursor. Undefined = what is there is no
   * collection.
   */
  readPage(collection: URL, cursor: string): Promise<ListedPage | undefined>;
  /** Deletes an object; false where there is none. */
  remove(object: URL): Promise<boolean>;
}

/** More is refused by projects that don't raise it. */
const pageLimit = 100;
const credentialHints = {
  absent: "; name a file with a credential with --api-key-file or --token-file",
  sent: "; the file that was named has no credential that is valid there now",
} as const;
const baseUrlHint = "; URL has to be the base URL of a project, without /api or /json";

export function createService(options: ServiceOptions): Service {
  const send = async (
    to: URL,
    headers: Readonly<Record<string, string>>,
    { method = "GET", signal = options.signal ?? null, ...sent }: Pick<RequestInit, "method" | "signal" | "body"> = {},
  ): Promise<Response> => {
    const authorization = await options.authorization();
    const credential = authorization === undefined ? {} : { Authorization: authorization };
    try {
      return await options.fetch(to, { ...sent, method, headers: { ...headers, ...credential }, signal });
    } catch (cause) {
      throw new ServerAway(`${to.origin} can't be reached${reasonOf(cause)}`, { cause });
    }
  };

  const failureOf = async ({ origin, pathname }: URL, response: Response): Promise<Error> => {
    const said = problemIn(await response.text().catch(() => ""));
    const message = `${origin}${pathname} answers ${response.status}${said}`;
    if (isRetryable(response.status)) {
      return new ServerAway(message, { retryAfterMs: 1_000 * (Number(response.headers.get("retry-after")) || 0) });
    }
    const { status } = response;
    const credential = (await options.authorization()) === undefined ? "absent" : "sent";
    const hint = status === 401 ? credentialHints[credential] : hintOf(pathname, said);
    return new ServiceRefused(message + hint, { status });
  };

  const read: Service["read"] = async (to, headers, signal) => {
    const response = await send(to, headers, signal && { signal });
    if (response.status !== 200) throw await failureOf(to, response);
    return response;
  };

  return {
    read,
    async post(to, type, body) {
      const response = await send(to, { "Content-Type": type }, { method: "POST", body });
      if (response.status !== 200) throw await failureOf(to, response);
      return await textOf(response, to);
    },
    async readPage(collection, cursor) {
      const response = await read(pageUrl(collection, cursor, "&_etags=true"), { Accept: "application/json" });
      const text = await textOf(response, collection);
      // A path below a root key may be called api/books, too.
      if (!text.startsWith('{"items":[')) return undefined;
      return { ...pageOf(text), position: response.headers.get("changes-position") ?? undefined };
    },
    async remove(object) {
      const response = await send(object, {}, { method: "DELETE" });
      if (response.status !== 204 && response.status !== 404) throw await failureOf(object, response);
      return response.status === 204;
    },
  };
}

function pageOf(text: string): Omit<ListedPage, "position"> {
  const values = valuesOf(text);
  const etags = JSON.parse(values.get("etags") ?? "{}") as Readonly<Record<string, string>>;
  const objects = elementsOf(values.get("items") ?? "[]").map((item) => {
    const { id } = JSON.parse(item) as { readonly id: string };
    return { id, etag: etags[id] ?? "", text: item };
  });
  const { next } = JSON.parse(values.get("links") ?? "{}") as { readonly next?: string };
  return { objects, next: cursorIn(next) };
}

/** `asked` = further parameters, each with its `&`. */
export function pageUrl(collection: URL, cursor: string, asked = ""): URL {
  const page = new URL(collection);
  const ours = `_cursor=${encodeURIComponent(cursor)}&_limit=${pageLimit}${asked}&_count=false`;
  page.search = [collection.search.slice(1), ours].filter(Boolean).join("&");
  return page;
}

/** Nothing but the cursor: a link may lead to another host, which is to get no credential. */
export function cursorIn(link: string | undefined): string | undefined {
  return (link && new URL(link, "http://localhost").searchParams.get("_cursor")) || undefined;
}

export function textOf(response: Response, { origin }: URL): Promise<string> {
  return response.text().catch((cause: unknown) => {
    throw new ServerAway(`${origin} broke off${reasonOf(cause)}`, { cause });
  });
}

/** Throws ServiceRefused where the response is something else; `what` = what was expected. */
export function requireType(response: Response, { origin, pathname }: URL, type: string, what: string): void {
  const found = response.headers.get("content-type") ?? "nothing";
  if (!found.startsWith(type)) throw new ServiceRefused(`${origin}${pathname} answers with ${found}, not with ${what}`);
}

/** What a person can do about it. */
function hintOf(pathname: string, said: string): string {
  const isOfProject = /\/(export|import)$/.test(pathname) && /^ (not_found|unknown_path)\b/.test(said);
  return isOfProject ? baseUrlHint : "";
}

function problemIn(text: string): string {
  try {
    const { code, detail } = JSON.parse(text) as { readonly code?: unknown; readonly detail?: unknown };
    return typeof code === "string" ? ` ${code}${typeof detail === "string" ? `: ${detail}` : ""}` : "";
  } catch {
    return "";
  }
}

/** fetch hides the reason in the cause. */
export function reasonOf(failure: unknown): string {
  const { message, cause } = failure as Error;
  const said = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : message;
  return said ? ` (${said})` : "";
}
