function turned(s,   i, r) { for (i = length(s); i > 0; i--) r = r substr(s, i, 1); return r }
{ line = $0; gsub(/[aeiou]+/, "<&>", line); sub(/b/, "B", line); n += match(line, /<[^>]*>[a-z]/)
  if (split(line, parts, /[ <>]+/) > 3) print turned(parts[2]), index(line, "z"), substr(line, RSTART, RLENGTH)
  switch (NF % 4) { case 0: zero++; break; case 1: one++; break; default: rest++ } if (NR > 400) exit }
END { printf "%d %d %d %d %s %c %5.2f %e %x\n", n, zero, one, rest, sprintf("%05d", n), 65, 2.5, 1e10, 255
  print gensub(/(a)(b)/, "\\2\\1", "g", "ab cab"), strftime("%Y", 0, 1), tolower("ABC"), systime() > 0 }
