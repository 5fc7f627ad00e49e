/* Who a drive is, from the Identify data. */
#ifndef STRIA_NVME_IDENTITY_H
#define STRIA_NVME_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#define STRIA_NVME_IDENTIFY_BYTES 4096u

struct stria_nvme_identity {
    char serial[21]; /* without the blanks around it, so maybe empty */
    char model[41];
    char firmware[9];
    uint16_t controller_id;
    uint32_t transfer_pages_max; /* MDTS as a number of CAP.MPSMIN pages; zero: no limit */
    uint32_t namespace_count;    /* NN, the highest namespace ID there may be */
    bool deallocates;            /* Dataset Management is there */
    bool volatile_cache;
    uint64_t shutdown_ns;   /* RTD3E: how long an orderly shutdown may take; zero if it does not say */
    uint64_t atomic_blocks; /* AWUPF: writes of up to so many blocks are never torn; at least 1 */

    /* The namespace. */
    uint32_t namespace_id;
    uint64_t block_count;
    uint32_t block_bytes;
    uint32_t metadata_bytes; /* for each block; the driver takes only formats without any */
};

/* SMART / Health Information, as far as a recorder has a use for it. */
struct stria_nvme_health {
    uint8_t critical_warning;    /* bits as in the specification; zero is good */
    uint16_t temperature_kelvin; /* composite */
    uint8_t spare_percent;
    uint8_t spare_percent_least; /* below which critical_warning says so */
    uint8_t used_percent;        /* of the rated endurance, above 100 when that is past; at most 255 */
    uint64_t written_bytes;      /* by hosts in its life, in steps of 512000 bytes; saturates */
    uint64_t read_bytes;
    uint64_t power_on_hours;
    uint64_t unsafe_shutdowns;
    uint64_t media_errors;
};

/* Which of a namespace's LBA formats is in use, by FLBAS and NLBAF of its Identify data: four bits, and two
 * more where there are more than sixteen formats (NVM command set, FLBAS). */
static inline uint32_t stria_nvme_format_in_use(uint8_t flbas, uint8_t nlbaf)
{
    return (flbas & 0xfu) | (nlbaf >= 16 ? (flbas >> 5 & 3u) << 4 : 0);
}

/* Reads what concerns the controller out of the data of Identify Controller. */
void stria_nvme_identity_controller(struct stria_nvme_identity *identity,
                                    const uint8_t page[STRIA_NVME_IDENTIFY_BYTES]);

/* Reads what concerns the namespace out of the data of Identify Namespace. */
void stria_nvme_identity_namespace(struct stria_nvme_identity *identity,
                                   const uint8_t page[STRIA_NVME_IDENTIFY_BYTES]);

/* Reads the SMART log page, of which 512 bytes are used. */
void stria_nvme_health_decode(struct stria_nvme_health *health, const uint8_t page[512]);

#endif
