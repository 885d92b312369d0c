// Puts around every call of a store: an observation of how long it took and how it ended, a count of calls under way that
// close waits for, and StoreUnavailable for calls after that.

import { OutcomeUnknown, StoreUnavailable } from "../../../core/errors/store-errors.ts";
import type { Store, StoreObservation } from "../port.ts";

type Observe = (observation: StoreObservation) => void;

export function observedStore(store: Store, observe: Observe | undefined): Store {
  const calls = new Calls(observe);
  return {
    declareIndexes: (...args) => calls.run("declareIndexes", () => store.declareIndexes(...args)),
    buildIndexes: (...args) => calls.run("buildIndexes", () => store.buildIndexes(...args)),
    indexes: (...args) => calls.run("indexes", () => store.indexes(...args)),
    create: (...args) => calls.run("create", () => store.create(...args)),
    read: (...args) => calls.run("read", () => store.read(...args)),
    replace: (...args) => calls.run("replace", () => store.replace(...args)),
    remove: (...args) => calls.run("remove", () => store.remove(...args)),
    removeUnchanged: (...args) => calls.run("removeUnchanged", () => store.removeUnchanged(...args)),
    pageByCreation: (...args) => calls.run("pageByCreation", () => store.pageByCreation(...args)),
    pageByField: (...args) => calls.run("pageByField", () => store.pageByField(...args)),
    pageAfter: (...args) => calls.run("walk", () => store.pageAfter(...args)),
    candidates: (...args) => calls.run("candidates", () => store.candidates(...args)),
    readObjects: (...args) => calls.each("readObjects", store.readObjects(...args)),
    count: (...args) => calls.run("count", () => store.count(...args)),
    scan: (...args) => calls.each("scan", store.scan(...args)),
    collectionIdentity: (...args) => calls.run("collectionIdentity", () => store.collectionIdentity(...args)),
    purge: (...args) => calls.run("purge", () => store.purge(...args)),
    initialise: (...args) => calls.run("initialise", () => store.initialise(...args)),
    readAt: (...args) => calls.run("readAt", () => store.readAt(...args)),
    insertAt: (...args) => calls.run("insertAt", () => store.insertAt(...args)),
    putAt: (...args) => calls.run("putAt", () => store.putAt(...args)),
    removeAt: (...args) => calls.run("removeAt", () => store.removeAt(...args)),
    documentIdentity: (...args) => calls.run("documentIdentity", () => store.documentIdentity(...args)),
    purgeDocument: (...args) => calls.run("purgeDocument", () => store.purgeDocument(...args)),
    collectionFigures: (...args) => calls.run("collectionFigures", () => store.collectionFigures(...args)),
    countBytes: (...args) => calls.run("countBytes", () => store.countBytes(...args)),
    documentFigures: (...args) => calls.run("documentFigures", () => store.documentFigures(...args)),
    idempotencyRecord: (...args) => calls.run("receipt", () => store.idempotencyRecord(...args)),
    putSession: (...args) => calls.run("putSession", () => store.putSession(...args)),
    session: (...args) => calls.run("session", () => store.session(...args)),
    touchSession: (...args) => calls.run("touchSession", () => store.touchSession(...args)),
    endSession: (...args) => calls.run("endSession", () => store.endSession(...args)),
    sessions: (...args) => calls.run("sessions", () => store.sessions(...args)),
    purgeSessions: (...args) => calls.run("purgeSessions", () => store.purgeSessions(...args)),
    sessionKeeper: store.sessionKeeper,
    followEndedSessions: (...args) => calls.run("followEndedSessions", () => store.followEndedSessions(...args)),
    spend: (...args) => calls.run("spend", () => store.spend(...args)),
    refund: (...args) => calls.run("refund", () => store.refund(...args)),
    drawTokens: (...args) => calls.run("drawTokens", () => store.drawTokens(...args)),
    health: () => (calls.isClosed ? { reachable: false } : store.health()),
    close: () => calls.close(() => store.close()),
  };
}

class Calls {
  readonly #observe: Observe | undefined;
  #underWay = 0;
  #closed: Promise<void> | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(observe: Observe | undefined) {
    this.#observe = observe;
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  async run<T>(operation: string, call: () => Promise<T>): Promise<T> {
    if (this.isClosed) throw new StoreUnavailable("The store is closed");
    const start = performance.now();
    this.#underWay += 1;
    try {
      const result = await call();
      this.#report(operation, start, "ok");
      return result;
    } catch (error) {
      this.#report(operation, start, outcomeOf(error));
      throw error;
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#whenIdle?.();
    }
  }

  /** Each step of an iteration is a call. */
  async *each<T>(operation: string, items: AsyncIterable<T>): AsyncIterable<T> {
    const iterator = items[Symbol.asyncIterator]();
    try {
      for (;;) {
        const step = await this.run(operation, () => iterator.next());
        if (step.done) return;
        yield step.value;
      }
    } finally {
      await iterator.return?.();
    }
  }

  close(release: () => Promise<void>): Promise<void> {
    this.#closed ??= this.#idle().then(release);
    return this.#closed;
  }

  #idle(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  #report(operation: string, start: number, outcome: StoreObservation["outcome"]): void {
    this.#observe?.({ operation, seconds: (performance.now() - start) / 1000, outcome });
  }
}

export function outcomeOf(error: unknown): StoreObservation["outcome"] {
  if (error instanceof StoreUnavailable) return "unavailable";
  return error instanceof OutcomeUnknown ? "unknown" : "error";
}
