//go:build tools

// Package promlabelproxy names the program, so that go.mod and go.sum pin what it is built from.
package promlabelproxy

import _ "github.com/prometheus-community/prom-label-proxy"
