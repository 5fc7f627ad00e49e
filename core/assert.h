/* Assertions for our own mistakes, alive in every build: the core has no other way to stop, and going on
 * with a broken invariant would end in wrong bytes on a drive. Never used on what was read from media. */
#ifndef STRIA_CORE_ASSERT_H
#define STRIA_CORE_ASSERT_H

#define STRIA_ASSERT(condition)                                                                              \
    do {                                                                                                     \
        if (__builtin_expect(!(condition), 0))                                                               \
            __builtin_trap();                                                                                \
    } while (0)

#endif
