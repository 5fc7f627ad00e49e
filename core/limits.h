/* The limits on everything. All sizes in bytes. */
#ifndef STRIA_CORE_LIMITS_H
#define STRIA_CORE_LIMITS_H

#define STRIA_DRIVES_MAX          32u         /* drives in one array */
#define STRIA_CHUNK_BYTES_MIN     (64u << 10) /* chunk sizes are powers of two in this range */
#define STRIA_CHUNK_BYTES_MAX     (16u << 20)
#define STRIA_CHUNK_BYTES_DEFAULT (1u << 20)
#define STRIA_BLOCK_BYTES_MIN     512u /* drive block sizes are powers of two in this range */
#define STRIA_BLOCK_BYTES_MAX     4096u
#define STRIA_PAGE_BYTES          4096u       /* unit in which metadata are written */
#define STRIA_DEPTH_MAX           256u        /* requests in flight on one drive */
#define STRIA_TRANSFER_BYTES_MAX  (64u << 20) /* no backend takes a larger read or write at once */
#define STRIA_SLOTS_MAX           65536u      /* slots in one memory ring */
#define STRIA_SLOTS_MIN           4u
#define STRIA_NAME_BYTES          64u        /* a recording's or array's name with its terminating zero */
#define STRIA_WINDOW_CHUNKS_MAX   (1u << 20) /* sealed chunks between the durable watermark and the newest */

#endif
