"""Label Studio's own SDK finds our configuration, our tasks, and annotations as we read them, valid."""

import json
import sys
from pathlib import Path

from label_studio_sdk.label_interface import LabelInterface

folder = Path(sys.argv[1])
interface = LabelInterface((folder / "config.xml").read_text(encoding="utf-8"))
interface.validate()
tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
for task in tasks:
    assert interface.validate_task(task), task
    result = [{"from_name": "answer", "to_name": "text", "type": "choices", "value": {"choices": ["true"]}}]
    task["annotations"] = [{"result": result}]
    assert interface.validate_annotation(task["annotations"][0]), task
(folder / "answers.json").write_text(json.dumps(tasks), encoding="utf-8")
print(f"label-studio-sdk: the configuration and {len(tasks)} tasks are valid, with and without annotations")
