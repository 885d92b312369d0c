// Runs `jsonplane watch`: prints a line for each change until Ctrl-C. Exit code 1 where the server
// refuses.

import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { runProgram } from "../run-program.ts";
import { type CredentialFiles, credentialFrom } from "../service/credential.ts";
import { fetch } from "../service/fetch.ts";
import { note } from "../service/notes.ts";
import { serviceProgram } from "../service/refusal.ts";
import { ServiceRefused } from "../service/service.ts";
import { createChangesClient } from "./changes-client.ts";
import { type WatchedChange, watch } from "./watch.ts";

export interface WatchSettings extends CredentialFiles {
  readonly list: boolean;
  readonly output: "lines" | "json";
}

export async function runWatch(text: string, settings: WatchSettings): Promise<number> {
  return await runProgram(serviceProgram, async ({ stopping: signal }) => {
    const { url, position } = watchedUrl(text);
    const client = createChangesClient({ fetch, url, authorization: credentialFrom(settings), signal });
    const deps = {
      client,
      pause: (milliseconds: number) => sleep(milliseconds, undefined, { signal }).catch(() => undefined),
      onChange: (change: WatchedChange) => print(settings.output === "json" ? change.data : lineOf(change), signal),
      note,
    };
    const resource = decodeURIComponent(/([^/]*)\/?$/.exec(url.pathname)?.[1] ?? "");
    return { ended: watch(deps, { resource, list: settings.list, position, signal }).then(() => 0) };
  });
}

function lineOf({ kind, name, text }: WatchedChange): string {
  return text === undefined ? `${kind}  ${name}` : `${kind}  ${name}  ${text}`;
}

/** Waits while whoever reads is slow: then the server waits, too. */
async function print(line: string, signal: AbortSignal): Promise<void> {
  if (process.stdout.write(`${line}\n`)) return;
  await once(process.stdout, "drain", { signal }).catch(() => undefined);
}

/** Without `_position`: each connection sends a newer one in Last-Event-ID. */
function watchedUrl(text: string): { readonly url: URL; readonly position: string | undefined } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new ServiceRefused("URL must be one such as https://api.example.org/default/shop/api/books");
  }
  if (url.username + url.password !== "") {
    throw new ServiceRefused("URL must have no user or password: name a file with a credential with --api-key-file");
  }
  const position = url.searchParams.get("_position") || undefined;
  const pieces = url.search.slice(1).split("&");
  url.search = pieces.filter((piece) => !/^_position(=|$)/.test(piece)).join("&");
  url.hash = "";
  return { url, position };
}
