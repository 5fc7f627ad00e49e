#include "support/pages.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool all_zero(const uint8_t *bytes, size_t count)
{
    for (size_t at = 0; at < count; at++)
        if (bytes[at])
            return false;
    return true;
}

static bool is_mapped(const void *address)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    cr_assert(maps);
    bool found = false;
    char line[512];
    while (fgets(line, sizeof(line), maps)) {
        unsigned long begin, end;
        found |= sscanf(line, "%lx-%lx", &begin, &end) == 2 && (uintptr_t)address >= begin &&
                 (uintptr_t)address < end;
    }
    fclose(maps);
    return found;
}

Test(pages, are_zeroed_and_can_all_be_written)
{
    const size_t sizes[] = {1, 4096, 5000, 1u << 20, (1u << 20) + 1, 2u << 20, 17u << 20};
    for (unsigned index = 0; index < sizeof(sizes) / sizeof(sizes[0]); index++) {
        uint8_t *base = stria_pages_map(sizes[index]);
        cr_assert(base);
        cr_assert(all_zero(base, sizes[index]));
        memset(base, 0xff, sizes[index]);
        stria_pages_unmap(base, sizes[index]);
    }
}

/* Two at once: the second lies wherever the first left room. */
Test(pages, begin_with_a_huge_page_from_half_of_one_on)
{
    const size_t sizes[] = {1u << 20, 3u << 20, (5u << 20) + 4096, 64u << 20};
    for (unsigned index = 0; index < sizeof(sizes) / sizeof(sizes[0]); index++) {
        uint8_t *one = stria_pages_map(sizes[index]), *other = stria_pages_map(sizes[index]);
        cr_assert(one && other);
        cr_assert_eq((uintptr_t)one % STRIA_HUGE_PAGE_BYTES, 0);
        cr_assert_eq((uintptr_t)other % STRIA_HUGE_PAGE_BYTES, 0);
        stria_pages_unmap(one, sizes[index]);
        stria_pages_unmap(other, sizes[index]);
    }
}

Test(pages, are_all_given_back)
{
    const size_t bytes = (17u << 20) + 4096;
    uint8_t *base = stria_pages_map(bytes);
    cr_assert(is_mapped(base) && is_mapped(base + bytes - 1));
    stria_pages_unmap(base, bytes);
    for (size_t at = 0; at < bytes + STRIA_HUGE_PAGE_BYTES; at += STRIA_HUGE_PAGE_BYTES)
        cr_assert_not(is_mapped(base + at), "at %zu", at);
}

static unsigned long mapped_pages(void)
{
    unsigned long pages;
    FILE *statm = fopen("/proc/self/statm", "r");
    cr_assert(statm && fscanf(statm, "%lu", &pages) == 1);
    fclose(statm);
    return pages;
}

/* What lies before and behind the aligned part is given back as well. */
Test(pages, leave_no_room_lost)
{
    const size_t bytes = (3u << 20) + 4096;
    stria_pages_unmap(stria_pages_map(bytes), bytes);
    const unsigned long before = mapped_pages();
    for (unsigned turn = 0; turn < 100; turn++)
        stria_pages_unmap(stria_pages_map(bytes), bytes);
    cr_assert_leq(mapped_pages(), before + STRIA_HUGE_PAGE_BYTES / 4096);
}

Test(pages, too_many_are_refused)
{
    cr_assert_null(stria_pages_map(SIZE_MAX));
    cr_assert_null(stria_pages_map(SIZE_MAX - 4096));
    cr_assert_null(stria_pages_map(SIZE_MAX / 2));
    stria_pages_unmap(NULL, 4096);
}
