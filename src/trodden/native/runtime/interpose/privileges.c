/* Interposers of the functions that change the user or the group of a process.
 *
 * Such a process may create no file afterwards, and its children, which need one, count in its live file instead
 * (counters/live_family.c).  The descriptor is needed for that: it is opened while that is still possible, should the
 * program have closed it.
 *
 * The C library changes all threads, by signals of its own; so its functions are called.  In a static program these are
 * other names of theirs (glibc), or what they themselves call (musl). */
#define _GNU_SOURCE
#include "interpose/privileges.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "counters/live_regions.h"
#include "interpose/next_function.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/process.h"

typedef int one_function(id_t);
typedef int two_function(id_t, id_t);
typedef int three_function(id_t, id_t, id_t);

#ifdef __GLIBC__
extern one_function __setuid __attribute__((weak)), __setgid __attribute__((weak));
extern two_function __setreuid __attribute__((weak)), __setregid __attribute__((weak));
extern three_function __setresuid __attribute__((weak)), __setresgid __attribute__((weak));
#define STATIC(name, number, first, second, third, ...) \
    (__##name ? __##name(__VA_ARGS__) : (int)syscall(number, first, second, third))
#else
extern int __setxid(int number, int first, int second, int third) __attribute__((weak));
#define STATIC(name, number, first, second, third, ...)                        \
    (__setxid ? __setxid((int)(number), (int)(first), (int)(second), (int)(third)) \
              : (int)syscall(number, first, second, third))
#endif

TRODDEN_INTERCEPTOR(one_function, setuid);
TRODDEN_INTERCEPTOR(one_function, setgid);
TRODDEN_INTERCEPTOR(one_function, seteuid);
TRODDEN_INTERCEPTOR(one_function, setegid);
TRODDEN_INTERCEPTOR(two_function, setreuid);
TRODDEN_INTERCEPTOR(two_function, setregid);
TRODDEN_INTERCEPTOR(three_function, setresuid);
TRODDEN_INTERCEPTOR(three_function, setresgid);

/* A child of vfork has descriptors of its own, and its parent's memory, which says which are open in the parent. */
bool trodden_before_privileges(void) {
    int saved_errno = errno;
    bool leads = trodden_is_leader() && trodden_process.live;
    if (leads && trodden_pid() == trodden_process.pid)
        trodden_live_hold();
    errno = saved_errno;
    return leads;
}

void trodden_after_privileges(bool given_up) {
    int saved_errno = errno;
    if (given_up)
        trodden_live_pass_on();
    errno = saved_errno;
}

#define INTERPOSE(name, type, parameters, arguments, static_call) \
    EXPORTED int name parameters {                                \
        bool leads = trodden_before_privileges();                 \
        type *next = (type *)TRODDEN_NEXT(name);                  \
        int result = next ? next arguments : static_call;         \
        trodden_after_privileges(leads && result == 0);           \
        return result;                                            \
    }

#define UNCHANGED ((id_t)-1)
#define SET_RESUID(r, e, s) STATIC(setresuid, SYS_setresuid, r, e, s, r, e, s)
#define SET_RESGID(r, e, s) STATIC(setresgid, SYS_setresgid, r, e, s, r, e, s)

INTERPOSE(setuid, one_function, (uid_t user), (user), STATIC(setuid, SYS_setuid, user, 0, 0, user))
INTERPOSE(setgid, one_function, (gid_t group), (group), STATIC(setgid, SYS_setgid, group, 0, 0, group))
INTERPOSE(seteuid, one_function, (uid_t user), (user), SET_RESUID(UNCHANGED, user, UNCHANGED))
INTERPOSE(setegid, one_function, (gid_t group), (group), SET_RESGID(UNCHANGED, group, UNCHANGED))
INTERPOSE(setreuid, two_function, (uid_t real, uid_t effective), (real, effective),
          STATIC(setreuid, SYS_setreuid, real, effective, 0, real, effective))
INTERPOSE(setregid, two_function, (gid_t real, gid_t effective), (real, effective),
          STATIC(setregid, SYS_setregid, real, effective, 0, real, effective))
INTERPOSE(setresuid, three_function, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved),
          SET_RESUID(real, effective, saved))
INTERPOSE(setresgid, three_function, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved),
          SET_RESGID(real, effective, saved))
