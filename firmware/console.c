#include "firmware/console.h"

#include "firmware/processor.h"
#include "firmware/semihosting.h"
#include "firmware/text.h"

/* ARM PrimeCell UART (PL011), DDI 0183. */
#define PL011_DR   0x00u
#define PL011_FR   0x18u
#define PL011_CR   0x30u
#define FR_BUSY    (1u << 3)
#define FR_TX_FULL (1u << 5)
#define CR_ENABLE  (1u << 0)
#define CR_TX      (1u << 8)

#define LINE_BYTES 256u

static uintptr_t pl011;

void stria_console_use(uintptr_t registers)
{
    pl011 = registers;
    if (pl011)
        stria_write_u32(pl011 + PL011_CR, stria_read_u32(pl011 + PL011_CR) | CR_ENABLE | CR_TX);
}

static void put(char character)
{
    while (stria_read_u32(pl011 + PL011_FR) & FR_TX_FULL)
        ;
    stria_write_u32(pl011 + PL011_DR, (uint8_t)character);
}

void stria_console_say(const char *format, ...)
{
    char line[LINE_BYTES + 1];
    va_list arguments;
    va_start(arguments, format);
    size_t length = stria_text_compose_list(line, LINE_BYTES, format, arguments);
    va_end(arguments);
    line[length++] = '\n';
    line[length] = '\0';
    if (!pl011) {
        stria_semihosting_write(line);
        return;
    }
    for (size_t index = 0; index < length; index++)
        put(line[index]);
    /* What is said last must be out before the machine stops. */
    while (stria_read_u32(pl011 + PL011_FR) & FR_BUSY)
        ;
}
