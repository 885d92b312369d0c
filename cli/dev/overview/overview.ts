// The overview of dev mode, at `/`: a page for browsers, its files and its state below
// `/-/overview/`, where no namespace can be. The state names files of this machine, so Host headers
// other than dev mode's own are refused with 403. Programs such as curl get the URLs of what is
// served: of all projects at `/`, of one at its base URL. Pages on this machine can get a password
// or key: POST token, then POST credential. Both refuse other machines, hosts and origins with 403.

import type { CompiledProject } from "../../../core/config/types.ts";
import { Problem } from "../../../core/errors/problem.ts";
import { currentResponse, preconditionsOf } from "../../../dataplane/http/conditional-requests.ts";
import { type HttpResponse, ok } from "../../../dataplane/http/exchange.ts";
import { createPage, isPageWanted, pageSafety } from "../../../dataplane/http/page.ts";
import { belowPublicPath, publicAddress } from "../../../dataplane/route/find-project.ts";
import { splitTarget } from "../../../dataplane/route/request-target.ts";
import { isEmptyFolder } from "../../init/run-init.ts";
import type { Published } from "../apply/compile-folder.ts";
import type { DevOperator } from "../apply/dev-operator.ts";
import { failedPassLine } from "../apply/follow.ts";
import type { SecretFiles } from "../data-folder/secret-files.ts";
import { locateCredentials, type Revealed, revealCredential } from "../report/credentials.ts";
import type { MessageLog } from "../report/messages.ts";
import { noProjectLine } from "../report/startup-message.ts";
import type { OneTimeTokens } from "./one-time-tokens.ts";
import { type OverviewFacts, overviewState } from "./overview-state.ts";
import { type HostedRequest, localRequests, ownHosts } from "./own-hosts.ts";

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
  | { readonly kind: "token" }
  | { readonly kind: "credential" }
  /** `project` = `<namespace>/<name>`, empty for all. */
  | { readonly kind: "urls"; readonly project: string };

export function createOverview({ host, publicUrl = "" }: OverviewOptions, tokens: OneTimeTokens): Overview {
  const address = publicAddress(publicUrl);
  const page = createPage("overview", folder.join("/"), { isFolder: true });
  const isOwnHost = ownHosts(host, publicUrl);
  const isLocal = localRequests(publicUrl);
  let readState: ((givesSecrets: boolean) => Promise<string>) | undefined;
  let readUrls = (_project: string): string | undefined => undefined;
  let reveal: ((subject: string) => Revealed | undefined) | undefined;

  const segmentsOf = (rawUrl: string): readonly string[] | undefined => {
    if (!rawUrl.startsWith("/")) return undefined;
    const { segments, fault } = splitTarget(rawUrl);
    return fault === undefined ? belowPublicPath(address, segments) : undefined;
  };
  /** What a request is for; undefined for other methods and paths. */
  const targetOf = ({ request, rawUrl }: OverviewRequest): OverviewTarget | undefined => {
    const own = segmentsOf(rawUrl);
    if (own === undefined) return undefined;
    if (request.method === "POST") return postTarget(own);
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
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
    const response = currentResponse(await readState(isLocal(request)), preconditionsOf(request.headers));
    return { ...response, headers: { ...response.headers, ...pageSafety } };
  };

  const respondWithSecret = (kind: "token" | "credential", { request, rawUrl }: OverviewRequest): HttpResponse => {
    if (!isLocal(request) || request.headers.origin !== `http://${request.headers.host}`) throw foreignRequest();
    if (kind === "token") {
      const token = tokens.issue(new URL(rawUrl, "http://localhost").searchParams.get("of") ?? "");
      return { ...ok(JSON.stringify({ token })), secret: true, headers: pageSafety };
    }
    const [, token = ""] = /^Bearer ([\w-]+)$/.exec(request.headers.authorization ?? "") ?? [];
    const subject = tokens.redeem(token);
    const revealed = subject === undefined ? undefined : reveal?.(subject);
    if (revealed === undefined) throw unusableToken();
    return { ...ok(JSON.stringify(revealed)), secret: true, headers: pageSafety };
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
      if (target.kind === "token" || target.kind === "credential")
        return Promise.try(respondWithSecret, target.kind, exchange);
      if (target.kind === "page") return page({ ...asked, file: undefined }).then(varied);
      return target.file === "state.json" ? respondWithState(exchange) : page({ ...asked, file: target.file });
    },
    isForFile: (exchange) => targetOf(exchange)?.kind === "file",
    attach(attached) {
      const { devOperator, secretFiles } = attached;
      let failure: string | undefined;
      readState = (givesSecrets) => stateText(attached, { failure, givesSecrets });
      readUrls = (project) => servedUrls(devOperator.view().published, attached.publicUrl, project);
      reveal = (subject) => revealCredential(devOperator.view(), secretFiles, subject);
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

function fileTarget(own: readonly string[]): OverviewTarget | undefined {
  const file = fileIn(own);
  return file === undefined ? undefined : { kind: "file", file };
}

function fileIn([first, second, file, ...others]: readonly string[]): string | undefined {
  return first === folder[0] && second === folder[1] && others.length === 0 ? file : undefined;
}

function postTarget(own: readonly string[]): OverviewTarget | undefined {
  const file = fileIn(own);
  return file === "token" || file === "credential" ? { kind: file } : undefined;
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
  told: Pick<OverviewFacts, "failure" | "givesSecrets">,
): Promise<string> {
  const view = devOperator.view();
  const credentials = locateCredentials(view, secretFiles);
  const hasNone = view.published.size === 0;
  const advice = hasNone
    ? noProjectLine({ folder: facts.folder, isEmpty: await isEmptyFolder(facts.folder), snapshot: view.snapshot })
    : undefined;
  return JSON.stringify(overviewState({ ...facts, view, credentials, advice, ...told }));
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

function foreignRequest(): Problem {
  return new Problem(
    "insufficient_access",
    "Passwords and keys are for pages of dev mode itself, opened on its own machine at a loopback address such as localhost, and without a proxy or tunnel",
  );
}

function unusableToken(): Problem {
  return new Problem(
    "invalid_credentials",
    "The token is unknown, used, or more than 30 seconds old; open the console from the overview again",
  );
}

function starting(): Problem {
  return new Problem("project_unavailable", "Dev mode is starting; try again", { headers: { "Retry-After": "1" } });
}

/**
 * As JSON, for a person at a terminal. `name` = `<namespace>/<name>`, empty for all; undefined for
 * a project that isn't served.
 */
function servedUrls(published: Published, publicUrl: string, name: string): string | undefined {
  const urlsOf = (key: string, parts: CompiledProject): object => projectUrls(key, `${publicUrl}/${key}`, parts);
  if (name === "") return json({ projects: [...published].map(([key, parts]) => urlsOf(key, parts)) });
  const parts = published.get(name);
  return parts === undefined || parts.project.serving === "Off" ? undefined : json(urlsOf(name, parts));
}

function projectUrls(name: string, url: string, { project, resources, rootKeys }: CompiledProject): object {
  return {
    name,
    serving: project.serving,
    url,
    resources: [...resources.keys()].map((resource) => `${url}/api/${resource}`),
    rootKeys: [...rootKeys.keys()].map((rootKey) => `${url}/json/${rootKey}`),
    sessions: `${url}/sessions`,
    ...(project.openapi !== "Nobody" && { docs: `${url}/docs`, openapi: `${url}/openapi.json` }),
    ...(project.console !== "Nobody" && { console: `${url}/console` }),
  };
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
