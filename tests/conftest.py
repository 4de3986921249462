"""What all tests share: signals as a terminal's programs find them, and no deadline for property tests.

Whoever runs the tests in the background may ignore some signals, and that is inherited by every program that
a test starts.  How long an example of a property takes depends on what else the machine does, so a deadline
would only tell slow machines from fast ones.
"""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for ignored in (signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, signal.SIG_DFL)

settings.register_profile("trodden", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("trodden")
