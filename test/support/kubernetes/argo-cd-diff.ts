// Whether Argo CD reports a custom resource OutOfSync: its rules without server-side diff, as its
// gitops-engine states them in pkg/diff. What an apply would send is merged into the live object;
// the object is in sync if that changes nothing.

import { isDeepStrictEqual } from "node:util";

type Value = unknown;
type Members = Readonly<Record<string, Value>>;

const annotation = "kubectl.kubernetes.io/last-applied-configuration";

/** `live` is read in the version of `desired`, as Argo CD does. */
export function isOutOfSync(desired: Members, live: Members): boolean {
  const { annotations } = live["metadata"] as { readonly annotations?: Readonly<Record<string, string>> };
  const applied = annotations?.[annotation];
  const config = withoutNamespace(desired);
  const former = applied === undefined ? config : withoutNamespace(JSON.parse(applied) as Members);
  const seen = onlyNamed(former, live) as Members;
  const patch = merged(removals(former, config), additions(seen, config));
  return !isDeepStrictEqual(merged(live, patch), live);
}

function withoutNamespace(object: Members): Members {
  const { namespace: _, annotations, ...metadata } = object["metadata"] as Members;
  const hasAnnotations = isMembers(annotations) && Object.keys(annotations).length > 0;
  return { ...object, metadata: hasAnnotations ? { ...metadata, annotations } : metadata };
}

/** What of `live` the configuration names too: the rest are defaults, and of other writers. */
function onlyNamed(config: Value, live: Value): Value {
  if (Array.isArray(config) && Array.isArray(live)) {
    return live.map((item, at) => (at < config.length ? onlyNamed(config[at], item) : item));
  }
  if (!isMembers(config) || !isMembers(live)) return live;
  const named = Object.entries(config).filter(([name]) => name in live);
  return Object.fromEntries(named.map(([name, value]) => [name, onlyNamed(value, live[name])]));
}

/** A merge patch (RFC 7396) that adds and changes, and removes nothing. */
function additions(from: Members, to: Members): Members {
  const changed = Object.entries(to).flatMap(([name, value]): [string, Value][] => {
    const before = from[name];
    if (!isMembers(before) || !isMembers(value)) return isDeepStrictEqual(before, value) ? [] : [[name, value]];
    const below = additions(before, value);
    return Object.keys(below).length === 0 ? [] : [[name, below]];
  });
  return Object.fromEntries(changed);
}

/** A merge patch that removes what is no longer configured. */
function removals(from: Members, to: Members): Members {
  const removed = Object.entries(from).flatMap(([name, value]): [string, Value][] => {
    if (!(name in to)) return [[name, null]];
    const below = isMembers(value) && isMembers(to[name]) ? removals(value, to[name]) : {};
    return Object.keys(below).length === 0 ? [] : [[name, below]];
  });
  return Object.fromEntries(removed);
}

function merged(target: Members, patch: Members): Members {
  const result: Record<string, Value> = { ...target };
  for (const [name, value] of Object.entries(patch)) {
    const before = result[name];
    if (value === null) delete result[name];
    else result[name] = isMembers(value) && isMembers(before) ? merged(before, value) : value;
  }
  return result;
}

function isMembers(value: Value): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
