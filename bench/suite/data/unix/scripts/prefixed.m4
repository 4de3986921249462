m4_define(`a', `b')m4_ifelse(a, b, yes, no)m4_len(abc) define(a)
