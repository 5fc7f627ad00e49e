/* What is on a drive already, and how to take it off. */
#ifndef STRIA_BACKENDS_CONTENT_H
#define STRIA_BACKENDS_CONTENT_H

#include "core/superblock.h"
#include "support/trouble.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Describes what is worth keeping on an open device or file of drive_bytes: one of Stria's own drives with
 * its array, whatever libblkid knows (file systems, RAID members, LVM, swap, partition tables), and for a
 * file (whole_file) any byte that is not zero. On STRIA_OK *found says whether there is any, and text then
 * reads behind "carries", for example "an ext4 file system labelled 'photos'". The file offset is moved.
 * block_bytes is the drive's block size where the file is only a copy of it, else zero: the system knows. */
int stria_content_describe(int fd, uint64_t drive_bytes, uint32_t block_bytes, bool whole_file, bool *found,
                           char *text, size_t size, struct stria_trouble *trouble);

/* Where copies of Stria's superblock may lie on an open device or file of drive_bytes: the first, the second
 * as far as the size tells, and where the first one says that the drive has grown since, the second at its
 * old end. Returns how many there are: 0, for it is too small, 2 or 3. */
unsigned stria_content_copies(int fd, uint64_t drive_bytes, uint64_t offsets[3]);

/* Reads Stria's superblock from an open device or file of drive_bytes, of its two copies the one that counts.
 * False if there is none that is valid. */
bool stria_content_superblock(int fd, uint64_t drive_bytes, struct stria_superblock *super);

/* Wipes every signature from a device or file that is open for writing: libblkid's and Stria's own. The rest
 * of the content is left as it is. name is for the sentence, block_bytes as above. */
int stria_content_wipe(int fd, uint64_t drive_bytes, uint32_t block_bytes, const char *name,
                       struct stria_trouble *trouble);

#endif
