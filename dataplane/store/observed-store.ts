// Wraps every call of a store: observes how long it took and how it ended, counts calls under way,
// for which close waits, and throws StoreUnavailable after that.

import { OutcomeUnknown, StoreUnavailable, WriteConflict } from "../../core/errors/store-errors.ts";
import type { Store, StoreObservation } from "./port.ts";

type Observe = (observation: StoreObservation) => void;

/** `local`: returns immediately and sends nothing. */
type Kind<M> = M extends (...args: never[]) => infer Result
  ? Result extends Promise<unknown>
    ? "call"
    : Result extends AsyncIterable<unknown>
      ? "iteration"
      : "local"
  : never;

type OtherThanCalls = { readonly [Name in keyof Store as Exclude<Name, CallName>]: Kind<Store[Name]> };
type CallName = { [Name in keyof Store]: Kind<Store[Name]> extends "call" ? Name : never }[keyof Store];

/** Methods that don't return a promise: the compiler requires all of them here, and no others. */
const otherKinds: OtherThanCalls = {
  readObjects: "iteration",
  scan: "iteration",
  onChanges: "local",
  sessionPrimary: "local",
  health: "local",
};

export function observedStore(store: Store, observe: Observe | undefined): Store {
  const calls = new Calls(observe);
  const kinds: Readonly<Partial<Record<keyof Store, Kind<Store[keyof Store]>>>> = otherKinds;
  const wrapped = wrapMethods(store, (name, method) => {
    switch (kinds[name]) {
      case "local":
        return method;
      case "iteration":
        return (...args) => calls.observedSteps(name, method(...args) as AsyncIterable<unknown>);
      default:
        return calls.observed(name, method as CallMethod);
    }
  });
  return Object.assign(wrapped, {
    health: () => (calls.isClosed ? { reachable: false } : store.health()),
    close: () => calls.close(() => store.close()),
  });
}

type CallMethod = (...args: readonly unknown[]) => Promise<unknown>;

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

  /** The method with all this around its calls. */
  observed(operation: string, method: CallMethod): CallMethod {
    return async (...args) => {
      if (this.#closed !== undefined) throw new StoreUnavailable("The store is closed");
      const start = performance.now();
      let outcome: StoreObservation["outcome"] = "ok";
      this.#underWay += 1;
      try {
        return await method(...args);
      } catch (error) {
        outcome = outcomeOf(error);
        throw error;
      } finally {
        this.#observe?.({ operation, seconds: (performance.now() - start) / 1000, outcome });
        this.#underWay -= 1;
        if (this.#underWay === 0) this.#whenIdle?.();
      }
    };
  }

  /** Each step of the iteration is a call. */
  async *observedSteps(operation: string, items: AsyncIterable<unknown>): AsyncIterable<unknown> {
    const iterator = items[Symbol.asyncIterator]();
    const next = this.observed(operation, () => iterator.next()) as () => Promise<IteratorResult<unknown>>;
    try {
      for (let step = await next(); !step.done; step = await next()) yield step.value;
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
}

export function outcomeOf(error: unknown): StoreObservation["outcome"] {
  // The store answered each command. A compare-and-set that lost is no failure that an alert may
  // count.
  if (error instanceof WriteConflict) return "ok";
  if (error instanceof StoreUnavailable) return "unavailable";
  return error instanceof OutcomeUnknown ? "unknown" : "error";
}

export type Method = (...args: readonly unknown[]) => unknown;

/** Another object with the methods of `port`, as `wrap` returns them, inherited ones too. */
export function wrapMethods<Port extends object>(
  port: Port,
  wrap: (name: keyof Port & string, method: Method) => Method,
): Port {
  const methods = port as Readonly<Record<string, Method>>;
  const wrapped: Record<string, Method> = {};
  for (const name of methodNames(port)) {
    const method = methods[name];
    if (method !== undefined) wrapped[name] = wrap(name as keyof Port & string, method.bind(port));
  }
  return wrapped as Port;
}

function methodNames(port: object): ReadonlySet<string> {
  const names = new Set<string>();
  for (let owner = port; owner !== Object.prototype && owner !== null; owner = Object.getPrototypeOf(owner)) {
    for (const name of Object.getOwnPropertyNames(owner)) {
      if (name !== "constructor" && typeof Reflect.get(port, name) === "function") names.add(name);
    }
  }
  return names;
}
