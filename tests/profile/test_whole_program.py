"""What only the whole program tells of calls, over the units it is linked from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.profile.making import edge_counts, function, unit_of
from tests.profile.making import profile_of as made
from trodden.profile.calibrating import counted_functions
from trodden.profile.estimating import estimate
from trodden.profile.model import FunctionFacts, UnitFacts
from trodden.profile.whole_program import is_taken, taken_addresses, whole_program
from trodden.weigh.clues import BlockClues, CallClue, Ending, FunctionClues
from trodden.weigh.rates import Rates
