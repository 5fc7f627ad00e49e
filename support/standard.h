/* The three standard descriptors. */
#ifndef STRIA_SUPPORT_STANDARD_H
#define STRIA_SUPPORT_STANDARD_H

/* A standard descriptor that is closed would be given to the next file that is opened, a drive perhaps, and
 * what is said would be written into it, or the drive be read as input. Puts /dev/null there for the rest of
 * the process, the wrong way round: neither reading the one nor writing the others works. Negative errno. */
int stria_standard_fill(void);

#endif
