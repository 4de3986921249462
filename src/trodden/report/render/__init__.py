"""How it is shown: tables for a terminal, plain lines for programs."""
