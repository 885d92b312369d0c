//go:build tools

// Package helm names the helm program, so that go.mod and go.sum pin what it is built from.
package helm

import _ "helm.sh/helm/v3/cmd/helm"
