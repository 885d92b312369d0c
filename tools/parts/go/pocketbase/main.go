// PocketBase with nothing added, as its own releases are built: the peer that benchmarks compare with.
package main

import (
	"log"

	"github.com/pocketbase/pocketbase"
)

var version = "unknown"

func main() {
	app := pocketbase.New()
	app.RootCmd.Version = version
	if err := app.Start(); err != nil {
		log.Fatal(err)
	}
}
