# make run     the main job: judge the embedded reference server
# make test    everything that tests itself: Go, and the endpoints in TypeScript and Python (Node 20, Python 3.11)
# make test-go the part of it that needs Go alone
# make lint    formatting, vet and build for Linux, macOS and Windows, golangci-lint
# make real    judge three public releases of the real server and four of the real SDKs, and compare the SDKs (needs Python
#              3.11, Node 20 and the network)
# make docs    the generated reference: requirements, schemas, and the API of the endpoints
# make parity  the three reference clients: every requirement on each, and what their callers see compared (needs Python 3.11
#              and Node 20)
# make bench   how fast it is
# make faults  every fault of both reference endpoints against every requirement
# make soak    the reference endpoints, RUNS times, on a machine that is given twice what it can do

BIN     := bin/dshconform
GO      ?= go
PROFILE ?= directional
SYSTEMS := linux darwin windows

# The race detector wants a C compiler on most systems; what needs Go alone has to run without one too.
race = $(shell command -v "$$($(GO) env CC | cut -d' ' -f1)" >/dev/null 2>&1 && [ "$$($(GO) env CGO_ENABLED)" = 1 ] && echo -race || \
  echo "no C compiler: testing without the race detector" >&2)

.PHONY: run build test test-go test-endpoints docs need-endpoints lint bench real parity faults soak clean need-go

run: build
	./$(BIN) server --profile $(PROFILE)

build: need-go
	$(GO) build -o $(BIN) ./cmd/dshconform

test: need-endpoints test-go test-endpoints

# A program with the race detector in it waits for a second before it exits, unless it is told; tests start hundreds.
test-go: need-go
	$(GO) vet ./...
	GORACE=atexit_sleep_ms=10 $(GO) test -timeout 60m -p 4 $(call race) ./...

# Each installs what it needs besides, pinned, into a folder that git ignores.
test-endpoints:
	fixtures/typescript/test.sh
	fixtures/python/test.sh

docs: need-go need-endpoints
	$(GO) generate ./...
	fixtures/typescript/test.sh docs
	fixtures/python/test.sh docs

lint: need-go
	@out=$$(gofmt -l cmd harness suites reports fixtures fuzz tools 2>/dev/null); \
	  if [ -n "$$out" ]; then echo "not gofmt'ed:"; echo "$$out"; exit 1; fi
	@for os in $(SYSTEMS); do \
	  echo "vet and build for $$os"; \
	  GOOS=$$os $(GO) vet ./... && CGO_ENABLED=0 GOOS=$$os $(GO) build -o /dev/null ./cmd/dshconform || exit 1; \
	done
	$(GO) tool -modfile=tools/lint/go.mod golangci-lint run

bench: build
	$(GO) run ./tools/bench
	$(GO) test -run '^$$' -bench . -benchtime 3x ./harness/tap

real: build
	@tools/judge-real.sh

parity: build
	@tools/parity.sh

faults: build
	$(GO) run ./tools/faults

RUNS ?= 200
soak: build
	$(GO) run ./tools/soak -runs $(RUNS)

clean:
	rm -rf bin

# What is missing is said in one line, before anything fails in ten.
need-go:
	@command -v $(GO) >/dev/null 2>&1 || { echo "Go is missing: install Go 1.26 or later (https://go.dev/dl)"; exit 1; }
	@$(GO) list -m >/dev/null 2>&1 || { echo "Go is too old: this needs $$(sed -n 's/^go /go/p' go.mod) or later, and here is $$($(GO) env GOVERSION)"; exit 1; }

need-endpoints:
	@command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || { echo "Node is missing: install Node 20 or later with npm, or run make test-go, which needs Go alone"; exit 1; }
	@command -v python3 >/dev/null 2>&1 || { echo "Python is missing: install Python 3.11 or later, or run make test-go, which needs Go alone"; exit 1; }
