/* Drives of other hosts by the kernel's NVMe over TCP (support/fabrics_url.h has the form of their paths):
 * the other host's subsystem is connected, and is a block device of this one as long as the connection is
 * there.
 *
 * A controller that was connected before is used and left as it is. One that is connected here is
 * disconnected when nobody needs it any more, in this process or another: whoever uses one shares a lock on
 * its device file. A process that is killed leaves it connected.
 *
 * Any thread may call all of these; a connection being made has the others wait. */
#ifndef STRIA_BACKENDS_FABRICS_H
#define STRIA_BACKENDS_FABRICS_H

#include "support/fabrics_url.h"
#include "support/trouble.h"

/* A drive that is reached. */
struct stria_fabrics_reach {
    struct fabrics_link *link;
    char device[64]; /* its block device, "/dev/nvme3n1" */
};

/* On success the drive is there until stria_fabrics_leave(). The sentence names the culprit: no such host,
 * nobody who answers at that port, a name that is not offered, no namespace or several of which none is
 * named, a kernel without NVMe over TCP, missing rights. Waits some seconds for a host that does not answer.
 */
int stria_fabrics_reach(const char *url, struct stria_fabrics_reach *reach, struct stria_trouble *trouble);

/* May take as long as the kernel takes to tear down a connection whose other end is gone. */
void stria_fabrics_leave(struct stria_fabrics_reach *reach);

/* Between these two, connections outlive their last use, so that a command that comes to a drive several
 * times connects once, and a device's name stays good. They nest. */
void stria_fabrics_keep(void);
void stria_fabrics_let_go(void);

#endif
