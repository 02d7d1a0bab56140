"""Runs a session of the real Python SDK with the real server twice: as it is, and with `dshconform tap` in between.

    python3 tools/real/session.py --program bin/dshconform --sdk DIR --server FILE --baseline FILE --out DIR

The SDK launches the tap as its runtime. Its caller has to see the same, what the tap finds has to be in the server's
baseline, and `dshconform check` has to find the same in what it has recorded. Exit codes: 0 all of that holds, 1 it does not.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Seen = dict[str, Any]


def script(*steps: dict[str, Any]) -> str:
    """Give a prompt that has the stub of the model play these steps (docs/script.md)."""
    return f'Go. [[dshconform.script/v1 {json.dumps({"tag": "session", "steps": steps})}]]'


CHILD = {"description": "a child", "prompt": "Do it.", "script": {"tag": "child", "steps": [{"text": "done"}]}}
TURNS = {
    "plain": "Say ok.",
    "multibyte": script({"text": "你好 👩‍👩‍👧 שלום 𝒳", "cut": True}),
    "long": script({"events": 2000, "size": 20}),
    "token limit": script({"text": "so far"}, {"finish": "length"}),
    "failing model": script({"fail": 400, "message": "out of 运气"}),
    "subagent": script({"text": "one "}, {"subagent": CHILD}, {"text": "two"}),
}


def converse(sdk: Any, launch: dict[str, Any]) -> Seen:
    """Hold the conversation, and tell what its caller sees, without what differs from one run to the next."""
    with sdk.DeepSeekHarness(model="dshconform-stub", **launch) as harness:

        def run(session: str, prompt: str) -> Seen:
            turn = harness.run(prompt, session_id=session)
            types = [event["type"] for event in turn.events]
            return {"answer": turn.final_response, "kind": turn.finish_reason, "events": types}

        seen = {name: run("one", prompt) for name, prompt in TURNS.items()}
        with ThreadPoolExecutor() as pool:
            together = {name: pool.submit(run, f"with {name}", TURNS[name]) for name in ("multibyte", "long")}
            return seen | {f"{name}, together": it.result() for name, it in together.items()}


@contextmanager
def model(program: str) -> Iterator[dict[str, str]]:
    """Serve the stub of the model, and give the environment that leads to it."""
    process = subprocess.Popen([program, "model"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        exported: dict[str, str] = {}
        while len(exported) < 3:
            name, value = process.stdout.readline().removeprefix("export ").rstrip("\n").split("=", 1)
            exported[name] = value
        # A line for each call follows, which nobody wants.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield exported
    finally:
        process.kill()
        process.wait()


def verdicts(report: Path) -> dict[str, str]:
    """Read what a report says of each requirement, but of the one that takes the model's key, which no recording has."""
    results = json.loads((report / "results.json").read_text())
    return {row["id"]: row["verdict"] for row in results["requirements"] if row["id"] != "S-SEC-02"}


def main() -> int:
    parser = argparse.ArgumentParser()
    for name in ("program", "sdk", "server", "baseline", "out"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    chosen = parser.parse_args()
    sys.path.insert(0, chosen.sdk)
    sdk: Any = importlib.import_module("deepseek_harness")

    out = Path(chosen.out)
    out.mkdir(parents=True, exist_ok=True)
    recording = out / "session.jsonl"
    judge = ["--profile", "receipt", "--max-tokens-as-success", "--baseline", chosen.baseline, "--report"]
    tap = [chosen.program, "tap", "--quiet", "--record", str(recording), *judge, str(out / "tap"), "--", chosen.server]

    with tempfile.TemporaryDirectory() as scratch, model(chosen.program) as environment:
        tapped = Path(scratch, "tapped")
        tapped.write_text(f'#!/bin/sh\nexec {shlex.join(tap)} "$@"\n')
        tapped.chmod(0o755)

        def launch(name: str, executable: str) -> dict[str, Any]:
            home, workspace = Path(scratch, name, "home"), Path(scratch, name, "workspace")
            workspace.mkdir(parents=True)
            env = environment | {"DSH_TELEMETRY_DISABLED": "1"}
            return {"dsh_bin": executable, "dsh_home": str(home), "cwd": str(workspace), "env": env}

        alone = converse(sdk, launch("alone", chosen.server))
        between = converse(sdk, launch("between", str(tapped)))

    check = [chosen.program, "check", "--no-color", *judge, str(out / "check"), str(recording)]
    checked = subprocess.run(check, capture_output=True, text=True)
    wrong = [f"{name}: {alone[name]} without the tap, {between[name]} with it" for name in alone if alone[name] != between[name]]
    if verdicts(out / "tap") != verdicts(out / "check"):
        wrong.append("the tap and the check of its recording differ")
    if checked.returncode:
        wrong.append(checked.stdout + checked.stderr)
    for it in wrong:
        print(it)
    if not wrong:
        print(f"{len(alone)} turns through the tap: the same as without it, and nothing that the baseline does not explain")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
