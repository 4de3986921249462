/* Symbol lookup in a loaded object, without the dynamic linker: it may be in the middle of an operation, and a static
 * program has none. */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "platform/dynamic_symbols.h"

struct symbol_table {
    uintptr_t address; /* somewhere in the object */
    uintptr_t low, high, bias;
    const ElfW(Dyn) * dynamic;
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash; /* DT_GNU_HASH, or NULL */
    const uint32_t *sysv_hash;
};

static int find_object(struct dl_phdr_info *info, size_t size, void *context) {
    struct symbol_table *table = context;
    bool here = false;
    (void)size;
    table->low = UINTPTR_MAX;
    table->high = 0;
    table->bias = info->dlpi_addr;
    table->dynamic = NULL;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, to = from + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            table->dynamic = (const ElfW(Dyn) *)from;
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        here = here || (table->address >= from && table->address < to);
        table->low = from < table->low ? from : table->low;
        table->high = to > table->high ? to : table->high;
    }
    return here;
}

/* glibc has relocated the entries of the dynamic section to addresses, musl has not. */
static const void *relocate(const struct symbol_table *table, uintptr_t value) {
    return (const void *)(value >= table->low && value < table->high ? value : table->bias + value);
}

static bool read_dynamic(struct symbol_table *table) {
    for (const ElfW(Dyn) *entry = table->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
        uintptr_t value = entry->d_un.d_ptr;
        switch (entry->d_tag) {
        case DT_SYMTAB: table->symbols = relocate(table, value); break;
        case DT_STRTAB: table->strings = relocate(table, value); break;
        case DT_GNU_HASH: table->gnu_hash = relocate(table, value); break;
        case DT_HASH: table->sysv_hash = relocate(table, value); break;
        default: break;
        }
    }
    return table->symbols && table->strings && (table->gnu_hash || table->sysv_hash);
}

static bool is_definition_of(const struct symbol_table *table, uint32_t index, const char *name) {
    const ElfW(Sym) *symbol = &table->symbols[index];
    return symbol->st_shndx != SHN_UNDEF && strcmp(table->strings + symbol->st_name, name) == 0;
}

/* The symbols of a bucket are adjacent; the lowest bit of a hash marks the last of them. */
static uint32_t find_by_gnu_hash(const struct symbol_table *table, const char *name) {
    uint32_t hash = 5381, buckets = table->gnu_hash[0], first = table->gnu_hash[1], words = table->gnu_hash[2];
    for (const char *at = name; *at; at++)
        hash = hash * 33 + (uint8_t)*at;
    const uint32_t *bucket = table->gnu_hash + 4 + words * (sizeof(uintptr_t) / sizeof *bucket);
    const uint32_t *chain = bucket + buckets;
    uint32_t index = buckets ? bucket[hash % buckets] : 0;
    for (; index && index >= first; index++) {
        if ((chain[index - first] | 1) == (hash | 1) && is_definition_of(table, index, name))
            return index;
        if (chain[index - first] & 1)
            break;
    }
    return 0;
}

static uint32_t find_by_scan(const struct symbol_table *table, const char *name) {
    for (uint32_t index = 1; index < table->sysv_hash[1]; index++)
        if (is_definition_of(table, index, name))
            return index;
    return 0;
}

void trodden_find_dynamic_symbols(uintptr_t address, const char *const *names, uintptr_t *found, uintptr_t range[2]) {
    struct symbol_table table = {.address = address};
    bool readable = dl_iterate_phdr(find_object, &table) && read_dynamic(&table);
    for (; *names; names++, found++) {
        uint32_t index = 0;
        if (readable)
            index = table.gnu_hash ? find_by_gnu_hash(&table, *names) : find_by_scan(&table, *names);
        *found = index ? table.bias + table.symbols[index].st_value : 0;
    }
    range[0] = table.low;
    range[1] = table.high;
}
