// What `jsonplane dev` can be given, by flags or environment variables.

import {
  adminPort,
  data,
  host,
  logLevel,
  port,
  publicUrl,
  redis,
  seed,
  trustedProxies,
} from "../../core/env/settings.ts";
import type { CommandSettings } from "../command.ts";

export const settings = {
  host,
  port,
  adminPort,
  data,
  seed,
  redis: { ...redis, help: `${redis.help}; default: an embedded store in --data` },
  logLevel: {
    ...logLevel,
    help: `${logLevel.help}; at warn, standard output shows requests instead`,
    fallback: "warn",
  },
  publicUrl,
  trustedProxies,
};

export type DevSettings = CommandSettings<typeof settings, never>;
