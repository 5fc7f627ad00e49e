/* What start.S calls when the processor takes an exception: there is none that the image can go on after. */
#ifndef STRIA_FIRMWARE_EXCEPTION_H
#define STRIA_FIRMWARE_EXCEPTION_H

#include <stdbool.h>
#include <stdint.h>

/* The exit status after an exception; all others are below. */
#define STRIA_EXIT_EXCEPTION 70

/* Says what happened and ends the program. vector: 0 to 15 in the order of the vector table; the rest as in
 * ESR_EL1, ELR_EL1 and FAR_EL1. */
__attribute__((noreturn)) void stria_exception_report(uint64_t vector, uint64_t syndrome,
                                                      uint64_t instruction, uint64_t address);

#endif
