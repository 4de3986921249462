"""Measurements of trodden and of other profilers on real programs, and of its agreement with other tools.

Data flows one way.  A package imports only from those below it:

    cli        what to measure, in which order, and what is printed
    page       docs/benchmarks.md, generated from the results
    tables     what each table needs and shows; files of results
    figures    what is computed from profiles and counters
    measures   what is measured of a build or a run, and the store of raw figures
    oracles    other tools that trodden's answers are compared with
    run        inputs, processes, profiles
    build      configurations, and builds in them
    suite      the programs: sources, inputs, expected output
    papers     figures out of the papers
    support    errors, directories, locks, hashes, statistics

``results`` has the results of all tables, and ``work`` everything that can be made again.
"""
