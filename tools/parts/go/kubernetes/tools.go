//go:build tools

// Package kubernetes names the programs of Kubernetes that tests and tools/cluster start, so that go.mod and go.sum pin what
// they are built from. k8s.io/kubernetes can't be installed by its path: its go.mod replaces modules by folders of its
// repository. Ours replaces them by the versions of them that are published (v1.X.Y goes with v0.X.Y).
package kubernetes

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-proxy"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "k8s.io/kubernetes/cmd/kubectl"
	_ "k8s.io/kubernetes/cmd/kubelet"
)
