/* Inside the threaded wrapper: threaded.c is the caller's side, threaded_pump.c the thread's. */
#ifndef STRIA_BACKENDS_THREADED_INTERNAL_H
#define STRIA_BACKENDS_THREADED_INTERNAL_H

#include "backends/handover.h"
#include "backends/threaded.h"
#include "support/bell.h"

#include <pthread.h>

/* How the thread rests, and so what a new request has to do about it. */
enum threaded_rest {
    THREADED_AWAKE,    /* it will look for requests by itself */
    THREADED_IN_POLL,  /* waits in inner's poll with room for more: wake it */
    THREADED_SATURATED /* waits in inner's poll with enough to do: let it be, it looks when one is done */
};

#define THREADED_REGIONS_MAX 16u

struct threaded_drive {
    struct stria_drive drive;

    /* The caller's own. */
    uint32_t under_way; /* accepted and not polled */
    pthread_t thread;

    /* From the caller to the thread. */
    struct stria_handover requests;
    struct stria_io request_entries[STRIA_DEPTH_MAX];
    _Atomic uint32_t depth_peak; /* the most that were under way at once since the caller attached */
    _Atomic bool revoked;        /* the thread takes no request any more; set under guard */
    struct stria_bell requested; /* for requests, attach and stop; listened to while inner is idle */
    _Atomic int rest;            /* enum threaded_rest */
    _Atomic uint64_t stop_ns;    /* when close began; zero before */
    struct stria_region regions[THREADED_REGIONS_MAX]; /* to attach; published by attach_wanted */
    unsigned region_count;
    _Atomic bool attach_wanted; /* taken back by the thread when it is done, with attach_code set */
    int attach_code;

    /* From the thread to the caller. */
    struct stria_handover completions;
    struct stria_done completion_entries[STRIA_DEPTH_MAX];
    struct stria_bell finished; /* rung for completions, attach, wake and the end */
    _Atomic bool woken;
    _Atomic int broken; /* inner became unusable with this code */

    /* Held while the thread touches what belongs to the caller (data, the notify context) or takes a request,
     * and while close touches inner. */
    pthread_mutex_t guard;
    bool abandoned; /* close has returned without the thread: nothing of the caller exists any more */
    bool closing;   /* inner is not to be woken any more */
    bool ended;     /* the thread needs nothing here any more */

    /* The thread's own. */
    struct stria_drive *inner;
    void (*notify)(void *context);
    void *context;
    uint32_t inside;    /* requests in inner … */
    uint32_t urgent;    /* … of which so many may not coalesce */
    bool untold;        /* completions were given that the caller was not notified of */
    bool hurried;       /* … and one of them may not wait */
    bool inner_is_full; /* it refused the one in held_slot */
    uint32_t held_slot;
    bool stopping; /* it has seen stop_ns */
    uint32_t free_slots[STRIA_DEPTH_MAX];
    struct stria_io slots[STRIA_DEPTH_MAX];
    uint64_t digests[STRIA_DEPTH_MAX];
};

/* The thread's main function; argument is a struct threaded_drive. */
void *threaded_pump(void *argument);

void threaded_free(struct threaded_drive *threaded);

#endif
