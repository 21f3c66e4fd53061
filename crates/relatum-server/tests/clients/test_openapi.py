"""schemathesis: what the server does is what /openapi.json says, whatever it is sent."""

import os

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS, load_all_checks

load_all_checks()
# What a server does with a method or a header that the document does not name is its own business; and a question
# has a grammar and names of a graph, which no schema can hold, so that not every text is accepted.
NOT_OURS = {
    "unsupported_method",
    "missing_required_header",
    "positive_data_acceptance",
    "use_after_free",
    "ensure_resource_availability",
}
OURS = [check for check in CHECKS.get_all() if check.__name__ not in NOT_OURS]


@pytest.fixture
def document(server):
    return schemathesis.openapi.from_url(f"{server}/openapi.json")


schema = schemathesis.pytest.from_fixture("document")


@schema.parametrize()
@settings(
    max_examples=int(os.environ.get("RELATUM_EXAMPLES", "25")),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_the_server_keeps_its_word(case):
    case.call_and_validate(checks=OURS)
