// Every command of the program, in the order of the help.

import { backupCommand } from "./backup/command.ts";
import type { Command } from "./command.ts";
import { dataOrphansCommand } from "./data-orphans/command.ts";
import { dataResetCommand } from "./data-reset/command.ts";
import { dataplaneCommand } from "./dataplane/command.ts";
import { devCommand } from "./dev/command.ts";
import { eraseCommand } from "./erase/command.ts";
import { exportCommand } from "./export/command.ts";
import { clearFinalizersCommand } from "./finalizers/command.ts";
import { importCommand } from "./import/command.ts";
import { initCommand } from "./init/command.ts";
import { mcpCommand } from "./mcp/command.ts";
import { operatorCommand } from "./operator/command.ts";
import { restoreCommand } from "./restore/command.ts";
import { typesCommand } from "./types/command.ts";
import { validateCommand } from "./validate/command.ts";
import { watchCommand } from "./watch/command.ts";

export const commands: readonly Command[] = [
  initCommand,
  devCommand,
  validateCommand,
  typesCommand,
  watchCommand,
  mcpCommand,
  exportCommand,
  importCommand,
  eraseCommand,
  operatorCommand,
  dataplaneCommand,
  backupCommand,
  restoreCommand,
  clearFinalizersCommand,
  dataResetCommand,
  dataOrphansCommand,
];
