/* What xxHash takes from <assert.h>: names checked by the compiler. */
#ifndef STRIA_FIRMWARE_ASSERT_H
#define STRIA_FIRMWARE_ASSERT_H

#define static_assert _Static_assert

#endif
