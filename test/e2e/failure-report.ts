// What a person wants to see when a journey has failed: pods, Events, statuses and logs, as they
// are at that moment.

import { systemNamespace, type Target } from "./target.ts";

const looks: readonly (readonly string[])[] = [
  ["get", "pods", "--all-namespaces", "-o", "wide"],
  ["get", "events", "--all-namespaces", "--sort-by=.metadata.creationTimestamp"],
  ["get", "jsonplane", "--all-namespaces", "-o", "wide"],
  ["describe", "pods", "-n", systemNamespace],
  ["logs", "-n", systemNamespace, "-l", "app.kubernetes.io/component=operator", "--tail=100", "--prefix"],
  ["logs", "-n", systemNamespace, "-l", "app.kubernetes.io/component=dataplane", "--tail=60", "--prefix"],
  ["logs", "-n", systemNamespace, "-l", "app.kubernetes.io/component=redis", "--tail=60", "--prefix"],
  ["logs", "-n", systemNamespace, "-l", "app.kubernetes.io/component=backup", "--tail=60", "--prefix"],
  ["logs", "-n", "db", "-l", "app=redis", "--all-containers", "--tail=40", "--prefix"],
];

export async function failureReport({ kubectl }: Target): Promise<string> {
  const parts: string[] = [];
  for (const look of looks) {
    const text = await kubectl(...look).catch((error: unknown) => String(error));
    parts.push(`--- kubectl ${look.join(" ")}\n${text.slice(-20_000)}`);
  }
  return parts.join("\n");
}
