//go:build tools

// Package lua names the Lua that Argo CD runs health checks with, so that go.mod and go.sum pin what it is built from.
package lua

import _ "github.com/yuin/gopher-lua/cmd/glua"
