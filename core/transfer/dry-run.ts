/** What a dry run of an import or a restore leaves out, for the person who makes one. */
export const untriedText =
  "Not tried: unique values that several lines have, and whether all lines fit into maxObjects and quotas";
