// Reads sections of CHANGELOG.md. Pure.

/** What stands below `## <title>`, trimmed; undefined where there is no such section. */
export function changelogSection(changelog: string, title: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const found = sections.find((section) => section.split("\n", 1)[0]?.trim() === title);
  return found?.slice(found.indexOf("\n")).trim();
}
