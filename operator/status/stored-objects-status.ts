// What a Project's status says of its stored objects, and when that is worth a write of the API server.

/** A change of less than this part of what is reported is not worth a write. */
const minReportedChange = 0.01;

/** What was reported before stays where there is nothing new to report. */
export function storedObjectsMember(former: { readonly [member: string]: unknown }, count: number | undefined): object {
  const storedObjects = count ?? former["storedObjects"];
  return storedObjects === undefined ? {} : { storedObjects };
}

/** A Project that never had an object reports nothing, so that a new Project costs no write. */
export function isWorthReporting(status: object | undefined, count: number): boolean {
  const { storedObjects: reported = 0 } = (status ?? {}) as { readonly storedObjects?: number };
  return count !== reported && Math.abs(count - reported) >= minReportedChange * reported;
}
