// The overview of dev mode, at `/`: a page for browsers, its files and its state below
// `/-/overview/`, where no namespace can be. The state names files of this machine, so Host headers
// other than dev mode's own are refused with 403.

import type { IncomingHttpHeaders } from "node:http";
import { Problem } from "../../../core/errors/problem.ts";
import { currentResponse, preconditionsOf } from "../../../dataplane/http/conditional-requests.ts";
import type { HttpResponse } from "../../../dataplane/http/exchange.ts";
import { createPage, isPageWanted, pageSafety } from "../../../dataplane/http/page.ts";
import { belowPublicPath, publicAddress } from "../../../dataplane/route/find-project.ts";
import { splitTarget } from "../../../dataplane/route/request-target.ts";
import { isEmptyFolder } from "../../init/run-init.ts";
import type { DevOperator } from "../apply/dev-operator.ts";
import { failedPassLine } from "../apply/follow.ts";
import type { SecretFiles } from "../data-folder/secret-files.ts";
import { locateCredentials } from "../report/credentials.ts";
import type { MessageLog } from "../report/messages.ts";
import { noProjectLine } from "../report/startup-message.ts";
import { overviewState } from "./overview-state.ts";
import { type HostedRequest, ownHosts } from "./own-hosts.ts";

export interface OverviewOptions {
  /** The address that dev mode listens on. */
  readonly host: string;
  readonly publicUrl?: string | undefined;
}

/** The part of a request that the overview reads. */
export interface OverviewRequest {
  readonly request: HostedRequest & { readonly method: string };
  /** The request target as sent. */
  readonly rawUrl: string;
}

export interface AttachedOperator {
  readonly devOperator: DevOperator;
  readonly secretFiles: SecretFiles;
  readonly log: Pick<MessageLog, "current">;
  readonly folder: string;
  readonly publicUrl: string;
  readonly adminUrl: string;
}

export interface Overview {
  /** Its own raw request targets, and `/`. */
  readonly targets: RegExp;
  /** Undefined for requests that are not for it. */
  serve(exchange: OverviewRequest): Promise<HttpResponse> | undefined;
  /** Whether it is for one of the page's own files: the page asks for its state all the time. */
  isForFile(exchange: OverviewRequest): boolean;
  /** Shows what this operator does. Use the returned one: it also remembers failed passes. */
  attach(attached: AttachedOperator): DevOperator;
}

const folder = ["-", "overview"] as const;

type OverviewTarget = { readonly kind: "page" } | { readonly kind: "file"; readonly file: string };

export function createOverview({ host, publicUrl = "" }: OverviewOptions): Overview {
  const address = publicAddress(publicUrl);
  const page = createPage("overview", folder.join("/"), { isFolder: true });
  const isOwnHost = ownHosts(host, publicUrl);
  let readState: (() => Promise<string>) | undefined;

  /** What a request is for; undefined for methods other than GET and HEAD, and for other paths. */
  const targetOf = ({ request, rawUrl }: OverviewRequest): OverviewTarget | undefined => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead || !rawUrl.startsWith("/")) return undefined;
    const { segments, fault } = splitTarget(rawUrl);
    const own = fault === undefined ? belowPublicPath(address, segments) : undefined;
    if (own?.length !== 0) return fileTarget(own);
    return isPageAskedFor(request.headers, rawUrl) ? { kind: "page" } : undefined;
  };
  const respondWithState = async ({ request }: OverviewRequest): Promise<HttpResponse> => {
    if (!isOwnHost(request)) throw foreignHost();
    if (readState === undefined) throw starting();
    const response = currentResponse(await readState(), preconditionsOf(request.headers));
    return { ...response, headers: { ...response.headers, ...pageSafety } };
  };

  const prefix = address.path.map((segment) => `/${RegExp.escape(segment)}`).join("");
  return {
    // Proxies may remove the path of the public URL.
    targets: new RegExp(`^(?:${prefix})?/(?:${folder.join("/")}/[^/?]*)?(?:\\?.*)?$`),
    serve(exchange) {
      const target = targetOf(exchange);
      if (target === undefined) return undefined;
      const { rawUrl, request } = exchange;
      const asked = { target: rawUrl, headers: request.headers };
      if (target.kind === "page") return page({ ...asked, file: undefined }).then(varied);
      return target.file === "state.json" ? respondWithState(exchange) : page({ ...asked, file: target.file });
    },
    isForFile: (exchange) => targetOf(exchange)?.kind === "file",
    attach(attached) {
      const { devOperator } = attached;
      let failure: string | undefined;
      readState = () => stateText(attached, failure);
      return {
        view: devOperator.view,
        async reconcile() {
          try {
            const news = await devOperator.reconcile();
            failure = undefined;
            return news;
          } catch (error) {
            failure = failedPassLine(error);
            throw error;
          }
        },
      };
    },
  };
}

function fileTarget([first, second, file, ...others]: readonly string[] = []): OverviewTarget | undefined {
  const isBelow = first === folder[0] && second === folder[1] && others.length === 0;
  return isBelow && file !== undefined ? { kind: "file", file } : undefined;
}

/** Without the final slash the page would request its files from the wrong place. */
function isPageAskedFor(headers: IncomingHttpHeaders, rawUrl: string): boolean {
  const [path = ""] = rawUrl.split("?", 1);
  return path.endsWith("/") && isPageWanted(headers);
}

async function stateText(
  { devOperator, secretFiles, ...facts }: AttachedOperator,
  failure: string | undefined,
): Promise<string> {
  const view = devOperator.view();
  const credentials = locateCredentials(view, secretFiles);
  const hasNone = view.published.size === 0;
  const advice = hasNone
    ? noProjectLine({ folder: facts.folder, isEmpty: await isEmptyFolder(facts.folder), snapshot: view.snapshot })
    : undefined;
  return JSON.stringify(overviewState({ ...facts, view, credentials, failure, advice }));
}

/** At the same URL, other clients get what is said of paths that lead nowhere. */
function varied(response: HttpResponse): HttpResponse {
  const { Vary = "" } = response.headers ?? {};
  return { ...response, headers: { ...response.headers, Vary: `Accept, ${Vary}` } };
}

function foreignHost(): Problem {
  return new Problem(
    "insufficient_access",
    "The overview is shown at the addresses of dev mode itself only, such as localhost, because it names files of its machine",
  );
}

function starting(): Problem {
  return new Problem("project_unavailable", "Dev mode is starting; try again", { headers: { "Retry-After": "1" } });
}
