// The name of an object, `Kind/namespace/name`, with its kind apart.

export function Subject({ subject }: { readonly subject: string }) {
  const [kind, ...name] = subject.split("/");
  return (
    <>
      <span class="kind">{kind}</span> {name.join("/")}
    </>
  );
}
