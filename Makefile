# `make test` is what CI runs.
.PHONY: test check python-build python-test test-clusters test-arm wasm wheel notebook browser test-slow fuzz soak deny unsafe bench bench-python check-lstm check-covertype

test: check
	cargo test --workspace --locked --quiet
	$(MAKE) python-test

check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

# The Python package, in a virtual environment of its own.
VENV = python/.venv
$(VENV)/ready: python/pyproject.toml
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet 'maturin>=1.16,<2' numpy pytest pandas polars pyarrow matplotlib gymnasium mypy pyright pandas-stubs
	touch $@

# With the rest of the workspace the extension has the features that everything is compiled for already; that works as it is on Linux alone.
ifeq ($(shell uname),Linux)
python-build: $(VENV)/ready
	PYO3_BUILD_EXTENSION_MODULE=1 cargo build --workspace --locked --quiet
	cp target/debug/lib_lib.so python/gradband/_lib.abi3.so
else
python-build: $(VENV)/ready
	cargo build --quiet --locked -p gradband-cli
	. $(VENV)/bin/activate && cd python && maturin develop --quiet --profile dev --target-dir $(CURDIR)/target
endif

python-test: python-build
	cd python && .venv/bin/mypy --strict gradband
	cd python && PYTHONPATH=$(CURDIR)/python .venv/bin/python -m pytest -q

# Trainings on Dask, Ray and MPI, for real: minutes of installing.
test-clusters: $(VENV)/ready
	command -v mpiexec >/dev/null || bin/install-openmpi
	$(VENV)/bin/pip install --quiet distributed ray mpi4py
	. $(VENV)/bin/activate && cd python && maturin develop --quiet --release --target-dir $(CURDIR)/target
	cd python && .venv/bin/python -m pytest -q -rs tests/clusters

# The library's tests on 64-bit ARM, emulated; QUICK=--quick for the golden numbers alone, as in CI.
test-arm:
	bin/test-arm $(QUICK)

# The library for WebAssembly, with and without vector instructions.
wasm:
	rustup target add wasm32-unknown-unknown
	cargo build --locked -p gradband --target wasm32-unknown-unknown
	RUSTFLAGS="-C target-feature=+simd128" cargo build --locked -p gradband --target wasm32-unknown-unknown --target-dir target/wasm-simd128

# A wheel and an sdist, and the wheel in an environment that has nothing else.
wheel: $(VENV)/ready
	rm -rf target/wheels target/wheel-env
	$(VENV)/bin/maturin sdist --manifest-path python/Cargo.toml --out target/wheels
	$(VENV)/bin/maturin build --release --manifest-path python/Cargo.toml --out target/wheels
	python3 -m venv target/wheel-env
	target/wheel-env/bin/pip install --quiet target/wheels/gradband-*.whl
	target/wheel-env/bin/python -c "import gradband as gb; print(gb.__version__, gb.evaluate('bernoulli-2', 'thompson', instances=100))"
	ls -l target/wheels

# `make test` uses a Chromium that is there, and says so loudly if there is none; this installs one.
browser:
	@bin/install-chromium

# Full-size statistical runs: some minutes.
test-slow:
	cargo test --workspace --release -- --ignored --nocapture --skip write_a_history --skip the_real_file

# Everything that reads, fed with damaged input for so many seconds; inputs that fail are left in target/fuzz-failures.
SECONDS ?= 60
SEED ?= 1
fuzz:
	cargo run --quiet --locked -p gradband-fuzz -- --seconds $(SECONDS) --seed $(SEED)

# Random commands, killed and resumed for so many seconds, beside the same ones unbroken.
soak:
	SOAK_SECONDS=$(SECONDS) SOAK_SEED=$(SEED) cargo test --release --quiet --locked -p gradband-cli --test cli -- --ignored --nocapture soak::

# Licences, sources, duplicates and advisories of the dependencies; without the advisories where their database is out of reach.
deny:
	command -v cargo-deny >/dev/null || cargo install --locked cargo-deny
	cargo deny --locked check licenses bans sources
	cargo deny --locked check advisories || echo "advisories: see above" >&2

# The inventory of docs/security.md.
unsafe:
	@bin/unsafe-inventory

# Ours and the peers' in one run, with ratios; adds a record to bench/records.
bench:
	bench/run

# The LSTM's log-probabilities and gradient against JAX in double precision, on the same weights and histories.
check-lstm:
	[ -x bench/.venv/bin/python ] || { python3 -m venv bench/.venv && bench/.venv/bin/pip install --quiet -r bench/requirements.txt; }
	LSTM_CHECK=$(CURDIR)/target/lstm.json cargo test --release -p gradband --lib recurrent -- --ignored peer
	bench/.venv/bin/python bench/peers/lstm_check.py target/lstm.json

# Covertype, which is not part of the repository, from UCI's file: make check-covertype FROM=/path/to/covtype.data.gz
check-covertype:
	FROM="$(FROM)" cargo test --release -p gradband-cli --test cli -- --ignored the_real_file

# docs/guide.ipynb of docs/guide.md, with what its cells show. What the guide itself shows: GRADBAND_GUIDE=write and its test.
notebook: python-build
	$(VENV)/bin/pip install --quiet nbclient nbformat ipykernel
	PYTHONPATH=$(CURDIR)/python $(VENV)/bin/python python/tools/notebook.py

# Through Python, ours and other libraries' in one run: a table for README, and a record in bench/records.
BENCH_VENV = python/bench/.venv
$(BENCH_VENV)/ready: python/bench/requirements.txt
	python3 -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/pip install --quiet -r python/bench/requirements.txt
	@# This one has to be compiled; the table does without it where it cannot be.
	$(BENCH_VENV)/bin/pip install --quiet -r python/bench/requirements-source.txt || echo "contextualbandits could not be built"
	touch $@

bench-python: $(BENCH_VENV)/ready
	$(BENCH_VENV)/bin/pip install --quiet ./python
	python/bench/run
