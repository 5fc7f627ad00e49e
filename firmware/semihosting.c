#include "firmware/semihosting.h"

#include <stdbool.h>
#include <stdint.h>

/* Semihosting for AArch32 and AArch64, ARM DUI 0471 and its successor. */
#define SYS_WRITE0       0x04u
#define SYS_EXIT         0x18u
#define APPLICATION_EXIT 0x20026u

static uint64_t ask(uint32_t operation, const void *parameter)
{
    register uint64_t x0 __asm__("x0") = operation;
    register const void *x1 __asm__("x1") = parameter;
    __asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
    return x0;
}

void stria_semihosting_write(const char *text)
{
    ask(SYS_WRITE0, text);
}

void stria_semihosting_exit(int status)
{
    /* Without a debugger the request is an exception, whose report ends here again. */
    static bool asked;
    const uint64_t block[2] = {APPLICATION_EXIT, (uint64_t)status};
    if (!asked) {
        asked = true;
        ask(SYS_EXIT, block);
    }
    for (;;)
        __asm__ volatile("wfi");
}
