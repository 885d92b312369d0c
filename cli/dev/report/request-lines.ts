// Shows requests, one short line each: method, path, query, status, time, caller, and why a token
// is refused. Values in a query are shown of parameters that the resource has, unless their names
// sound secret; anything else may be a misplaced key. Nothing else that a client sends is shown. In
// a burst it counts what it does not show.

import type { IncomingHttpHeaders } from "node:http";
import { styleText } from "node:util";
import { percentDecoded } from "../../../core/http/percent-decoded.ts";
import type { LogLevel } from "../../../core/log/logger.ts";
import type { Timers } from "../../../core/timers.ts";
import { type Caller, creatorOf } from "../../../dataplane/authenticate/caller.ts";
import type { LiveResource } from "../../../dataplane/config/directory.ts";
import type { Ending, IncomingRequest, RequestContext } from "../../../dataplane/http/exchange.ts";
import { isListParameter } from "../../../dataplane/objects/list/query.ts";
import { printable } from "../../../operator/status/messages.ts";

export interface RequestLinesOptions {
  readonly write: (text: string) => void;
  readonly hasColors: boolean;
  readonly timers: Timers;
}

export interface RequestLines {
  show(shown: ShownRequest, ending: ShownEnding): void;
  /** Writes what is gathered. */
  flush(): void;
}

/** What of a request is shown. */
export type ShownRequest = Pick<IncomingRequest, "rawUrl"> &
  Pick<RequestContext, "proof"> & {
    readonly request: {
      readonly method: string;
      readonly headers: Pick<IncomingHttpHeaders, "host" | "origin" | "authorization">;
    };
    readonly problem?: { readonly message: string } | undefined;
    readonly project?:
      | {
          readonly config: { readonly cors: { readonly allowedOrigins: readonly string[] } };
          readonly resources: ReadonlyMap<string, Pick<LiveResource, "schema">>;
        }
      | undefined;
  };

type ShownEnding = Pick<Ending, "status" | "code" | "seconds">;

const flushAfterMs = 100;
const maxLinesPerFlush = 40;
const maxPathCharacters = 100;
const maxQueryCharacters = 200;

/** Undefined where not even warnings are wanted, and where the log has a line per request. */
export function requestLinesFor(
  stdout: Pick<NodeJS.WriteStream, "write"> & { hasColors?(): boolean },
  logLevel: LogLevel,
  timers: Timers,
): RequestLines | undefined {
  if (logLevel !== "warn") return undefined;
  // Node goes by NO_COLOR and by what the terminal is. A pipe has no such method.
  const hasColors = stdout.hasColors?.() ?? false;
  return createRequestLines({ write: (text) => void stdout.write(text), hasColors, timers });
}

export function createRequestLines({ write, hasColors, timers }: RequestLinesOptions): RequestLines {
  let lines: string[] = [];
  let left = 0;
  let stopTimer: (() => void) | undefined;
  const flush = (): void => {
    stopTimer?.();
    stopTimer = undefined;
    if (lines.length === 0) return;
    const more = left === 0 ? [] : [`… and ${left} more ${left === 1 ? "request" : "requests"}`];
    write([...lines, ...more, ""].join("\n"));
    lines = [];
    left = 0;
  };
  return {
    show(shown, ending) {
      stopTimer ??= timers.after(flushAfterMs, flush);
      if (lines.length < maxLinesPerFlush) lines.push(requestLine(shown, ending, hasColors));
      else left += 1;
    },
    flush,
  };
}

type Style = Parameters<typeof styleText>[0];

function requestLine(shown: ShownRequest, ending: ShownEnding, hasColors: boolean): string {
  const { request, rawUrl, proof } = shown;
  const refused = refusedOrigin(shown);
  const { status, code, seconds } = ending;
  const fault = status === 401 ? faultOfToken(shown) : undefined;
  const styled = (style: Style, text: string): string =>
    hasColors ? styleText(style, text, { validateStream: false }) : text;
  const outcome = code === undefined ? `${status}` : `${status} ${code}`;
  return [
    `${request.method.padEnd(6)} ${shownTarget(rawUrl, shown.project)}`,
    styled(styleOf(status), outcome),
    styled("dim", timeOf(seconds)),
    styled("dim", printable(callerName(proof?.caller))),
    ...(fault === undefined ? [] : [styled("yellow", printable(fault))]),
    ...(refused === undefined ? [] : [styled("yellow", `origin ${refused} is not in spec.cors.allowedOrigins`)]),
  ].join("  ");
}

/** The sentence names claims in the Project's own words, and nothing of the token. */
function faultOfToken({ request: { headers }, problem }: ShownRequest): string | undefined {
  return /^bearer /i.test(headers.authorization ?? "") ? problem?.message : undefined;
}

/** The origin of a page whose browser hides the response; the browser tells the page no reason. */
function refusedOrigin({ request: { headers }, project }: ShownRequest): string | undefined {
  const { origin, host } = headers;
  if (origin === undefined || project === undefined || origin.endsWith(`://${host}`)) return undefined;
  const { allowedOrigins } = project.config.cors;
  if (allowedOrigins.includes("*") || allowedOrigins.includes(origin)) return undefined;
  return printable(origin.slice(0, maxPathCharacters));
}

function styleOf(status: number): Style {
  if (status >= 500) return "red";
  if (status >= 400) return "yellow";
  return status >= 300 ? "cyan" : "green";
}

/** As it was sent. Before it may stand a host with a password. */
function shownTarget(rawUrl: string, project: ShownRequest["project"]): string {
  const target = rawUrl.replace(/^[^/?#]+:\/\/[^/?#]*/, "");
  const [path = ""] = target.split(/[?#]/, 1);
  const query = target.slice(path.length + 1);
  const short = shortened(path, maxPathCharacters);
  if (query === "") return short;
  const resource = project?.resources.get(/\/api\/([^/]+)/.exec(path)?.[1] ?? "");
  return `${short}?${shortened(query.split("&").map(shownParameter(resource?.schema)).join("&"), maxQueryCharacters)}`;
}

function shownParameter(schema: LiveResource["schema"] | undefined): (parameter: string) => string {
  return (parameter) => {
    const [encoded = "", value] = parameter.split(/=(.*)/s, 2);
    const name = percentDecoded(encoded) ?? "";
    // A key may stand there without a name.
    if (value === undefined || !/^[\w.:-]{1,40}$/.test(name)) return "…";
    const isKnown = schema !== undefined && isListParameter(name, schema) && !soundsSecret.test(name);
    return `${name}=${isKnown ? value : "…"}`;
  };
}

/** A filter may compare a field that holds a secret. */
const soundsSecret =
  /passw|passphrase|pwd|secret|token|credential|signature|jwt|authorization|(?:key|pin|otp|auth)(?:[.:]|$)/i;

function shortened(text: string, max: number): string {
  const shown = printable(text);
  return shown.length > max ? `${shown.slice(0, max)}…` : shown;
}

function timeOf(seconds: number): string {
  const milliseconds = seconds * 1000;
  if (milliseconds >= 1000) return `${seconds.toFixed(1)} s`;
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}

function callerName(caller: Caller | undefined): string {
  if (caller === undefined) return "not authenticated";
  if (caller.kind === "anonymous") return "anonymous";
  if (caller.kind === "external") return `external ${printable(creatorOf(caller))}`;
  return caller.kind === "user" ? `user ${caller.name}` : `key ${caller.name}`;
}
