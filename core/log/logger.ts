// Writes JSON log lines, gathered for a moment so that a busy program makes few system calls.
// Messages start with a capital letter and name the object's kind; facts are fields. Callers keep
// secrets out.

import type { Clock } from "../clock.ts";

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export type Fields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** Whether lines of this level are written at all. */
  writes(level: LogLevel): boolean;
  /** Queues one finished JSON line, without its newline. */
  line(text: string): void;
  /** Hands everything queued to the destination. */
  flush(): void;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly clock: Clock;
  /** Takes complete lines, with newlines. */
  readonly write: (text: string) => void;
}

const flushAfterMs = 100;
/** Below the 64 KiB of a pipe on Linux, so that a write to one that was emptied never blocks. */
const flushAtCharacters = 48 * 1024;

export function createLogger(options: LoggerOptions): Logger {
  const threshold = logLevels.indexOf(options.level);
  let queued = "";
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (queued === "") return;
    const text = queued;
    queued = "";
    options.write(text);
  };

  const line = (text: string): void => {
    queued += `${text}\n`;
    if (queued.length >= flushAtCharacters) flush();
    else timer ??= setTimeout(flush, flushAfterMs).unref();
  };

  const writes = (level: LogLevel): boolean => logLevels.indexOf(level) >= threshold && level !== "silent";

  const log = (level: LogLevel, message: string, fields: Fields = {}): void => {
    if (!writes(level)) return;
    line(JSON.stringify({ time: new Date(options.clock.now()).toISOString(), level, message, ...fields }));
    // What someone must act on is not left in memory for a crash to take along.
    if (level === "error") flush();
  };

  return {
    debug: (message, fields) => log("debug", message, fields),
    info: (message, fields) => log("info", message, fields),
    warn: (message, fields) => log("warn", message, fields),
    error: (message, fields) => log("error", message, fields),
    writes,
    line,
    flush,
  };
}
