// A client that lists, follows the changes from there, and applies them to what it has. It is cut
// off at random, and goes on from there, or from what it had earlier, or lists again. When nobody
// writes any more, what it has is compared with a list.

import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { eventIn, type SentEvent } from "../../support/http/event-stream.ts";
import { apikey } from "../../support/http/projects.ts";
import type { Target } from "../ask.ts";
import { base, movingFrom, owners } from "../project.ts";
import { askOne, type ClientDeps, noteUnexpected } from "./client.ts";

/** What one subscriber follows. */
export interface Source {
  readonly name: string;
  /** With its filters. */
  readonly path: string;
  /** Whose objects it sees; absent = all. */
  readonly sees?: string;
  /** Of the times that it was cut off, how often it goes on from an older state, or lists again. */
  readonly goesBack?: number;
  readonly listsAgain?: number;
}

export const sources: readonly Source[] = [
  { name: "of all items", path: "/api/items" },
  { name: "of all items, going back", path: "/api/items", goesBack: 0.5 },
  { name: "of all items, listing again", path: "/api/items", goesBack: 0.1, listsAgain: 0.3 },
  ...owners.map((sees) => ({ name: `of ${sees}`, path: "/api/items", sees, goesBack: 0.3 })),
  { name: "of the shelf", path: "/api/shelf" },
  { name: "of the shelf's end", path: `/api/shelf?rank:ge=${movingFrom + 500}`, goesBack: 0.3 },
  { name: "of the registers", path: "/json/registers", goesBack: 0.3 },
];

export interface SubscriberDeps extends ClientDeps {
  /** Whether positions get too old while it is away; then it stays away for longer. */
  readonly isTrimmed: boolean;
  /** By which it must have been told everything, after the last write. */
  readonly withinMs: number;
}

/** Milliseconds. */
const connectedFor = { least: 20, more: 1_500 };
const awayFor = 2_500;
const betweenTries = 100;
const remembered = 5;

type State = ReadonlyMap<string, string>;

interface Listed {
  readonly state: State;
  readonly position: string;
}

export class Subscriber {
  readonly #source: Source;
  readonly #deps: SubscriberDeps;
  #state = new Map<string, string>();
  /** None before the first list and after a reset. */
  #position: string | undefined;
  /** What it had where it was cut off before, as a client has that restores a backup. */
  #saved: Listed[] = [];
  #connections = 0;
  #isOver = false;
  #request: ClientRequest | undefined;

  constructor(source: Source, deps: SubscriberDeps) {
    this.#source = source;
    const as = source.sees === undefined ? deps.credentials.worker : apikey(source.sees);
    this.#deps = { ...deps, credentials: { ...deps.credentials, worker: as } };
  }

  /** Until `stop`; is no longer cut off once clients are stopped. */
  async run(): Promise<void> {
    const { random } = this.#deps;
    while (!this.#isOver) {
      if (this.#position === undefined) await this.#begin();
      else await this.#follow();
      if (this.#deps.stopped()) await sleep(betweenTries);
      else if (random.fraction() < (this.#source.listsAgain ?? 0)) this.#position = undefined;
      else if (this.#deps.isTrimmed && random.fraction() < 0.3) await sleep(random.fraction() * awayFor);
    }
  }

  stop(): void {
    this.#isOver = true;
    this.#request?.destroy();
  }

  /** Notes what it lacks, or has too much, when it has had time to be told. */
  async settle(): Promise<void> {
    const { history, withinMs } = this.#deps;
    const from = history.now();
    for (;;) {
      const listed = await this.#list();
      const differences = listed === undefined ? ["no list to compare with"] : differencesOf(this.#state, listed.state);
      const to = history.now();
      if (differences.length === 0 || to - from > withinMs) {
        history.add({ kind: "compared", subscriber: this.#name, differences, from, to });
        return;
      }
      await sleep(betweenTries);
    }
  }

  get #name(): string {
    return `The subscriber ${this.#source.name}`;
  }

  async #begin(): Promise<void> {
    const listed = await this.#list();
    if (listed === undefined) return await sleep(betweenTries);
    this.#state = new Map(listed.state);
    this.#position = listed.position;
  }

  async #list(): Promise<Listed | undefined> {
    const state = new Map<string, string>();
    let position: string | undefined;
    const { path } = this.#source;
    const paging = path.startsWith("/api") ? `${path.includes("?") ? "&" : "?"}_limit=100&_cursor=` : "";
    for (let next: string | undefined = path + paging; next !== undefined; ) {
      const asked = { path: next };
      const answer = await askOne(this.#deps, asked);
      noteUnexpected(this.#deps.history, asked, answer, { statuses: [200] });
      if (answer.status !== 200) return undefined;
      position = String(answer.headers["changes-position"]);
      const page = JSON.parse(answer.text) as Page;
      if (paging === "") return { state: new Map([["", JSON.stringify(page)]]), position };
      for (const item of page.items) state.set(item.id, JSON.stringify(item));
      next = page.links.next?.split(base)[1];
    }
    return position === undefined ? undefined : { state, position };
  }

  /** Until it is cut off, or the stream ends. */
  async #follow(): Promise<void> {
    const { random } = this.#deps;
    if (random.fraction() < (this.#source.goesBack ?? 0)) this.#goBack();
    const position = this.#position ?? "";
    this.#saved = [...this.#saved.slice(1 - remembered), { position, state: new Map(this.#state) }];
    const response = await this.#connect(random.pick(this.#deps.replicas()), position);
    if (response === undefined) return await sleep(betweenTries);
    this.#connections += 1;
    const end = setTimeout(() => this.#cutOff(), connectedFor.least + random.fraction() ** 2 * connectedFor.more);
    let text = "";
    try {
      for await (const piece of response.setEncoding("utf8")) {
        const blocks = (text + piece).split("\n\n");
        text = blocks.pop() ?? "";
        for (const event of blocks.flatMap(eventIn)) this.#apply(event);
      }
    } catch {
      // Cut off, by whomever.
    } finally {
      clearTimeout(end);
    }
  }

  #goBack(): void {
    if (this.#saved.length === 0) return;
    const { position, state } = this.#deps.random.pick(this.#saved);
    this.#position = position;
    this.#state = new Map(state);
  }

  #cutOff(): void {
    if (!this.#deps.stopped()) this.#request?.destroy();
  }

  /** Undefined without a stream. */
  async #connect({ origin }: Target, position: string): Promise<IncomingMessage | undefined> {
    const { random, history, credentials } = this.#deps;
    const byHeader = random.fraction() < 0.5;
    const query = `${this.#source.path.includes("?") ? "&" : "?"}_position=${encodeURIComponent(position)}`;
    const path = base + this.#source.path + (byHeader ? "" : query);
    const { hostname, port } = new URL(origin);
    const headers = {
      accept: "text/event-stream",
      authorization: credentials.worker,
      ...(byHeader && { "last-event-id": position }),
    };
    const response = await new Promise<IncomingMessage | undefined>((resolve) => {
      this.#request = request({ hostname, port, path, headers, agent: false }, resolve);
      this.#request.on("error", () => resolve(undefined));
      this.#request.end();
    });
    if (response === undefined || response.statusCode === 200) return response;
    if (response.statusCode !== 503) history.unexpected(`${this.#name}: ${path} was answered ${response.statusCode}`);
    response.resume();
    return undefined;
  }

  #apply({ event, id: position, data }: SentEvent): void {
    const { history, isTrimmed } = this.#deps;
    if (event === "reset") {
      const reason = String(data["reason"]);
      history.add({ kind: "reset", subscriber: this.#name, reason, isTrimmed, at: history.now() });
      this.#position = undefined;
      return;
    }
    this.#position = position ?? this.#position;
    if (event === "put" || event === "delete") this.#change(event, data);
  }

  #change(event: "put" | "delete", data: SentEvent["data"]): void {
    const { history } = this.#deps;
    const { sees } = this.#source;
    const id = String(data["id"] ?? "");
    const object = data["object"] as Versioned | undefined;
    if (event === "put") this.#state.set(id, JSON.stringify(object ?? data["value"]));
    else this.#state.delete(id);
    const version = object?.n ?? object?.label;
    history.add({
      kind: "told",
      subscriber: this.#name,
      ...(sees !== undefined && { sees }),
      connection: this.#connections,
      event,
      id,
      ...(version !== undefined && { version }),
      at: history.now(),
    });
  }
}

interface Versioned {
  readonly n?: number;
  readonly label?: number;
}

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly links: { readonly next?: string };
}

function differencesOf(had: State, listed: State): readonly string[] {
  const ids = [...new Set([...had.keys(), ...listed.keys()])].filter((id) => had.get(id) !== listed.get(id));
  return ids.slice(0, 5).map((id) => `${id} is ${had.get(id) ?? "missing"} instead of ${listed.get(id) ?? "missing"}`);
}
