/* Names that a loaded object shows to others, found without the dynamic linker's help: it may be in the middle
 * of something, and a static program has none. */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <string.h>

#include "internal.h"

struct names {
    uintptr_t address;  /* somewhere in the object */
    uintptr_t low, high, bias;
    const ElfW(Dyn) *entry;
    const ElfW(Sym) *symbols;
    const char *texts;
    const uint32_t *hash; /* in GNU's form, or NULL: */
    const uint32_t *old_hash;
};

static int find_object(struct dl_phdr_info *info, size_t size, void *context) {
    struct names *names = context;
    bool here = false;
    (void)size;
    names->low = UINTPTR_MAX;
    names->high = 0;
    names->bias = info->dlpi_addr;
    names->entry = NULL;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, to = from + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            names->entry = (const ElfW(Dyn) *)from;
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        here = here || (names->address >= from && names->address < to);
        names->low = from < names->low ? from : names->low;
        names->high = to > names->high ? to : names->high;
    }
    return here;
}

/* glibc has turned offsets into addresses, musl has not. */
static const void *place(const struct names *names, uintptr_t value) {
    return (const void *)(value >= names->low && value < names->high ? value : names->bias + value);
}

static bool read_names(struct names *names) {
    for (const ElfW(Dyn) *entry = names->entry; entry && entry->d_tag != DT_NULL; entry++) {
        uintptr_t value = entry->d_un.d_ptr;
        switch (entry->d_tag) {
        case DT_SYMTAB: names->symbols = place(names, value); break;
        case DT_STRTAB: names->texts = place(names, value); break;
        case DT_GNU_HASH: names->hash = place(names, value); break;
        case DT_HASH: names->old_hash = place(names, value); break;
        default: break;
        }
    }
    return names->symbols && names->texts && (names->hash || names->old_hash);
}

static bool is_meant(const struct names *names, uint32_t index, const char *name) {
    const ElfW(Sym) *symbol = &names->symbols[index];
    return symbol->st_shndx != SHN_UNDEF && strcmp(names->texts + symbol->st_name, name) == 0;
}

/* The symbols of one bucket lie one behind the other; the lowest bit of a hash marks the last. */
static uint32_t find_by_hash(const struct names *names, const char *name) {
    uint32_t hash = 5381, buckets = names->hash[0], first = names->hash[1], words = names->hash[2];
    for (const char *at = name; *at; at++)
        hash = hash * 33 + (uint8_t)*at;
    const uint32_t *bucket = names->hash + 4 + words * (sizeof(uintptr_t) / sizeof *bucket);
    const uint32_t *chain = bucket + buckets;
    uint32_t index = buckets ? bucket[hash % buckets] : 0;
    for (; index && index >= first; index++) {
        if ((chain[index - first] | 1) == (hash | 1) && is_meant(names, index, name))
            return index;
        if (chain[index - first] & 1)
            break;
    }
    return 0;
}

static uint32_t find_by_number(const struct names *names, const char *name) {
    for (uint32_t index = 1; index < names->old_hash[1]; index++)
        if (is_meant(names, index, name))
            return index;
    return 0;
}

void trodden_symbols_beside(uintptr_t address, const char *const *wanted, uintptr_t *found, uintptr_t range[2]) {
    struct names names = {.address = address};
    bool known = dl_iterate_phdr(find_object, &names) && read_names(&names);
    for (; *wanted; wanted++, found++) {
        uint32_t index = 0;
        if (known)
            index = names.hash ? find_by_hash(&names, *wanted) : find_by_number(&names, *wanted);
        *found = index ? names.bias + names.symbols[index].st_value : 0;
    }
    range[0] = names.low;
    range[1] = names.high;
}
