// Lists by name what a folder of the embedded store has, also of Projects that nothing names any
// more. For whoever has the folder while no store is open on it; refuses as openDatabase does.

import type { CollectionRef, DocumentRef } from "../ports/refs.ts";
import { openDatabase } from "./open-database.ts";

export interface StoredNames {
  /** Those that hold objects. */
  readonly collections: readonly { readonly collection: CollectionRef; readonly objects: number }[];
  readonly documents: readonly DocumentRef[];
}

const collections = `
SELECT namespace, project, resource, objects
  FROM collections JOIN owners USING (collection)
  WHERE owners.name = '' AND objects > 0
  ORDER BY namespace, project, resource`;
const documents = "SELECT namespace, project, root_key FROM documents ORDER BY namespace, project, root_key";

export function storedNames(directory: string): StoredNames {
  const database = openDatabase(directory);
  try {
    return {
      collections: database
        .prepare(collections)
        .all()
        .map((row) => ({
          collection: { project: projectIn(row), resource: String(row["resource"]) },
          objects: Number(row["objects"]),
        })),
      documents: database
        .prepare(documents)
        .all()
        .map((row) => ({ project: projectIn(row), rootKey: String(row["root_key"]) })),
    };
  } finally {
    database.close();
  }
}

function projectIn(row: Readonly<Record<string, unknown>>): CollectionRef["project"] {
  return { namespace: String(row["namespace"]), name: String(row["project"]) };
}
