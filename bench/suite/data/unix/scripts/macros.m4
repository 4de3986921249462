divert(-1)
define(`fact', `ifelse($1, 0, 1, `eval($1 * fact(decr($1)))')')
define(`forloop', `pushdef(`$1', `$2')_forloop($@)popdef(`$1')')
define(`_forloop', `$4`'ifelse($1, `$3', `', `define(`$1', incr($1))$0($@)')')
define(`reverse', `ifelse($#, 0, , $#, 1, ``$1'', `reverse(shift($@)), `$1'')')
define(`fib', `ifelse(eval($1 < 2), 1, $1, `eval(fib(decr($1)) + fib(eval($1 - 2)))')')
divert(0)dnl
fact(10) fib(13)
forloop(`i', 1, 200, `i: eval(i * i, 16) ')
reverse(a, b, c, d, e)
ifdef(`SIZE', SIZE, none) len(some words) index(abcdef, de) substr(abcdef, 2, 3) translit(hello, a-z, A-Z)
regexp(`GNUs not Unix', `\w\(\w+\)$', `*** \& *** \1 ***') patsubst(`one two', `\w+', `<\&>')
divert(1)later
divert(2)latest undivert(1)
divert`'undivert(2)format(`%5.2f %s %x', 3.14159, it, 255)
changequote([, ])define([x], [y])[x] x changequote`'changecom(/*, */)/* fact(3) */
include(short)sinclude(absent)syscmd(echo out)esyscmd(echo fact(4))sysval
dumpdef(`fact')traceon(`fact')fact(3)traceoff(`fact')
indir(`fact', 5) builtin(`len', abc) defn(`fact') undefine(`x') m4wrap(`at the end
')errprint(`said
')__file__ __line__ debugmode(t) eval((1 << 9) | 7 ** 2 % 5)
