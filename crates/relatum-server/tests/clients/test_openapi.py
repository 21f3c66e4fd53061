"""schemathesis: what the server does is what /openapi.json says, whatever it is sent."""

import os
import subprocess
import sys
from pathlib import Path

# What a server does with a method that the document does not name is its own business; and a question has a
# grammar and names of a graph, which no schema can hold, so that not every text is accepted.
NOT_OURS = "unsupported_method,positive_data_acceptance"


def test_the_server_keeps_its_word(server, tmp_path):
    command = [
        Path(sys.executable).with_name("schemathesis"),
        "run",
        f"{server}/openapi.json",
        "--checks=all",
        f"--exclude-checks={NOT_OURS}",
        f"--max-examples={os.environ.get('RELATUM_EXAMPLES', '25')}",
        "--seed=1",
        "--request-timeout=60",
        "--generation-database=none",
        "--suppress-health-check=all",
        "--no-color",
    ]
    # It keeps notes of what it found where it runs.
    result = subprocess.run(command, capture_output=True, text=True, timeout=1500, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
