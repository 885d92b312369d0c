// What `jsonplane export` can be given, by flags or environment variables.

import {
  apiKeyFile,
  continued,
  exportFormat,
  out,
  owner,
  resource,
  rootKey,
  since,
  tokenFile,
} from "../../core/env/settings.ts";
import type { CommandSettings } from "../command.ts";

export const settings = {
  out,
  format: exportFormat,
  resource,
  rootKey,
  owner,
  since,
  continued,
  apiKeyFile,
  tokenFile,
};

export type ExportSettings = CommandSettings<typeof settings, never>;
