#include "core/sort.h"

#include "tests/unit/random.h"

#include <criterion/criterion.h>
#include <string.h>

struct item {
    uint64_t key;
    uint8_t rest[24]; /* derived from the key, to see that items move whole */
};

static bool before(const void *a, const void *b)
{
    return ((const struct item *)a)->key < ((const struct item *)b)->key;
}

static struct item item_of(uint64_t key)
{
    struct item item = {.key = key};
    memset(item.rest, (int)(key * 7 & 0xff), sizeof(item.rest));
    return item;
}

static void assert_sorted(const struct item *items, size_t count, uint64_t sum)
{
    for (size_t i = 0; i < count; i++) {
        const struct item whole = item_of(items[i].key);
        cr_assert_arr_eq(items[i].rest, whole.rest, sizeof(whole.rest));
        cr_assert(i == 0 || items[i - 1].key <= items[i].key);
        sum -= items[i].key;
    }
    cr_assert_eq(sum, 0, "what went in comes out");
}

Test(sort, orders_any_number_of_items_with_any_repetitions)
{
    static struct item items[700];
    struct stria_random random = random_of(51);
    for (size_t count = 0; count < 700; count++) {
        const uint64_t keys = 1 + stria_random_below(&random, 2 * count + 1);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            items[i] = item_of(stria_random_below(&random, keys));
            sum += items[i].key;
        }
        stria_sort(items, count, sizeof(items[0]), before);
        assert_sorted(items, count, sum);
    }
}

Test(sort, copes_with_rising_and_falling_orders)
{
    static struct item items[1000];
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        items[i] = item_of(1000 - i);
        sum += 1000 - i;
    }
    stria_sort(items, 1000, sizeof(items[0]), before);
    assert_sorted(items, 1000, sum);
    stria_sort(items, 1000, sizeof(items[0]), before);
    assert_sorted(items, 1000, sum);
}
