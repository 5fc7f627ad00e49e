/* The compiler's own <limits.h> asks for that of a C library. */
#ifndef STRIA_FIRMWARE_LIMITS_H
#define STRIA_FIRMWARE_LIMITS_H

#define CHAR_BIT  __CHAR_BIT__
#define UCHAR_MAX (2 * __SCHAR_MAX__ + 1)
#define INT_MAX   __INT_MAX__
#define INT_MIN   (-__INT_MAX__ - 1)
#define UINT_MAX  (2u * __INT_MAX__ + 1u)
#define LONG_MAX  __LONG_MAX__
#define ULONG_MAX (2ul * __LONG_MAX__ + 1ul)

#endif
