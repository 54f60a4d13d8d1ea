"""Behaves like a coding CLI that nobody reads: the stand-in for claude, codex and the like in tests.

It reads its task and its deadline, talks with a model as clients do (streamed, with tools), runs what the
model says, paints its progress in colours, prints far more than anybody wants, leaves a training behind in
the background, forks helpers, will not be ended by TERM, and says what it looked for and did not find: a key.
Only the standard library: it runs wherever a sandbox has Python.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

# by a rename: whoever takes a snapshot meets a whole number
STEP = 'echo $n > step.new; mv step.new "$MLRB_SUBMISSION/step"'
TRAINING = f'trap "" TERM; n=0; while :; do n=$((n+1)); {STEP}; sleep 0.05; done'
SHELL = {
    "name": "shell",
    "description": "Runs a command.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}},
}


def paint(text: str) -> None:
    for frame in "|/-\\":
        sys.stdout.write(f"\x1b[2K\r\x1b[36m{frame}\x1b[0m {text}")
    sys.stdout.write("\n")
    sys.stdout.flush()


def events(messages: list[dict]) -> Iterator[dict]:
    """One model call, streamed, tried again as clients do."""
    body = {"model": os.environ["STAND_IN_MODEL"], "max_tokens": 1000, "stream": True, "tools": [SHELL]}
    for again in range(6):
        request = urllib.request.Request(
            os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true",
            json.dumps({**body, "messages": messages}).encode(),
            {
                "content-type": "application/json",
                "anthropic-version": "2023-06-01",
                "x-api-key": os.environ["ANTHROPIC_API_KEY"],
                "x-stand-in-host": os.uname().nodename,
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                for line in answer:
                    if line.startswith(b"data: "):
                        yield json.loads(line[6:])
            return
        except urllib.error.HTTPError as error:
            paint(f"the model says {error.code}: {error.read().decode()[:300]}")
            if error.code not in (429, 529):
                raise
            time.sleep(float(error.headers.get("retry-after") or 1))
        except OSError as error:
            paint(f"no model: {error}")
            time.sleep(0.5 * (again + 1))
    raise SystemExit("the model does not answer")


def turn(messages: list[dict]) -> list[dict]:
    blocks: list[dict] = []
    for event in events(messages):
        if event["type"] == "content_block_start":
            blocks.append({**event["content_block"], "json": ""})
        elif event["type"] == "content_block_delta":
            delta = event["delta"]
            if "text" in delta:
                blocks[-1]["text"] = blocks[-1].get("text", "") + delta["text"]
            blocks[-1]["json"] += delta.get("partial_json", "")
    for block in blocks:
        written = block.pop("json")
        if block["type"] == "tool_use":
            block["input"] = json.loads(written or "{}")
    return blocks


def keys_in_sight() -> str:
    """Where a key would be if there were one: every variable and file of every process that can be read."""
    seen = [json.dumps(dict(os.environ))]
    for process in Path("/proc").glob("[0-9]*"):
        for name in ("environ", "cmdline"):
            try:
                seen.append((process / name).read_bytes().decode(errors="replace"))
            except OSError:
                continue
    for folder in ("/attempt", "/tmp", "/run"):
        for path in Path(folder).rglob("*"):
            try:
                if path.is_file() and path.stat().st_size < 1 << 20:
                    seen.append(path.read_text(errors="replace"))
            except OSError:
                continue
    return "\n".join(seen)


def main() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    task = Path("TASK.md").read_text()
    left = float(os.environ["MLRB_DEADLINE"]) - time.time()
    paint(f"{len(task)} characters of task, {left:.0f} seconds left")
    Path("seen.txt").write_text(keys_in_sight())
    for _ in range(3):  # helpers, as language servers are
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
    subprocess.Popen(
        ["sh", "-c", TRAINING],
        start_new_session=True,
    )
    messages: list[dict] = [{"role": "user", "content": task}]
    while True:
        blocks = turn(messages)
        messages.append({"role": "assistant", "content": blocks})
        results = []
        for block in blocks:
            paint(block.get("text") or f"runs {block.get('input')}")
            if block["type"] != "tool_use":
                continue
            ran = subprocess.run(
                ["sh", "-c", block["input"]["command"]], capture_output=True, text=True, check=False
            )
            for _ in range(int(os.environ.get("STAND_IN_CHATTER", "20"))):
                print("\x1b[33m" + "verbose " * 8000 + "\x1b[0m")
            content = (ran.stdout + ran.stderr)[-4000:]
            results.append({"type": "tool_result", "tool_use_id": block["id"], "content": content})
        if not results:
            break
        with Path("iterations.jsonl").open("a") as log:
            log.write(
                json.dumps({"id": f"i{len(messages)}", "hypothesis": "it helps", "change": "one step"}) + "\n"
            )
        messages.append({"role": "user", "content": results})
    paint("done")
    if os.environ.get("STAND_IN_STAYS"):
        while True:
            time.sleep(1)


if __name__ == "__main__":
    main()
