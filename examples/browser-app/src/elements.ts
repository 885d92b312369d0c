// elements.ts: finds an element of the page by its id, and refuses another kind of element.

export function element<T extends HTMLElement>(id: string, kind: new () => T, within: ParentNode = document): T {
  const found = within.querySelector(`#${id}, [data-part="${id}"]`);
  if (!(found instanceof kind)) throw new Error(`The page has no ${kind.name} #${id}`);
  return found;
}
