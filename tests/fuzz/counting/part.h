/* How the first file of a random program reaches the second. */
#ifdef __cplusplus
extern "C" struct part part_offer;
#else
extern struct part part_offer;
#endif
#ifdef LOADED
static inline struct part *load_part(void) {
    void *library = dlopen(LOADED, RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        abort();
    return (struct part *)dlsym(library, "part_offer");
}
#define PART_TABLE load_part()
#else
#define PART_TABLE (&part_offer)
#endif
