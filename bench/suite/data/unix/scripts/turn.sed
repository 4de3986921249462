# Each line backwards, the empty ones left alone.
/^$/b
s/^.*$/\
&\
/
tx
:x
s/\(\n.\)\(.*\)\(.\n\)/\3\2\1/
tx
s/\n//g
