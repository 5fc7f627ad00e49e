/* Random identities. */
#ifndef STRIA_SUPPORT_UUID_H
#define STRIA_SUPPORT_UUID_H

#include <stdint.h>

#define STRIA_UUID_TEXT_BYTES 37u /* with the terminating zero */

/* A random (version 4) UUID, from the system's entropy. */
void stria_uuid_draw(uint8_t uuid[16]);

/* Lower-case hexadecimal in groups of 8-4-4-4-12. */
void stria_uuid_text(const uint8_t uuid[16], char text[STRIA_UUID_TEXT_BYTES]);

#endif
