// One JSON line per request: who asked what of which project, and how it ended. Put together from pieces, because
// serialising an object costs a fifth of a request. Credentials and bodies are never in it; queries are left out.

import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { Caller } from "../authenticate/caller.ts";
import type { Ending, Exchange } from "../http/exchange.ts";

export interface AccessLog {
  request(exchange: Exchange, ending: Ending): void;
  refusal(requestId: string, ending: Omit<Ending, "seconds">): void;
}

const pathLimit = 1024;
const silent: AccessLog = Object.freeze({ request: () => undefined, refusal: () => undefined });

export function createAccessLog(logger: Logger, clock: Clock): AccessLog {
  if (!logger.writes("info")) return silent;
  let second = 0;
  let prefix = "";
  const time = (): string => {
    const now = clock.now();
    const current = Math.floor(now / 1000);
    if (current !== second) {
      second = current;
      prefix = new Date(current * 1000).toISOString().slice(0, 20);
    }
    return `${prefix}${String(now % 1000).padStart(3, "0")}Z`;
  };
  const writeRequest = (exchange: Exchange, ending: Ending): void => {
    const { request, project } = exchange;
    let line = `{"time":"${time()}","level":"info","message":"Request","requestId":"${exchange.requestId}"`;
    if (project) line += `,"namespace":"${project.config.namespace}","project":"${project.config.name}"`;
    line += `,"method":"${request.method}","path":${pathText(exchange.rawUrl)}`;
    if (exchange.caller) line += callerText(exchange.caller);
    line += `,"status":${ending.status}`;
    if (ending.code !== undefined) line += `,"code":"${ending.code}"`;
    logger.line(`${line},"durationMs":${(ending.seconds * 1000).toFixed(3)}}`);
  };
  return {
    request: writeRequest,
    refusal: (requestId, { status, code }) => logger.info("Connection refused", { requestId, status, code }),
  };
}

/** Without the query, whose filters are data. */
function pathText(rawUrl: string): string {
  const mark = rawUrl.indexOf("?");
  return JSON.stringify((mark < 0 ? rawUrl : rawUrl.slice(0, mark)).slice(0, pathLimit));
}

const callerTexts = new WeakMap<Caller, string>();

function callerText(caller: Caller): string {
  const known = callerTexts.get(caller);
  if (known !== undefined) return known;
  const text =
    caller.kind === "apikey"
      ? `,"caller":${JSON.stringify(`apikey:${caller.name}`)},"keyDescription":${JSON.stringify(caller.description)}`
      : `,"caller":${JSON.stringify(caller.kind === "anonymous" ? "anonymous" : `user:${caller.name}`)}`;
  callerTexts.set(caller, text);
  return text;
}
