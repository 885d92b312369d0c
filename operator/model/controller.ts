// Which installation of jsonplane looks after an object: `status.controller` says it, as the
// namespace and the name of the Lease by which the operators of that installation elect a leader.
// Two installations that see the same objects leave those of the other alone.

export const leaseName = "jsonplane-operator";

/** `namespace`: of the installation's operators. */
export function controllerIn(namespace: string): string {
  return `${namespace}/${leaseName}`;
}

/** Undefined: there is no such object, or no installation has taken it yet. */
export function controllerOf(object: object | undefined): string | undefined {
  const status = (object as { readonly status?: unknown } | undefined)?.status;
  return (status as { readonly controller?: string } | null | undefined)?.controller;
}

export function isOthers(object: object | undefined, controller: string): boolean {
  const found = controllerOf(object);
  return found !== undefined && found !== controller;
}
