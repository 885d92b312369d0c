// The overview of dev mode over a DevCluster, requests to it, and manifests.

import type { DevOperator } from "../../../../cli/dev/apply/dev-operator.ts";
import type { OneTimeTokens } from "../../../../cli/dev/overview/one-time-tokens.ts";
import {
  createOverview,
  type Overview,
  type OverviewOptions,
  type OverviewRequest,
} from "../../../../cli/dev/overview/overview.ts";
import { createMessageLog } from "../../../../cli/dev/report/messages.ts";
import type { OverviewState } from "../../../../pages/overview/state.ts";
import type { DevCluster } from "./dev-cluster.ts";

export const path = "/-/overview/state.json";

export interface Sent {
  readonly method?: string;
  readonly host?: string;
  /** What a trusted proxy says instead of the header. */
  readonly forwarded?: string;
  readonly to?: string;
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function sent(
  rawUrl: string,
  { method = "GET", host = "127.0.0.1:8080", forwarded = host, ...more }: Sent = {},
) {
  const { to = "127.0.0.1", from = to, headers } = more;
  const request: OverviewRequest["request"] = {
    method,
    host: forwarded,
    headers: { ...headers, host },
    socket: { localAddress: to, remoteAddress: from },
  };
  return { request, rawUrl };
}

export interface OverviewParts {
  readonly tokens: OneTimeTokens;
  readonly options?: OverviewOptions | undefined;
  readonly operator?: DevOperator | undefined;
}

export function overviewOf(dev: DevCluster, parts: OverviewParts) {
  const { tokens, options = { host: "127.0.0.1" }, operator = dev.operator() } = parts;
  const overview = createOverview(options, tokens);
  const log = createMessageLog(() => undefined);
  const devOperator = overview.attach({
    devOperator: operator,
    log,
    secretFiles: dev.secrets,
    folder: dev.folder,
    publicUrl: "http://127.0.0.1:8080",
    adminUrl: "http://127.0.0.1:9090",
  });
  return { overview, devOperator, log };
}

export async function overviewStateOf(dev: DevCluster, overview: Overview): Promise<OverviewState> {
  const { text = "" } = (await overview.serve(sent(path))) ?? {};
  return JSON.parse(text.replaceAll(`${dev.folder}/`, "")) as OverviewState;
}

export const manifest = (kind: string, name: string, spec: object = {}): string =>
  `${JSON.stringify({ apiVersion: "jsonplane.io/v1alpha1", kind, metadata: { name }, spec })}\n---\n`;
export const inShop = { projectRef: { name: "shop" } };
export const shop = manifest("Project", "shop");
export const books = (schema: object) => manifest("ApiResource", "books", { ...inShop, schema });
export const login = manifest("ProjectUser", "ada", { ...inShop, role: "Users", access: "Read" });
export const key = manifest("ApiKey", "robot", { ...inShop, role: "Administrators", access: "Write" });
