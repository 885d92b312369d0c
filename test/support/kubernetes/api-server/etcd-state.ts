// Brings a test's etcd back to what it had stored at a moment, through its JSON gateway. An API
// server sees that as changes that somebody made, by its watches.

const everything = { key: "AA==", range_end: "AA==" };
/** How many etcd takes in one transaction. */
const atOnce = 100;

interface Stored {
  /** In base64, as `value`. */
  readonly key: string;
  readonly value: string;
}

export type EtcdCall = (path: string, body: unknown) => Promise<unknown>;

/** What it returns deletes what came since, and restores what was changed or deleted. */
export async function rememberState(etcd: EtcdCall): Promise<() => Promise<void>> {
  const before = await stored(etcd);
  return async () => {
    const now = await stored(etcd);
    const gone = [...now.keys()].filter((key) => !before.has(key)).map((key) => ({ requestDeleteRange: { key } }));
    const changed = [...before]
      .filter(([key, value]) => now.get(key) !== value)
      .map(([key, value]) => ({ requestPut: { key, value } }));
    const steps = [...gone, ...changed];
    for (let at = 0; at < steps.length; at += atOnce) {
      await etcd("kv/txn", { success: steps.slice(at, at + atOnce) });
    }
  };
}

/** Objects of the API by their keys; but what the server itself renews all the time. */
async function stored(etcd: EtcdCall): Promise<ReadonlyMap<string, string>> {
  const { kvs } = (await etcd("kv/range", everything)) as { readonly kvs: readonly Stored[] };
  const objects = kvs.filter(({ key }) => /^\/registry\/(?!leases\/kube-system\/)/.test(atob(key)));
  return new Map(objects.map(({ key, value }) => [key, value]));
}
