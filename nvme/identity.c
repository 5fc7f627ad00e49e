#include "nvme/identity.h"

#include "core/bits.h"

#include <string.h>

/* Text in Identify data is padded with blanks, on either side by some vendors. What is no printable ASCII
 * becomes a dot: it ends up in messages. */
static void copy_text(char *out, const uint8_t *in, unsigned length)
{
    while (length > 0 && (in[length - 1] == ' ' || in[length - 1] == 0))
        length--;
    while (length > 0 && *in == ' ')
        in++, length--;
    for (unsigned i = 0; i < length; i++)
        out[i] = in[i] >= ' ' && in[i] <= '~' ? (char)in[i] : '.';
    out[length] = 0;
}

void stria_nvme_identity_controller(struct stria_nvme_identity *identity,
                                    const uint8_t page[STRIA_NVME_IDENTIFY_BYTES])
{
    copy_text(identity->serial, page + 4, 20);
    copy_text(identity->model, page + 24, 40);
    copy_text(identity->firmware, page + 64, 8);
    const uint8_t mdts = page[77];
    identity->transfer_pages_max = mdts == 0 || mdts > 31 ? 0 : 1u << mdts;
    identity->controller_id = stria_load_u16(page + 78);
    identity->shutdown_ns = stria_load_u32(page + 88) * 1000ull;
    identity->namespace_count = stria_load_u32(page + 516);
    identity->deallocates = (stria_load_u16(page + 520) & 1u << 2) != 0;
    identity->volatile_cache = (page[525] & 1) != 0;
    identity->atomic_blocks = stria_load_u16(page + 528) + 1ull;
}

void stria_nvme_identity_namespace(struct stria_nvme_identity *identity,
                                   const uint8_t page[STRIA_NVME_IDENTIFY_BYTES])
{
    const uint32_t format = stria_nvme_format_in_use(page[26], page[25]);
    const uint32_t layout = stria_load_u32(page + 128 + 4 * (size_t)format);
    const uint32_t shift = layout >> 16 & 0xff;
    identity->block_count = stria_load_u64(page);
    identity->block_bytes = shift < 32 ? 1u << shift : 0;
    identity->metadata_bytes = layout & 0xffff;
    /* NSFEAT says that this namespace has an atomic size of its own. */
    if (page[24] & 1u << 1)
        identity->atomic_blocks = stria_load_u16(page + 36) + 1ull;
}

/* The counters of the log are 128 bits wide. */
static uint64_t load_counter(const uint8_t *in)
{
    return stria_load_u64(in + 8) ? UINT64_MAX : stria_load_u64(in);
}

static uint64_t data_units_to_bytes(uint64_t units)
{
    const uint64_t unit_bytes = 512000;
    return units > UINT64_MAX / unit_bytes ? UINT64_MAX : units * unit_bytes;
}

void stria_nvme_health_decode(struct stria_nvme_health *health, const uint8_t page[512])
{
    *health = (struct stria_nvme_health){
        .critical_warning = page[0],
        .temperature_kelvin = stria_load_u16(page + 1),
        .spare_percent = page[3],
        .spare_percent_least = page[4],
        .used_percent = page[5],
        .read_bytes = data_units_to_bytes(load_counter(page + 32)),
        .written_bytes = data_units_to_bytes(load_counter(page + 48)),
        .power_on_hours = load_counter(page + 128),
        .unsafe_shutdowns = load_counter(page + 144),
        .media_errors = load_counter(page + 160),
    };
}
