// What `jsonplane finalizers clear` can be given, by flags or environment variables.

import { allNamespaces, dryRun, force, kind, kubeconfig, namespace } from "../../core/env/settings.ts";
import type { CommandSettings } from "../command.ts";

export const settings = { namespace, allNamespaces, kind, kubeconfig, dryRun, force };

export type ClearSettings = CommandSettings<typeof settings, never>;
