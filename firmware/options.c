#include "firmware/options.h"

#include "core/bits.h"
#include "core/code.h"
#include "core/name.h"
#include "firmware/text.h"

#include <string.h>

#define WORD_BYTES 128u

static const char *const command_words[] = {
    [STRIA_COMMAND_LIST] = "list",     [STRIA_COMMAND_INIT] = "init",   [STRIA_COMMAND_RECORD] = "record",
    [STRIA_COMMAND_VERIFY] = "verify", [STRIA_COMMAND_ZONES] = "zones", [STRIA_COMMAND_SIZES] = "sizes",
    [STRIA_COMMAND_RATIO] = "ratio",
};
#define COMMAND_WORDS (sizeof(command_words) / sizeof(command_words[0]))

/* Values that are one of a few words. */
struct choice {
    const char *word;
    uint64_t value;
};

static const struct choice mmu_choices[] = {{"on", true}, {"off", false}, {NULL, 0}};
static const struct choice cache_choices[] = {{"auto", false}, {"maintain", true}, {NULL, 0}};
static const struct choice policy_choices[] = {
    {"raid0", STRIA_POLICY_RAID0}, {"adaptive", STRIA_POLICY_ADAPTIVE}, {NULL, 0}};

enum kind { KIND_CHOICE, KIND_SIZE, KIND_NUMBER, KIND_NAME };

struct key {
    const char *name;
    enum kind kind;
    size_t offset;
    const struct choice *choices; /* KIND_CHOICE */
    uint64_t least, most;         /* KIND_SIZE, KIND_NUMBER */
    bool is_flag;                 /* the choice is a bool */
};

#define AT(field) offsetof(struct stria_firmware_options, field)

static const struct key keys[] = {
    {"mmu", KIND_CHOICE, AT(mmu), mmu_choices, 0, 0, true},
    {"cache", KIND_CHOICE, AT(maintain), cache_choices, 0, 0, true},
    {"policy", KIND_CHOICE, AT(policy), policy_choices, 0, 0, false},
    {"drives", KIND_NUMBER, AT(drives), NULL, 1, STRIA_DRIVES_MAX, false},
    {"chunk", KIND_SIZE, AT(chunk_bytes), NULL, STRIA_CHUNK_BYTES_MIN, STRIA_CHUNK_BYTES_MAX, false},
    {"rate", KIND_SIZE, AT(rate_bytes_per_s), NULL, 0, (uint64_t)1 << 50, false},
    {"size", KIND_SIZE, AT(bytes), NULL, 1, (uint64_t)1 << 50, false},
    {"seed", KIND_NUMBER, AT(seed), NULL, 0, UINT64_MAX, false},
    {"buffer", KIND_SIZE, AT(buffer_bytes), NULL, 1, (uint64_t)1 << 40, false},
    {"depth", KIND_NUMBER, AT(depth), NULL, 1, STRIA_DEPTH_MAX / 2, false},
    {"commit", KIND_NUMBER, AT(commit_ms), NULL, 1, 3600000, false},
    {"deadline", KIND_NUMBER, AT(deadline_ms), NULL, 1, 3600000, false},
    {"zones", KIND_NUMBER, AT(zones), NULL, 1, 64, false},
    {"repeats", KIND_NUMBER, AT(repeats), NULL, 1, 16, false},
    {"name", KIND_NAME, AT(name), NULL, 0, 0, false},
    {"array", KIND_NAME, AT(array), NULL, 0, 0, false},
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

static bool set_choice(struct stria_firmware_options *options, const struct key *key, const char *value)
{
    for (const struct choice *choice = key->choices; choice->word; choice++) {
        if (!stria_text_equal(choice->word, value))
            continue;
        uint8_t *at = (uint8_t *)options + key->offset;
        const bool flag = choice->value != 0;
        if (key->is_flag)
            memcpy(at, &flag, sizeof(flag));
        else
            memcpy(at, &choice->value, sizeof(choice->value));
        return true;
    }
    return false;
}

static bool set_figure(struct stria_firmware_options *options, const struct key *key, const char *value)
{
    uint64_t figure;
    const char *end;
    bool read = key->kind == KIND_SIZE ? stria_text_size(value, &figure)
                                       : stria_text_number(value, &end, &figure) && *end == '\0';
    if (!read || figure < key->least || figure > key->most)
        return false;
    memcpy((uint8_t *)options + key->offset, &figure, sizeof(figure));
    return true;
}

static bool set_value(struct stria_firmware_options *options, const struct key *key, const char *value)
{
    if (key->kind == KIND_CHOICE)
        return set_choice(options, key, value);
    if (key->kind == KIND_NAME)
        return stria_name_set((char *)options + key->offset, value) == STRIA_OK;
    return set_figure(options, key, value);
}

static bool take_command(struct stria_firmware_options *options, const char *word)
{
    for (size_t command = 0; command < COMMAND_WORDS; command++) {
        if (!stria_text_equal(command_words[command], word) || options->command_count == STRIA_COMMANDS_MAX)
            continue;
        options->commands[options->command_count++] = (enum stria_command_word)command;
        return true;
    }
    return false;
}

/* False where the word is neither a command nor a key with a value that it may have. */
static bool take_word(struct stria_firmware_options *options, char *word)
{
    char *value = word;
    while (*value && *value != '=')
        value++;
    if (!*value)
        return take_command(options, word);
    *value++ = '\0';
    bool taken = false;
    for (size_t index = 0; index < KEYS && !taken; index++)
        taken = stria_text_equal(keys[index].name, word) && set_value(options, &keys[index], value);
    value[-1] = '=';
    return taken;
}

static bool is_blank(char character)
{
    return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

/* The next word, cut off where it is longer than any could be; false at the end. */
static bool next_word(const char **text, char word[WORD_BYTES])
{
    size_t length = 0;
    while (is_blank(**text))
        (*text)++;
    for (; **text && !is_blank(**text); (*text)++)
        if (length + 1 < WORD_BYTES)
            word[length++] = **text;
    word[length] = '\0';
    return length > 0;
}

int stria_firmware_options_read(struct stria_firmware_options *options, const char *text, char *complaint,
                                size_t complaint_bytes)
{
    *options = (struct stria_firmware_options){.mmu = true,
                                               .chunk_bytes = STRIA_CHUNK_BYTES_DEFAULT,
                                               .bytes = (uint64_t)64 << 20,
                                               .seed = 1,
                                               .buffer_bytes = (uint64_t)32 << 20,
                                               .depth = 8,
                                               .commit_ms = 1000,
                                               .deadline_ms = 5000,
                                               .zones = 8,
                                               .repeats = 3};
    stria_name_set(options->array, "bare");
    char word[WORD_BYTES];
    while (next_word(&text, word)) {
        if (take_word(options, word))
            continue;
        stria_text_compose(complaint, complaint_bytes, "'%s' is no command and no value that can be set",
                           word);
        return STRIA_ERR_INVALID;
    }
    if (!stria_is_power_of_two(options->chunk_bytes)) {
        stria_text_compose(complaint, complaint_bytes, "chunk=%lu: a chunk is a power of two",
                           (unsigned long)options->chunk_bytes);
        return STRIA_ERR_INVALID;
    }
    if (options->command_count == 0) {
        options->commands[0] = STRIA_COMMAND_LIST;
        options->command_count = 1;
    }
    return STRIA_OK;
}
