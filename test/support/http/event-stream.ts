// A client of server-sent events (WHATWG HTML §9.2) that keeps what it is sent, in order.

import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { eventually } from "../time/eventually.ts";
import type { Served } from "./served.ts";

export interface SentEvent {
  readonly event: string;
  /** Absent where the event has none; "" resets the client's position. */
  readonly id?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventStream {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** All that came so far, without `retry`. */
  events(): readonly SentEvent[];
  /** Those without bookmarks, once there are `count`. */
  changes(count: number): Promise<readonly SentEvent[]>;
  /** Once the server has ended it. */
  ended(): Promise<readonly SentEvent[]>;
  /** The position to go on from. */
  position(): string;
  retry(): number | undefined;
  /** The body of a refusal. */
  text(): string;
  pause(): void;
  close(): void;
}

const open = new Set<ClientRequest>();

/** Called after each test. */
export function closeStreams(): void {
  for (const each of open) each.destroy();
  open.clear();
}

export function follow(
  { origin, base }: Pick<Served, "origin" | "base">,
  path: string,
  { as, headers = {} }: { readonly as?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<EventStream> {
  const { hostname, port } = new URL(origin);
  const sent = { accept: "text/event-stream", ...(as !== undefined && { authorization: as }), ...headers };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path: base + path, headers: sent, agent: false }, (incoming) => {
      resolve(streamOf(request, incoming));
    });
    open.add(request);
    request.on("error", reject);
    request.end();
  });
}

function streamOf(request: ClientRequest, incoming: IncomingMessage): EventStream {
  let text = "";
  let isEnded = false;
  incoming.setEncoding("utf8");
  incoming.on("data", (piece: string) => {
    text += piece;
  });
  incoming.on("end", () => {
    isEnded = true;
  });
  incoming.on("error", () => undefined);
  const events = (): readonly SentEvent[] => text.split("\n\n").slice(0, -1).flatMap(eventIn);
  const changes = (): readonly SentEvent[] => events().filter(({ event }) => event !== "bookmark");
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    events,
    async changes(count) {
      await eventually(() => {
        if (changes().length < count) throw new Error(`${changes().length} of ${count} changes came: ${text}`);
      });
      return changes();
    },
    async ended() {
      await eventually(() => {
        if (!isEnded) throw new Error(`The stream is open: ${text}`);
      });
      return events();
    },
    position: () => events().findLast(({ id }) => id !== undefined)?.id ?? "",
    retry: () => Number(/^retry: (\d+)$/m.exec(text)?.[1] ?? Number.NaN),
    text: () => text,
    pause: () => void incoming.pause(),
    close: () => void request.destroy(),
  };
}

/** Of the text between two empty lines; none of `retry`. */
export function eventIn(block: string): readonly SentEvent[] {
  const fields = new Map(block.split("\n").map((line) => [line.split(":", 1)[0] ?? "", textOf(line)]));
  const event = fields.get("event");
  const id = fields.get("id");
  if (event === undefined) return [];
  return [{ event, ...(id !== undefined && { id }), data: JSON.parse(fields.get("data") ?? "{}") }];
}

function textOf(line: string): string {
  return line.slice(line.indexOf(":") + 1).trimStart();
}
