/* Where the linker put what: addresses, not contents. */
#ifndef STRIA_FIRMWARE_LAYOUT_H
#define STRIA_FIRMWARE_LAYOUT_H

#include <stdint.h>

extern uint8_t stria_code_start[], stria_code_end[];
extern uint8_t stria_exception_stack_end[]; /* code, data and stacks end here, the arena begins behind */
extern uint8_t stria_arena_start[], stria_arena_end[];

#endif
