/* What libjpeg-turbo wants to know of the compiler and of itself. */
#define BUILD "bench"
#define PACKAGE_NAME "libjpeg-turbo"
#define VERSION "2.1.5"
#define INLINE inline
#define THREAD_LOCAL __thread
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define HAVE_BUILTIN_CTZL 1
#define FALLTHROUGH __attribute__((fallthrough));
