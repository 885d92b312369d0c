//go:build tools

// Package kuberouter names the program that enforces NetworkPolicies in the clusters of tests.
package kuberouter

import _ "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router"
