// The finalizers that keep an object until its data are deleted. Only cluster-wide operators set them: in a single namespace the
// operator's own rights may be removed first, and the namespace would hang. Each class has a finalizer of its own, since several
// operators may manage an object whose Project is missing, and none may remove another's finalizer.

/** The finalizer of the operator without a class. */
export const finalizer = "jsonplane.io/purge";

export function finalizerOf(className: string | undefined): string {
  return className === undefined ? finalizer : `${className}.${finalizer}`;
}

/** Those of an object that some operator of this kind has set. */
export function purgeFinalizersOf({ metadata }: { readonly metadata: Finalized }): readonly string[] {
  return (metadata.finalizers ?? []).filter((name) => name === finalizer || name.endsWith(`.${finalizer}`));
}

/** The annotation beside one of them, of the same class, that names the installation which has set it; see installation.ts. */
export function setterAnnotationOf(finalizerName: string): string {
  return finalizerName.replace(/purge$/, "installation");
}

/** Undefined where none is named, as where a restored manifest has the finalizer alone. */
export function setterOf({ metadata }: { readonly metadata: Finalized }, finalizerName: string): string | undefined {
  return metadata.annotations?.[setterAnnotationOf(finalizerName)];
}

interface Finalized {
  readonly finalizers?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
}
