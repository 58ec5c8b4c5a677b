"""Expands xacro files with the `xacro` of ROS 2: reads a case per line (JSON: `file`, `arguments`
and `packages`, a map from names to directories) and answers each with a line: `text`, the expanded
document without the banner, or `error`."""

import io
import json
import os
import sys
import types

import xacro

packages = {}


def share_directory(name):
    if name not in packages:
        raise KeyError("package '%s' not found" % name)
    return packages[name]


# The only part of ROS that xacro calls.
index = types.ModuleType("ament_index_python")
index.packages = types.ModuleType("ament_index_python.packages")
index.packages.get_package_share_directory = share_directory
sys.modules["ament_index_python"] = index
sys.modules["ament_index_python.packages"] = index.packages


def expand(case):
    global packages
    packages = case["packages"]
    xacro.init_stacks(None)
    xacro.macrostack = []
    document = xacro.process_file(case["file"], mappings=dict(case["arguments"]))
    for _ in range(4):
        document.removeChild(document.firstChild)
    return document.toprettyxml(indent="  ")


answers = sys.stdout
sys.stdout = io.StringIO()
sys.stderr = open(os.devnull, "w")
# Recursion costs several calls of Python for each of xacro.
sys.setrecursionlimit(1000)
for line in sys.stdin:
    # Definitions of earlier cases must not remain.
    xacro._global_symbols = xacro.create_global_symbols()
    try:
        answer = {"text": expand(json.loads(line))}
    except BaseException as error:
        answer = {"error": "%s: %s" % (type(error).__name__, error)}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
