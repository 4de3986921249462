/* Function attributes that several files of the runtime use. */
#ifndef TRODDEN_PLATFORM_ATTRIBUTES_H
#define TRODDEN_PLATFORM_ATTRIBUTES_H

/* A call in tail position that reuses the caller's stack frame. */
#if defined(__has_attribute)
#if __has_attribute(musttail)
#define TAIL_CALL __attribute__((musttail))
#endif
#endif
#ifndef TAIL_CALL
#define TAIL_CALL
#endif

/* Everything is compiled with hidden visibility.  An interposer is exported, so that the dynamic linker binds the
 * program's references to it. */
#define EXPORTED __attribute__((visibility("default")))

/* One definition serves the whole process: each module carries its own, and the dynamic linker binds all references
 * to the first in lookup order. */
#define PROCESS_WIDE __attribute__((visibility("default"), weak))

#endif
