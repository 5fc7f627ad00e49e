/* What the image says: lines on a PL011, or through the debugger as long as no PL011 is known. */
#ifndef STRIA_FIRMWARE_CONSOLE_H
#define STRIA_FIRMWARE_CONSOLE_H

#include <stdint.h>

/* From now on everything goes to the PL011 whose registers are at this address; zero: back to the debugger.
 * The boot loader has set its speed. */
void stria_console_use(uintptr_t registers);

/* Says a line as stria_text_compose() composes it, without a newline in it; at most 255 characters. */
void stria_console_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
