//go:build tools

// Package metricsserver names metrics-server, which tools/cluster runs for `kubectl top` and autoscaling, so that go.mod and
// go.sum pin what it is built from.
package metricsserver

import _ "sigs.k8s.io/metrics-server/cmd/metrics-server"
