"""Functions of the C and C++ libraries, which have no probes, by name.

A program may define a function with such a name itself, in another unit than the one that calls it.  Then
the call is taken for one of a function without probes: what is counted over other calls stays right, and its
own are not counted.  So names that programs like to define are not here.
"""

from __future__ import annotations

_STDIO = """
clearerr fclose fdopen feof ferror fflush fgetc fgetpos fgets fileno fopen fprintf fputc fputs fread
freopen fscanf fseek fseeko fsetpos ftell ftello fwrite getc getc_unlocked getchar getchar_unlocked
getdelim pclose perror popen printf putc putc_unlocked putchar putchar_unlocked puts remove rename rewind
scanf setbuf setvbuf snprintf sprintf sscanf tmpfile ungetc vfprintf vprintf vscanf vsnprintf vsprintf
vsscanf asprintf vasprintf dprintf vdprintf fputc_unlocked fputs_unlocked fwrite_unlocked fread_unlocked
fflush_unlocked feof_unlocked ferror_unlocked __uflow __overflow __isoc99_scanf __isoc99_sscanf
__isoc99_fscanf __isoc23_scanf __isoc23_sscanf __isoc23_fscanf __printf_chk __fprintf_chk __sprintf_chk
__snprintf_chk __vfprintf_chk __vsnprintf_chk __fgets_chk __fread_chk
"""
_STDLIB = """
abort abs aligned_alloc atexit atof atoi atol atoll bsearch calloc div exit free getenv labs ldiv llabs
malloc mblen mbstowcs mbtowc mkstemp mkdtemp posix_memalign putenv qsort qsort_r rand rand_r random
realloc realpath reallocarray secure_getenv setenv srand srandom strtod strtof strtol strtold strtoll
strtoul strtoull system unsetenv wcstombs wctomb _exit _Exit quick_exit __isoc23_strtol __isoc23_strtoul
__isoc23_strtoll __isoc23_strtoull malloc_usable_size
"""
_STRING = """
memccpy memchr memcmp memcpy memmem memmove mempcpy memrchr memset bcmp bcopy bzero stpcpy stpncpy
strcasecmp strcat strchr strchrnul strcmp strcoll strcpy strcspn strdup strerror strerror_r strlen
strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strrchr strsignal strspn strstr strtok
strtok_r strxfrm rawmemchr wcslen wcscmp wcscpy wcschr wmemset wmemcpy __memcpy_chk __memmove_chk
__memset_chk __strcpy_chk __strcat_chk __strncpy_chk __strdup
"""
_CTYPE = """
isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit
tolower toupper towlower towupper iswalnum iswalpha iswspace iswdigit iswprint __ctype_b_loc
__ctype_tolower_loc __ctype_toupper_loc __ctype_get_mb_cur_max mbrtowc wcrtomb mbrlen mbsinit btowc wctob
setlocale localeconv nl_langinfo
"""
_MATH = """
acos acosf asin asinf atan atan2 atan2f atanf cbrt cbrtf ceil ceilf copysign cos cosf cosh exp exp2 expf
expm1 fabs fabsf floor floorf fma fmax fmin fmod fmodf frexp hypot hypotf ldexp lgamma llrint llround log
log10 log1p log2 logf lrint lround modf nearbyint pow powf remainder rint round roundf scalbn sin sincos
sinf sinh sqrt sqrtf tan tanf tanh tgamma trunc truncf
"""
_SYSTEM = """
__assert_fail __errno_location access alarm chdir chmod chown clock clock_gettime clock_nanosleep close
closedir connect creat dlclose dlerror dlopen dlsym dup dup2 execl execle execlp execv execve execvp
fchdir fchmod fchown fcntl flock fork fstat fstatat fsync ftruncate getcwd getegid geteuid getgid
gethostname getpagesize getpid getppid getpwnam getpwuid getrlimit getrusage gettimeofday getuid gmtime
gmtime_r ioctl isatty kill link listen localtime localtime_r lseek lstat madvise mkdir mkfifo mktime mmap
mprotect mremap munmap nanosleep open openat opendir pause pipe pipe2 poll pread pselect pwrite raise read
readdir readlink recv recvfrom recvmsg rmdir sched_yield select send sendmsg sendto setgid setitimer
setpgid setrlimit setsid setsockopt setuid shutdown sigaction sigaddset sigdelset sigemptyset sigfillset
sigismember signal sigprocmask sleep socket socketpair stat strftime symlink sync syscall sysconf time
times truncate ttyname umask uname unlink usleep utime utimes vfork wait wait3 wait4 waitpid write writev
pthread_cond_broadcast pthread_cond_destroy pthread_cond_init pthread_cond_signal pthread_cond_timedwait
pthread_cond_wait pthread_create pthread_detach pthread_equal pthread_exit pthread_getspecific
pthread_join pthread_key_create pthread_mutex_destroy pthread_mutex_init pthread_mutex_lock
pthread_mutex_trylock pthread_mutex_unlock pthread_once pthread_self pthread_setspecific pthread_sigmask
pthread_kill longjmp siglongjmp _longjmp __longjmp_chk swapcontext setcontext getcontext makecontext
getopt getopt_long __stack_chk_fail
"""
_LIBRARY = frozenset(" ".join((_STDIO, _STDLIB, _STRING, _CTYPE, _MATH, _SYSTEM)).split())
_PREFIXES = (
    *("_ZNSt", "_ZSt", "_ZNKSt", "_Znw", "_Zna", "_Zdl", "_Zda"),
    *("__cxa_", "_Unwind_", "__trodden_", "trodden_"),
)


def is_library_function(symbol: str) -> bool:
    """Whether a function that a unit only declares is certainly one of these libraries."""
    return symbol in _LIBRARY or symbol.startswith(_PREFIXES)
