"""The library below the command line: build, run, load, merge, estimate and draw, as functions.

Nothing here parses arguments or prints; :mod:`trodden.commands` does.  What users are meant to import is in
:mod:`trodden` itself.  Modules are imported one by one, so that a compiler run loads nothing that only
reports need.
"""
