// What `jsonplane restore` can be given, by flags or environment variables.

import { before, identityFile, projects } from "../../core/env/backup-settings.ts";
import { dryRun, importMode, keyring, only, redis, redisCaFile } from "../../core/env/settings.ts";
import { bucketSettings } from "../backup/settings.ts";
import type { CommandSettings } from "../command.ts";

export const settings = {
  redis,
  redisCaFile,
  keyring,
  projects: { ...projects, help: `${projects.help}; default: none, and the backups that there are are listed` },
  only: { ...only, help: "Resources and root keys, comma-separated, such as books; default: all" },
  before,
  mode: {
    ...importMode,
    help: "create: what is stored under the same id or root key stays, and is reported where it differs; replace: it is overwritten",
  },
  dryRun: { ...dryRun, help: "Say what would be written, and write nothing" },
  identityFile,
  ...bucketSettings,
};

export type RestoreSettings = CommandSettings<typeof settings, "redis" | "keyring">;
