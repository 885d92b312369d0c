// The tables of the embedded store, as steps from one schema version to the next. A released step
// never changes; a further one corrects it. An index entry has a value as order.ts encodes it, so a
// change there needs a step that sets every ordering to building and deletes its entries.

/** "json", in the database header: distinguishes our files from another program's. */
export const applicationId = 0x6a736f6e;

/**
 * `orderings`: the ways in which a collection can be paged: by creation (name and path are null),
 * and one per index. `owners`: for whom, with the number and the bytes of their objects; the owner
 * '' is everyone. `entries`: one per object, ordering and owner, sorted; by creation every value is
 * ''. Reading an object uses its entry by creation, so that visibility costs nothing. `documents`:
 * `identity` distinguishes a value from the one that is stored under its root key after its purge.
 * `idempotency_records`: what writes with an Idempotency-Key left; `place` = `api/<resource>` or
 * `json/<root key>`.
 */
const first = `
CREATE TABLE collections (
  collection INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL,
  project TEXT NOT NULL,
  resource TEXT NOT NULL,
  revision INTEGER,
  UNIQUE (namespace, project, resource)
) STRICT;
CREATE TABLE orderings (
  ordering INTEGER PRIMARY KEY AUTOINCREMENT,
  collection INTEGER NOT NULL,
  name TEXT,
  path TEXT,
  state TEXT NOT NULL CHECK (state IN ('building', 'ready')),
  built_to TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX orderings_by_collection ON orderings (collection);
CREATE TABLE owners (
  owner INTEGER PRIMARY KEY AUTOINCREMENT,
  collection INTEGER NOT NULL,
  name TEXT NOT NULL,
  objects INTEGER NOT NULL,
  bytes INTEGER NOT NULL DEFAULT 0,
  UNIQUE (collection, name)
) STRICT;
CREATE TABLE objects (
  object INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE TABLE entries (
  ordering INTEGER NOT NULL,
  owner INTEGER NOT NULL,
  value TEXT NOT NULL,
  id TEXT NOT NULL,
  object INTEGER NOT NULL,
  PRIMARY KEY (ordering, owner, value, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE documents (
  document INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL,
  project TEXT NOT NULL,
  root_key TEXT NOT NULL,
  text TEXT NOT NULL,
  identity TEXT NOT NULL,
  UNIQUE (namespace, project, root_key)
) STRICT;
CREATE TABLE sessions (
  namespace TEXT NOT NULL,
  project TEXT NOT NULL,
  id TEXT NOT NULL,
  username TEXT NOT NULL,
  credential_revision TEXT NOT NULL,
  created INTEGER NOT NULL,
  last_refresh INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  project_uid TEXT NOT NULL,
  PRIMARY KEY (namespace, project, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_age ON sessions (namespace, project, created, id);
CREATE INDEX sessions_by_user ON sessions (namespace, project, username, created, id);
CREATE INDEX sessions_by_expiry ON sessions (expires);
CREATE INDEX sessions_by_project ON sessions (namespace, project, expires);
CREATE TABLE ended_sessions (
  id TEXT PRIMARY KEY,
  tokens_expire INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ended_sessions_by_expiry ON ended_sessions (tokens_expire);
CREATE TABLE idempotency_records (
  namespace TEXT NOT NULL,
  project TEXT NOT NULL,
  place TEXT NOT NULL,
  key TEXT NOT NULL,
  text TEXT NOT NULL,
  expires INTEGER NOT NULL,
  PRIMARY KEY (namespace, project, place, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_records_by_expiry ON idempotency_records (expires);
`;

/**
 * `change_logs`: with the numbers of their oldest and newest entries; `place` as of idempotency
 * records. `changes`: the entries; `time` in Unix milliseconds.
 */
const changeLogs = `
CREATE TABLE change_logs (
  log INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace TEXT NOT NULL,
  project TEXT NOT NULL,
  place TEXT NOT NULL,
  oldest INTEGER NOT NULL,
  newest INTEGER NOT NULL,
  UNIQUE (namespace, project, place)
) STRICT;
CREATE TABLE changes (
  log INTEGER NOT NULL,
  number INTEGER NOT NULL,
  time INTEGER NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  PRIMARY KEY (log, number)
) STRICT, WITHOUT ROWID;
`;

/** The n-th step leads from version n to n + 1. */
export const schemaSteps: readonly string[] = [first, changeLogs];
