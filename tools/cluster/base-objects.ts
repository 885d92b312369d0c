// What a cluster of our own has from the start: a default StorageClass with ten volumes of the
// node, the Service of the cluster's names and, where it is wanted, of metrics for `kubectl top`
// and autoscaling. Pure: a layout in, a manifest out.

import { join } from "node:path";
import { type ClusterLayout, dnsService, nodeName } from "./layout.ts";

export const volumes = 10;

/** Documents of kubectl, as JSON, which is YAML. */
export function baseObjects(layout: ClusterLayout, { metrics }: { readonly metrics: boolean }): string {
  const items = [storageClass(), ...volumeList(layout), ...nameService(layout)];
  if (metrics) items.push(...metricsService(layout));
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}

function storageClass(): object {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "standard", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
  };
}

/** A volume that was released is not used again. */
function volumeList(layout: ClusterLayout): readonly object[] {
  const here = { key: "kubernetes.io/hostname", operator: "In", values: [nodeName] };
  return Array.from({ length: volumes }, (_, index) => ({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: `local-${index}` },
    spec: {
      capacity: { storage: "20Gi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: "standard",
      local: { path: join(layout.folder, "volumes", String(index)) },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [here] }] } },
    },
  }));
}

function nameService(layout: ClusterLayout): readonly object[] {
  const ports = [
    { name: "dns", port: 53, protocol: "UDP" },
    { name: "dns-tcp", port: 53, protocol: "TCP" },
  ];
  const service = { metadata: { name: "kube-dns", namespace: "kube-system" }, spec: { clusterIP: dnsService, ports } };
  return [{ apiVersion: "v1", kind: "Service", ...service }, endpoints(layout, "kube-dns", ports)];
}

function metricsService(layout: ClusterLayout): readonly object[] {
  const name = "metrics-server";
  const service = { name, namespace: "kube-system" };
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: service,
      spec: { ports: [{ name: "https", port: 443, targetPort: 4443 }] },
    },
    endpoints(layout, name, [{ name: "https", port: 4443, protocol: "TCP" }]),
    {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: "v1beta1.metrics.k8s.io" },
      spec: {
        group: "metrics.k8s.io",
        version: "v1beta1",
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service,
      },
    },
  ];
}

/** Both programs run on the node itself. */
function endpoints(layout: ClusterLayout, name: string, ports: readonly object[]): object {
  const labels = { "kubernetes.io/service-name": name };
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, namespace: "kube-system", labels },
    addressType: "IPv4",
    ports,
    endpoints: [{ addresses: [layout.nodeAddress] }],
  };
}
