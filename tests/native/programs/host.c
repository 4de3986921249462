/* Uses libraries: linked (WITH_LINKED) and loaded at run time, from several threads; with a unit or without. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef WITH_UNIT
#include "unit.h"
UNIT('h', 1);
#else
#define STEP(slot) ((void)0)
#endif

#ifdef WITH_LINKED
void visit(int times);
#endif

static void (*plugin_visit)(int);

#ifdef WITH_UNIT
static pthread_barrier_t loaded, visited;

static void *visitor(void *argument) {
    pthread_barrier_wait(&loaded); /* was running before the plugin was loaded */
    plugin_visit(100);
    pthread_barrier_wait(&visited);
    for (;;)
        pause();
    return argument;
}

static void *short_visitor(void *argument) {
    plugin_visit(7);
    return argument;
}
#endif

int main(int argc, char **argv) {
    STEP(0);
#ifdef WITH_LINKED
    visit(4);
#endif
#ifdef WITH_UNIT
    pthread_t id;
    pthread_barrier_init(&loaded, NULL, 2);
    pthread_barrier_init(&visited, NULL, 2);
    pthread_create(&id, NULL, visitor, NULL);
#endif
    for (int i = 1; i < argc; i++) {
        void *plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!plugin) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        *(void **)&plugin_visit = dlsym(plugin, "visit");
        plugin_visit(10);
#ifdef WITH_UNIT
        if (i == 1) {
            pthread_barrier_wait(&loaded);
            pthread_barrier_wait(&visited);
        }
        pthread_create(&id, NULL, short_visitor, NULL);
        pthread_join(id, NULL);
#endif
        if (i % 2 == 1)
            dlclose(plugin);
    }
    return 0;
}
