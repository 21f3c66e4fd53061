"""The real server on a free port, over the films of the demo.

RELATUM names the binary; RELATUM_PROJECT a project with a model.
"""

import os
import re
import subprocess

import pytest


@pytest.fixture(scope="session")
def relatum():
    return os.environ["RELATUM"]


@pytest.fixture(scope="session")
def project():
    return os.environ["RELATUM_PROJECT"]


@pytest.fixture(scope="session")
def server(relatum, project):
    """The address of a server, as http://HOST:PORT."""
    command = [relatum, "serve", project, "--listen", "127.0.0.1:0", "--log", "off"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if found := re.search(r"is served at (http://\S+)", line):
                yield found.group(1)
                break
        else:
            pytest.fail("the server does not start")
    finally:
        process.terminate()
        assert process.wait(timeout=60) == 0
