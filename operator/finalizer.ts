// The finalizer that keeps an object whose data go with it until they are gone. Only cluster-wide operators set it: in a single
// namespace the operator's own rights may go first, and the namespace would hang.

export const finalizer = "jsonplane.io/purge";
