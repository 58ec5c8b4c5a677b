#!/usr/bin/env python3
"""Writes the example models of this folder: meshes, robots, scenes and packages.

    python3 make_models.py            write every generated file
    python3 make_models.py --check    exit 1 if a committed file differs or is missing

Only the standard library is used, and the same files come out on every run. The poses of a scene
and the motion of the arm (`scene.json`, `motion.json`) are written by hand; they are read, not touched.
"""

import argparse
import json
import pathlib
import sys

sys.dont_write_bytecode = True  # leave no __pycache__ among the models

from generator import arm, bad, hand, humanoid, mobile_base, objects, scenes  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def by_hand(name):
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def everything():
    """path below this folder -> bytes"""
    packages = {
        "arm7": arm.files(),
        "gripper": hand.files(arm.MATERIALS),
        "mobile_base": mobile_base.files(arm.MATERIALS),
        "humanoid": humanoid.files(),
        "table_top": objects.files(),
        "scenes": scenes.files(by_hand("table_top/scene.json"), by_hand("arm7/motion.json")),
        "bad": bad.files(),
    }
    out = {}
    for package, files in packages.items():
        for name, content in files.items():
            out[f"{package}/{name}"] = content.encode() if isinstance(content, str) else content
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    check = parser.parse_args().check
    different = 0
    for name, content in everything().items():
        path = HERE / name
        if check:
            if not path.is_file() or path.read_bytes() != content:
                print(f"differs: {name}", file=sys.stderr)
                different += 1
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
