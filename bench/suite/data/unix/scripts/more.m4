fact(6) forloop(`j', 1, 9, `j ') reverse(x, y, z)
