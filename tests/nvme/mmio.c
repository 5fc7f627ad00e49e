/* What the register accesses become as instructions: each is caught in the act, on a page that allows none.
 */
#define _GNU_SOURCE /* for REG_RIP */
#include "nvme/mmio.h"

#include <criterion/criterion.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__x86_64__)

static sigjmp_buf caught;
static uint8_t code[4];
static void *address;

static void catch (int number, siginfo_t *info, void *context)
{
    (void)number;
    const ucontext_t *machine = context;
    const uint8_t *at = (const uint8_t *)(uintptr_t)machine->uc_mcontext.gregs[REG_RIP];
    for (unsigned i = 0; i < sizeof(code); i++)
        code[i] = at[i];
    address = info->si_addr;
    siglongjmp(caught, 1);
}

/* Width of the plain load or store caught, in bytes; zero for any other instruction. */
static unsigned width(void)
{
    const uint8_t *at = code;
    unsigned bytes = 4;
    if (*at == 0x66)
        bytes = 2, at++;
    if ((*at & 0xf0) == 0x40) {
        if (*at & 8)
            bytes = 8;
        at++;
    }
    switch (*at) {
    case 0x89: /* mov from a register */
    case 0x8b: /* mov to one */
    case 0xc7: /* mov of a constant */
        return bytes;
    case 0x88:
    case 0x8a:
    case 0xc6:
        return 1;
    case 0x0f:
        return at[1] == 0xb6 ? 1 : at[1] == 0xb7 ? 2 : 0;
    default:
        return 0;
    }
}

static void *forbidden(void)
{
    const struct sigaction action = {.sa_sigaction = catch, .sa_flags = SA_SIGINFO | SA_NODEFER};
    void *page = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(page != MAP_FAILED && sigaction(SIGSEGV, &action, NULL) == 0);
    return page;
}

Test(nvme_mmio, a_read_is_one_access_of_32_bits)
{
    char *page = forbidden();
    volatile uint32_t value = 0;
    if (sigsetjmp(caught, 1) == 0)
        value = stria_nvme_mmio_read32(page, 0x1c);
    cr_expect(address == page + 0x1c && width() == 4, "%u bytes at %p, value %u", width(), address, value);
}

Test(nvme_mmio, a_read_whose_value_is_not_used_is_made)
{
    char *page = forbidden();
    if (sigsetjmp(caught, 1) == 0)
        (void)stria_nvme_mmio_read32(page, 0x1c);
    cr_expect(address == page + 0x1c);
}

Test(nvme_mmio, of_a_read_the_low_byte_is_not_read_alone)
{
    char *page = forbidden();
    volatile uint8_t value = 0;
    if (sigsetjmp(caught, 1) == 0)
        value = (uint8_t)stria_nvme_mmio_read32(page, 0x08);
    cr_expect(address == page + 0x08 && width() == 4, "%u bytes, value %u", width(), value);
}

Test(nvme_mmio, a_write_is_one_access_of_32_bits)
{
    char *page = forbidden();
    volatile uint32_t value = 0x460001;
    if (sigsetjmp(caught, 1) == 0)
        stria_nvme_mmio_write32(page, 0x1000, value);
    cr_expect(address == page + 0x1000 && width() == 4, "%u bytes", width());
}

#endif
