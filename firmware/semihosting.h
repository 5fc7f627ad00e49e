/* The debugger's or the emulator's help: text before a console is known, and the exit status. */
#ifndef STRIA_FIRMWARE_SEMIHOSTING_H
#define STRIA_FIRMWARE_SEMIHOSTING_H

/* A text, as it is. */
void stria_semihosting_write(const char *text);

/* Ends the program with a status. Where nobody listens it does not return either: the processor sleeps. */
__attribute__((noreturn)) void stria_semihosting_exit(int status);

#endif
