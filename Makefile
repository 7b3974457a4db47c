# `make test` is what CI runs.
.PHONY: test check test-slow bench peers

test: check
	cargo test --workspace --quiet

check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

# Full-size statistical runs: some minutes.
test-slow:
	cargo test --workspace --release -- --ignored --nocapture

# Ours and the peers' in one run, with ratios; adds a record to bench/records.
bench:
	bench/run
