// Wraps all methods of a port by one rule, inherited ones too: a method that is added to the port later is wrapped without being named.

export type Method = (...args: readonly unknown[]) => unknown;

/** Another object with the methods of `port`, each as `wrap` returns it; `port` itself stays as it is. */
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
