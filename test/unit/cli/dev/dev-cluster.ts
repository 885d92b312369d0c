// Runs dev mode's stand-in for a cluster on a folder of its own: real files, real embedded store, a
// clock and a network name that tests set. `edit` writes manifests, `pass` is what happens when the
// watcher has seen it.

import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDevIssuers } from "../../../../cli/dev/apply/dev-issuers.ts";
import { createDevOperator, type DevOperator } from "../../../../cli/dev/apply/dev-operator.ts";
import { createStateFile } from "../../../../cli/dev/data-folder/dev-state.ts";
import { createSecretFiles, type SecretFiles } from "../../../../cli/dev/data-folder/secret-files.ts";
import type { CompiledProject } from "../../../../core/config/types.ts";
import { systemTimers } from "../../../../core/timers.ts";
import { createMemoryDirectory, type MemoryDirectory } from "../../../../dataplane/config/memory-directory.ts";
import { createEmbeddedStore } from "../../../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../../../dataplane/store/port.ts";
import { createResourceCheck } from "../../../../operator/compile/resource-check.ts";
import { fakeHash } from "../../../support/fleet/fake-hash.ts";
import { type ManualClock, manualClock } from "../../../support/time/manual-clock.ts";

export interface DevCluster {
  readonly folder: string;
  readonly clock: ManualClock;
  readonly store: Store;
  readonly secrets: SecretFiles;
  /** Passwords that argon2 would have hashed. */
  readonly hashed: string[];
  readonly live: MemoryDirectory;
  /** Writes a file of manifests, or removes it. */
  edit(file: string, text: string | undefined): void;
  pass(): Promise<readonly string[]>;
  operator(): DevOperator;
  /** What a process that starts again knows: only what is in files. */
  restart(): Promise<void>;
  parts(project?: string): CompiledProject | undefined;
  /** Milliseconds until the next pass has something to do by itself. */
  dueIn(): number | undefined;
  /** One entry of a generated Secret's manifest. */
  secretText(name: string, entry: string): string | undefined;
  close(): Promise<void>;
}

export async function devCluster(): Promise<DevCluster> {
  const root = mkdtempSync(join(tmpdir(), "jsonplane-dev-"));
  const folder = mkdtempSync(join(root, "manifests-"));
  const clock = manualClock();
  const store = await createEmbeddedStore({ directory: ":memory:", clock });
  const secrets = createSecretFiles(join(root, "secrets"));
  const hashed: string[] = [];
  const hmacKey = createSecretKey(randomBytes(32));
  const live = createMemoryDirectory(clock);
  const issuers = createDevIssuers(systemTimers);
  const open = (): Promise<DevOperator> =>
    createDevOperator({
      folder,
      stateFile: createStateFile(join(root, "objects.json")),
      secretFiles: secrets,
      live,
      checkResource: createResourceCheck(),
      issuers,
      store,
      clock,
      random: randomBytes,
      newUid: randomUUID,
      hashPassword: async (password) => {
        hashed.push(password);
        return fakeHash(password);
      },
      hmacKey,
      baseUrlOf: ({ namespace, name }) => `http://localhost/${namespace}/${name}`,
    });
  let devOperator = await open();
  return {
    folder,
    clock,
    store,
    secrets,
    hashed,
    live,
    edit(file, text) {
      if (text === undefined) rmSync(join(folder, file));
      else writeFileSync(join(folder, file), text);
    },
    pass: async () => (await devOperator.reconcile()).map(({ text }) => text.replaceAll(`${folder}/`, "")),
    operator: () => devOperator,
    async restart() {
      devOperator = await open();
    },
    parts: (project = "default/shop") => devOperator.view().published.get(project),
    dueIn() {
      const { nextAt } = devOperator.view();
      return nextAt && nextAt - clock.now();
    },
    secretText(name, entry) {
      try {
        const text = readFileSync(secrets.fileOf("default", name), "utf8");
        return new RegExp(`^  ${entry}: (.*)$`, "m").exec(text)?.[1];
      } catch {
        return undefined;
      }
    },
    async close() {
      await store.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
