// What dev mode is started with, and how what it opens is closed again.

import type { LogLevel } from "../../core/log/logger.ts";

export interface DevOptions {
  readonly folder: string;
  readonly host: string;
  readonly port: number;
  readonly adminPort: number;
  readonly data: string;
  readonly redis: string | undefined;
  readonly logLevel: LogLevel;
  readonly publicUrl: string | undefined;
  readonly trustedProxies: readonly string[];
}

/** How to close what was opened, in the order of opening. */
export type Closers = (() => Promise<void> | void)[];
