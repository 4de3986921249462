"""What all tests share: signals, property tests without deadlines, and warm caches of the toolchain.

Whoever runs the tests in the background may ignore some signals, and that is inherited by every program
that a test starts.  How long an example of a property takes depends on what else the machine does, so a
deadline would only tell slow machines from fast ones.  For the same reason whatever the toolchain builds on
first use is built before the first test that has a time limit.  Most tests read reports as programs do, so
the environment chooses the format; tests of what a person sees choose their own.
"""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

_COMPILING = {
    "tests.fuzz.seeds",
    "tests.native.building",
    "tests.native.mapped_counts",
    "tests.native.stepping",
    "tests.report.narrate.test_outcomes_hold",
}
"""The modules that compile programs with a time limit."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for ignored in (signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, signal.SIG_DFL)

os.environ |= {"TRODDEN_FORMAT": "tsv", "TRODDEN_QUIET": "1"}

settings.register_profile("trodden", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("trodden")


@pytest.fixture(scope="session", autouse=True)
def warm_caches(request: pytest.FixtureRequest) -> None:
    """Build what is missing from the toolchain's caches, if tests of this session compile."""
    modules = {item.getparent(pytest.Module) for item in request.session.items}
    names = {
        getattr(value, "__module__", None)
        for module in modules
        if module is not None
        for value in vars(module.obj).values()
    }
    if names & _COMPILING:
        from tests.warm_up import warm_up

        warm_up(lambda line: None)
