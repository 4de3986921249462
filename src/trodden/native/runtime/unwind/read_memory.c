/* Memory that may be unmapped. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "unwind/read_memory.h"

/* The kernel copies what is mapped and refuses the rest.  It is asked for the memory of this thread rather than of
 * the process, whose first thread may have exited.  Where the system call is forbidden, it has to suffice that the
 * page is mapped. */
bool trodden_read_memory(struct trodden_page_copy *page_copy, uintptr_t address, unsigned size, uint64_t *value) {
    uint8_t bytes[8] = {0};
    uintptr_t offset = address - page_copy->page;
    if (page_copy->page && offset < sizeof page_copy->words && size <= sizeof page_copy->words - offset) {
        memcpy(bytes, (const uint8_t *)page_copy->words + offset, size);
        memcpy(value, bytes, sizeof bytes);
        return true;
    }
    for (unsigned i = 0; i < size; i++) {
        uintptr_t page = (address + i) & ~(uintptr_t)(sizeof page_copy->words - 1);
        if (page != page_copy->page || !page) {
            struct iovec local = {page_copy->words, sizeof page_copy->words};
            struct iovec remote = {(void *)page, sizeof page_copy->words};
            long got = syscall(SYS_process_vm_readv, syscall(SYS_gettid), &local, 1ul, &remote, 1ul, 0ul);
            page_copy->page = 0;
            if (got < 0 && (errno == ENOSYS || errno == EPERM) && page) {
                unsigned char resident;
                if (mincore((void *)page, 1, &resident) != 0)
                    return false;
                memcpy(page_copy->words, (const void *)page, sizeof page_copy->words);
                got = sizeof page_copy->words;
            }
            if (got != (long)sizeof page_copy->words)
                return false;
            page_copy->page = page;
        }
        bytes[i] = ((const uint8_t *)page_copy->words)[(address + i) - page];
    }
    memcpy(value, bytes, sizeof bytes);
    return true;
}
