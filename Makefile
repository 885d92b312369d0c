# The commands of this repository that need nothing installed: each brings Node, packages and real parts when they are missing.
# Everything finer is an npm script: `npm run help` lists those.

.DEFAULT_GOAL := help
.PHONY: help run demo parts check test build image sbom cluster cluster-down e2e spec bench clean

with_node := sh tools/with-node.sh

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

run: ## serve the example manifests at http://127.0.0.1:8080
	@bin/jsonplane dev examples/ --data .jsonplane/examples

demo: ## a whole fleet on this machine, without Docker: a real Kubernetes API server, operator, two replicas, Redis JSON
	@$(with_node) node test/demo/run.ts

parts: ## find, fetch or build everything that the tests use; npm run parts -- --list says what is there
	@$(with_node) node tools/parts.ts

check: ## format, lint, types, layers, unit and meta tests: under a minute
	@$(with_node) npm run --silent check

test: ## everything that a commit must pass: the checks, then all tests on real parts; some 25 minutes on two cores
	@$(with_node) npm run --silent test

build: ## compile the package into dist/
	@$(with_node) npm run --silent build

image: build ## make the container image with Docker; without it, pack the same as an archive in out/
	@$(with_node) node tools/image/make.ts

sbom: ## list what the image is made of, as CycloneDX, in out/sbom.cdx.json
	@$(with_node) node tools/image/sbom.ts

cluster: ## start an empty Kubernetes cluster: kind where it is, else a node of our own (Linux, root)
	@$(with_node) node tools/cluster/main.ts up

cluster-down: ## end that cluster and remove everything of it
	@$(with_node) node tools/cluster/main.ts down

e2e: ## the journeys of an installation on a cluster made for them; KUBECONFIG=FILE JSONPLANE_IMAGE=NAME: on that one
	@$(if $(filter command line,$(origin KUBECONFIG)),JSONPLANE_E2E_KUBECONFIG=$(KUBECONFIG)) $(with_node) npm run --silent test -- e2e

spec: ## list every promise of the interface with the test that proved it in the last full run
	@$(with_node) npm run --silent spec

bench: ## measure speed against a bare server, as ratios of one run
	@$(with_node) npm run --silent bench

clean: ## remove what was built and reported; the cache of fetched parts stays
	@rm -rf dist out test-results coverage
