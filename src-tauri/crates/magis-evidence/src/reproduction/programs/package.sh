# Runs the package of a check, or where it is a library, its tests. The first argument is the project's folder, which the package finds beside itself.
ln -sfn "$1" project || exit
# What the project has built already is used.
export CARGO_TARGET_DIR="$1/target"

needs_second() {
    [ -e src/second.rs ] && ! "$@" 2>/dev/null
}

if [ -e src/lib.rs ]; then
    if needs_second cargo test --quiet --offline --lib --no-run; then
        cp src/second.rs src/lib.rs
    fi
    exec cargo test --quiet --offline --lib -- --nocapture
fi
if needs_second cargo build --quiet --offline; then
    cp src/second.rs src/main.rs
fi
exec cargo run --quiet --offline
