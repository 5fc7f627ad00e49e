/* Paths of drives. */
#ifndef STRIA_SUPPORT_PATH_H
#define STRIA_SUPPORT_PATH_H

#include <stdbool.h>

/* True for a path that a backend claims by a prefix of lower-case letters and a colon ("null:"), or by that
 * of a drive in another host ("nvme-tcp://"); a file of such a name is written with "./" before it. */
bool stria_path_is_prefixed(const char *path);

/* Before the path of a block device or the URL of a drive of another host: reach it by NVMe passthrough. */
#define STRIA_PASSTHROUGH_PREFIX "passthrough:"

/* What is reached by passthrough where path begins so, else path. A pointer into path. */
const char *stria_path_plain(const char *path);

#endif
