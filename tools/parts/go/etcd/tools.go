//go:build tools

// Package etcd names the etcd server, which the API server of the tests keeps its objects in, so that go.mod and go.sum
// pin what it is built from.
package etcd

import _ "go.etcd.io/etcd/server/v3"
