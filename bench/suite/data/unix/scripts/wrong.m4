eval(1 / 0) include(absent) define(`x', `unfinished substr() incr(a) eval(1 +) regexp(a, `[')
