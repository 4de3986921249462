BEGIN { FS = ":"; PROCINFO["sorted_in"] = "@ind_str_asc" }
{ kept[$1][$2 % 10] = $0; sum[$2 % 7, NF] += $2; names[NR] = $1; if ($1 in last) delete last[$1]; else last[$1] = NR }
END { n = asort(names, sorted); for (i = 1; i <= n; i += 97) print i, sorted[i]
  for (key in kept) for (digit in kept[key]) count++; print count, length(kept), length(last)
  for (pair in sum) { split(pair, ends, SUBSEP); if (ends[2] == 5) print ends[1], sum[pair] } m = asorti(last, keys)
  for (i = 1; i <= m && i < 5; i++) print keys[i]; while (i-- > 0) { if (i == 2) continue; print i } delete names; print length(names), isarray(kept), typeof(n) }
