// What dev mode is started with.

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
