/* The frames of all threads at one moment, for the raw file. */
#include "platform/system.h"
#include "process/process.h"
#include "process/thread_snapshots.h"

uint32_t trodden_snapshots_frame_count(const struct trodden_thread_snapshots *snapshots) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < snapshots->count; i++)
        count += snapshots->threads[i].count;
    return count;
}

uint32_t trodden_snapshots_saved_count(const struct trodden_thread_snapshots *snapshots) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < snapshots->count; i++)
        count += snapshots->threads[i].saved_count;
    return count;
}

bool trodden_snapshots_incomplete(const struct trodden_thread_snapshots *snapshots) {
    bool incomplete = snapshots->unstopped || !snapshots->threads;
    for (uint32_t i = 0; i < snapshots->count; i++)
        incomplete = incomplete || snapshots->threads[i].incomplete;
    return incomplete;
}

struct trodden_thread_snapshots trodden_snapshot_threads(const struct trodden_regs *regs, uint32_t unstopped) {
    struct trodden_thread_snapshots snapshots = {NULL, 0, unstopped, sizeof *snapshots.threads};
    uintptr_t own_tp = trodden_thread_pointer();
    for (const struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
        snapshots.bytes += sizeof *snapshots.threads;
    snapshots.threads = trodden_map(snapshots.bytes);
    if (!snapshots.threads)
        return snapshots;
    const struct trodden_thread *own = trodden_own_thread();
    snapshots.threads[snapshots.count++] =
        trodden_collect_frames(regs, trodden_thread_number(), false, own ? &own->unwinding : NULL);
    for (const struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next) {
        struct trodden_regs thread_regs;
        if (thread->tp == own_tp || !thread->stopped_at)
            continue;
        trodden_regs_from_ucontext(thread->stopped_at, &thread_regs);
        snapshots.threads[snapshots.count++] =
            trodden_collect_frames(&thread_regs, thread->number, true, &thread->unwinding);
    }
    return snapshots;
}

void trodden_snapshots_free(struct trodden_thread_snapshots *snapshots) {
    for (uint32_t i = 0; i < snapshots->count; i++)
        trodden_frames_free(&snapshots->threads[i]);
    trodden_unmap(snapshots->threads, snapshots->bytes);
}
