// The overview of dev mode, at `/`: a page for browsers, its files and its state below
// `/-/overview/`, where no namespace can be. The state names files of this machine, so Host headers
// other than dev mode's own are refused with 403. Programs such as curl get the URLs of what is
// served: of all projects at `/`, of one at its base URL.

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
import { servedUrls } from "./served-urls.ts";

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
  /** Its own raw request targets, `/`, and what may be the base URL of a project. */
  readonly targets: RegExp;
  /** Undefined for requests that are not for it. */
  serve(exchange: OverviewRequest): Promise<HttpResponse> | undefined;
  /** Whether it is for one of the page's own files: the page asks for its state all the time. */
  isForFile(exchange: OverviewRequest): boolean;
  /** Shows what this operator does. Use the returned one: it also remembers failed passes. */
  attach(attached: AttachedOperator): DevOperator;
}

const folder = ["-", "overview"] as const;

type OverviewTarget =
  | { readonly kind: "page" }
  | { readonly kind: "file"; readonly file: string }
  /** `project` = `<namespace>/<name>`, empty for all. */
  | { readonly kind: "urls"; readonly project: string };

export function createOverview({ host, publicUrl = "" }: OverviewOptions): Overview {
  const address = publicAddress(publicUrl);
  const page = createPage("overview", folder.join("/"), { isFolder: true });
  const isOwnHost = ownHosts(host, publicUrl);
  let readState: (() => Promise<string>) | undefined;
  let readUrls = (_project: string): string | undefined => undefined;

  /** What a request is for; undefined for methods other than GET and HEAD, and for other paths. */
  const targetOf = ({ request, rawUrl }: OverviewRequest): OverviewTarget | undefined => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead || !rawUrl.startsWith("/")) return undefined;
    const { segments, fault } = splitTarget(rawUrl);
    if (fault !== undefined) return undefined;
    const own = belowPublicPath(address, segments);
    if (own.length === 3) return fileTarget(own);
    return isPageWanted(request.headers) ? pageTarget(own, rawUrl) : urlsTarget(own);
  };
  const respondWithUrls = ({ request }: OverviewRequest, project: string): Promise<HttpResponse> | undefined => {
    const text = isOwnHost(request) ? readUrls(project) : undefined;
    return text === undefined
      ? undefined
      : Promise.resolve({ status: 200, text, headers: { ...pageSafety, Vary: "Accept, Origin" } });
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
    targets: new RegExp(`^(?:${prefix})?/(?:${folder.join("/")}/[^/?]*|[^/?]+/[^/?]+/?)?(?:\\?.*)?$`),
    serve(exchange) {
      const target = targetOf(exchange);
      if (target === undefined) return undefined;
      if (target.kind === "urls") return respondWithUrls(exchange, target.project);
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
      readUrls = (project) => servedUrls(devOperator.view().published, attached.publicUrl, project);
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

function fileTarget([first, second, file]: readonly string[]): OverviewTarget | undefined {
  const isBelow = first === folder[0] && second === folder[1];
  return isBelow && file !== undefined ? { kind: "file", file } : undefined;
}

/** Without the final slash the page would request its files from the wrong place. */
function pageTarget({ length }: readonly string[], rawUrl: string): OverviewTarget | undefined {
  const [path = ""] = rawUrl.split("?", 1);
  return length === 0 && path.endsWith("/") ? { kind: "page" } : undefined;
}

function urlsTarget(own: readonly string[]): OverviewTarget | undefined {
  return own.length === 0 || own.length === 2 ? { kind: "urls", project: own.join("/") } : undefined;
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

/** At the same URL, other clients get JSON. */
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
