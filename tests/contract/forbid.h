/* Makes the system fail, as it does on other machines. */
#ifndef STRIA_TESTS_CONTRACT_FORBID_H
#define STRIA_TESTS_CONTRACT_FORBID_H

#include <stddef.h>

/* From here on a system call fails with an error (errno), for this thread and those that it creates. */
void forbid_call(int number, int error);

/* The same of mmap of so many bytes. */
void forbid_map(size_t bytes, int error);

/* The same of fcntl with that command. */
void forbid_fcntl(int command, int error);

/* Fails the first count fcntl with that command with EINTR, and carries out the later ones. */
void forbid_interrupt_fcntl(int command, unsigned count);

#endif
