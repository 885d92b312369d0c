// The finalizer that keeps an object until its data are deleted. Only cluster-wide operators set
// it: in a single namespace the operator's own rights may be removed first, and the namespace would
// hang.

export const finalizer = "jsonplane.io/purge";

export function hasFinalizer({
  metadata,
}: {
  readonly metadata: { readonly finalizers?: readonly string[] };
}): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}
