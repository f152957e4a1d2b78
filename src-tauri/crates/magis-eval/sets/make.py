#!/usr/bin/env python3
"""Makes the sets of mutated.toml: gets each package, checks its hash, prepares what its tests need, and calls `magis-eval mutate`.

    python3 make.py --work DIR [--set NAME] [--only PACKAGE]

The sets are written to DIR/SET.jsonl, and beside them DIR/SET.red.jsonl. The command can be stopped and started: a package that is made is left out, and
one that was stopped halfway is made anew. `magis-eval` is the one in PATH. Packages come by their registries' own clients: pip, npm and cargo.
"""

import argparse
import glob
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tomllib


def run(*command, **options):
    """Runs a command quietly; what it printed is shown only where it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-2000:]}")


def of_pip(package, archives):
    run("python3", "-m", "pip", "download", "--no-binary", ":all:", "--no-deps", "--dest", archives, f"{package['name']}=={package['version']}")


def of_npm(package, archives):
    run("npm", "pack", "--silent", f"{package['name']}@{package['version']}", cwd=archives)


def of_cargo(package, archives):
    crate = archives / f"fetching-{package['name']}"
    (crate / "src").mkdir(parents=True, exist_ok=True)
    (crate / "src/lib.rs").write_text("")
    (crate / "Cargo.toml").write_text(
        f"[package]\nname = \"fetching\"\nversion = \"0.0.0\"\n[workspace]\n[dependencies]\n{package['name']} = \"={package['version']}\"\n"
    )
    run("cargo", "fetch", cwd=crate)
    home = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))
    [there, *_] = glob.glob(f"{home}/registry/cache/*/{package['name']}-{package['version']}.crate")
    shutil.copy(there, archives / package["archive"])
    shutil.rmtree(crate)


GET = {"python": of_pip, "javascript": of_npm, "rust": of_cargo}


def archive_of(package, archives):
    archive = archives / package["archive"]
    if not archive.is_file():
        GET[package["language"]](package, archives)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != package["sha256"]:
        raise SystemExit(f"{archive} has the hash {found}, not {package['sha256']}; it is not the package that the set is made of")
    return archive


def unpack(package, archive, work):
    """Unpacks a tree to which something is added before its tests can run; `magis-eval mutate` takes it as it finds it."""
    version = package["archive"].removesuffix(".tgz").removesuffix(".crate")
    name = version[: -len(package["version"]) - 1]
    tree = work / "trees" / f"mutated+{name}"
    if not tree.is_dir():
        half = tree.with_name(tree.name + ".unpacking")
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(parents=True)
        with tarfile.open(archive) as packed:
            packed.extractall(half, filter="data")
        [inner] = half.iterdir()
        inner.rename(tree)
        half.rmdir()
        tree.with_name(tree.name + ".version").write_text(version)
    return tree


def prepare(package, archive, work):
    """Returns the environment for the tests of a package."""
    environment = dict(os.environ)
    if package["language"] == "python":
        venv = work / "venv"
        if not venv.is_dir():
            run("python3", "-m", "venv", venv)
        run(venv / "bin/pip", "install", "--quiet", "pytest==8.4.2", *package.get("needs", []))
        environment["PATH"] = f"{venv / 'bin'}:{environment['PATH']}"
    if package["language"] == "javascript":
        tree = unpack(package, archive, work)
        if not (tree / "node_modules").is_dir():
            # Not in the tree itself: what a package is developed with comes in part from where nothing is fetched.
            needs = tree.with_name(tree.name + ".needs")
            needs.mkdir(exist_ok=True)
            wanted = json.loads((tree / "package.json").read_text()).get("dependencies", {})
            wanted = [f"{name}@{version}" for name, version in wanted.items()] + package["needs"]
            run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", *wanted, cwd=needs)
            (needs / "node_modules").rename(tree / "node_modules")
            shutil.rmtree(needs)
    if package["language"] == "rust":
        run("cargo", "fetch", cwd=unpack(package, archive, work))
    return environment


def join(packages, name, work):
    """Writes a set anew, of the bugs of all its packages that are made, in the order of the list."""
    for end in ("jsonl", "red.jsonl"):
        made = [work / "made" / f"{name}+{package['name']}.{end}" for package in packages if package["set"] == name]
        (work / f"{name}.{end}").write_text("".join(file.read_text() for file in made if file.is_file()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", required=True, type=lambda text: pathlib.Path(text).absolute(), help="the folder for packages, trees and sets")
    parser.add_argument("--set", help="only this set")
    parser.add_argument("--only", help="only this package")
    given = parser.parse_args()
    archives = given.work / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    packages = tomllib.loads((pathlib.Path(__file__).parent / "mutated.toml").read_text())["package"]
    failed = []
    for package in packages:
        made = given.work / "made" / f"{package['set']}+{package['name']}.jsonl"
        if given.set not in (None, package["set"]) or given.only not in (None, package["name"]) or made.is_file():
            continue
        archive = archive_of(package, archives)
        environment = prepare(package, archive, given.work)
        # What a stop leaves behind is no part of a set: its package is made anew.
        half = given.work / "made" / "half.jsonl"
        half_red = half.with_name("half.red.jsonl")
        half.parent.mkdir(exist_ok=True)
        half.unlink(missing_ok=True)
        half_red.unlink(missing_ok=True)
        command = ["magis-eval", "mutate", "--project", archive, "--work", given.work, "--out", half, "--test-cmd", package["test_command"]]
        command += ["--count", str(package["count"]), "--tries", str(package["tries"]), "--seed", str(package["seed"])]
        if subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode != 0:
            failed.append(package["name"])
            continue
        half_red.rename(made.with_suffix(".red.jsonl"))
        half.rename(made)
        join(packages, package["set"], given.work)
    if failed:
        sys.exit(f"no bugs were made of {', '.join(failed)}")


if __name__ == "__main__":
    main()
