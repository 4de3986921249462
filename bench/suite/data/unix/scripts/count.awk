{ for (i = 1; i <= NF; i++) { seen[tolower($i)]++; length_[length($i)]++ } words += NF; bytes += length($0) + 1 }
END { for (word in seen) if (seen[word] > 20) printf "%-12s %6d\n", word, seen[word]
  for (size in length_) total += size * length_[size]; print NR, words, bytes, total, total / (words ? words : 1) }
