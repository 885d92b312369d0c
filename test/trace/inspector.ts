// Talks to the inspector of a Node process (the Chrome DevTools Protocol over a WebSocket):
// `--inspect` opens it, and so does SIGUSR1 in one that runs. Refuses with ScriptFailed where
// nothing answers.

import { ScriptFailed } from "../../tools/start-script.ts";

export interface Inspector {
  call<Result>(method: string, params?: object): Promise<Result>;
  on<Event>(method: string, listener: (event: Event) => void): void;
  close(): void;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** `address` = host and port of the inspector. */
export async function connectInspector(address: string): Promise<Inspector> {
  const socket = new WebSocket(await socketUrl(address));
  const { promise: opened, resolve: open, reject: fail } = Promise.withResolvers<void>();
  socket.addEventListener("open", () => open());
  socket.addEventListener("error", () => fail(unreachable(address)));
  await opened;

  let asked = 0;
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const listeners = new Map<string, (event: never) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(String(data)) as Message;
    if (method !== undefined) listeners.get(method)?.(params as never);
    if (id === undefined) return;
    if (error === undefined) waiting.get(id)?.resolve(result);
    else waiting.get(id)?.reject(new Error(`The inspector refused: ${error.message}`));
    waiting.delete(id);
  });
  socket.addEventListener("close", () => {
    for (const each of waiting.values()) each.reject(new ScriptFailed("The inspected process ended"));
  });

  return {
    call<Result>(method: string, params: object = {}) {
      asked += 1;
      const answer = Promise.withResolvers<unknown>();
      waiting.set(asked, answer);
      socket.send(JSON.stringify({ id: asked, method, params }));
      return answer.promise as Promise<Result>;
    },
    on: (method, listener) => void listeners.set(method, listener as (event: never) => void),
    close: () => socket.close(),
  };
}

async function socketUrl(address: string): Promise<string> {
  const reply = await fetch(`http://${address}/json/list`).catch(() => undefined);
  if (reply === undefined) throw unreachable(address);
  const [target] = (await reply.json()) as readonly { readonly webSocketDebuggerUrl: string }[];
  if (target === undefined) throw unreachable(address);
  return target.webSocketDebuggerUrl;
}

function unreachable(address: string): ScriptFailed {
  return new ScriptFailed(`No inspector answers at ${address}: start the replica with --inspect, or send it SIGUSR1`);
}
