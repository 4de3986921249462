"""``python -m trodden``."""

from __future__ import annotations

import sys

from trodden.commands.main import main

sys.exit(main())
