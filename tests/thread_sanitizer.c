/* Linked into the tests of a thread sanitizer build only. Criterion shares memory with its test processes
 * at an address it draws with rand_r, among many that the thread sanitizer forbids to a program. This
 * rand_r stands before the C library's and draws from those that it allows (0x5500_0000_0000 up to
 * 0x5680_0000_0000): Criterion multiplies by 16 MiB and adds 0x2000_0000_0000. */
#include <stdlib.h>

__attribute__((visibility("default"))) int rand_r(unsigned *seed)
{
    const int first = 0x350000;
    const unsigned count = 0x18000;
    *seed = *seed * 1103515245u + 12345u;
    return first + (int)((*seed >> 8) % count);
}
