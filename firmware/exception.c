/* The end of a program that ran into something unexpected. */
#include "firmware/exception.h"

#include "firmware/console.h"
#include "firmware/semihosting.h"

#define CLASS_OF(syndrome) ((syndrome) >> 26 & 0x3f)

/* ESR_ELx.EC, ARM DDI 0487. */
static const char *describe(uint64_t syndrome)
{
    switch (CLASS_OF(syndrome)) {
    case 0x00:
        return "an instruction that is not known";
    case 0x07:
        return "a trapped vector instruction";
    case 0x21:
        return "code that is not mapped or not executable";
    case 0x22:
        return "a misaligned program counter";
    case 0x25:
        return "an access to memory that is not mapped, not writable or misaligned";
    case 0x26:
        return "a misaligned stack";
    case 0x2f:
        return "an error reported by the bus";
    case 0x3c:
        return "a broken assertion";
    default:
        return "an exception";
    }
}

void stria_exception_report(uint64_t vector, uint64_t syndrome, uint64_t instruction, uint64_t address)
{
    static bool reported;
    if (!reported) {
        reported = true;
        stria_console_say(
            "stria: stopped by %s: vector %lu, syndrome 0x%08lx, instruction at 0x%lx, address 0x%lx",
            describe(syndrome), vector, syndrome, instruction, address);
    }
    stria_semihosting_exit(STRIA_EXIT_EXCEPTION);
}
