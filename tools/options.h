/* The options of a subcommand as data: parsing and help texts come from the same table. */
#ifndef STRIA_TOOLS_OPTIONS_H
#define STRIA_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A figure that may not have been given. */
struct stria_figure {
    bool given;
    uint64_t value;
};

/* Texts of an option that may stand several times, in the order given. They point into argv. */
#define STRIA_TEXTS_MAX 64u
struct stria_texts {
    const char *list[STRIA_TEXTS_MAX];
    unsigned count;
};

enum stria_option_kind {
    STRIA_OPTION_FLAG,   /* bool */
    STRIA_OPTION_TEXT,   /* const char *, null if not given */
    STRIA_OPTION_TEXTS,  /* struct stria_texts */
    STRIA_OPTION_SIZE,   /* struct stria_figure, in bytes */
    STRIA_OPTION_RATE,   /* struct stria_figure, in bytes per second */
    STRIA_OPTION_TIME,   /* struct stria_figure, in nanoseconds */
    STRIA_OPTION_NUMBER, /* struct stria_figure */
    STRIA_OPTION_CHOICE  /* unsigned, an index into choices; zero if not given */
};

struct stria_option {
    const char *name; /* without its dashes */
    char letter;      /* short form; 0: none */
    enum stria_option_kind kind;
    const char *argument;       /* what it is called in help texts; null for a flag and a choice */
    const char *help;           /* what it does; may be several lines */
    size_t field;               /* offset in the subcommand's own options struct, see kind */
    const char *const *choices; /* ends with null; for a choice only */
};

struct stria_command {
    const char *name;
    const char *summary;  /* one line for the list of subcommands, without a full stop */
    const char *operands; /* as in the synopsis: "ARRAY.ini [NAME...]" */
    int operands_min, operands_max;
    const char *description;            /* paragraphs for its help */
    const struct stria_option *options; /* ends with an option without a name; all have --help besides */
    size_t options_bytes;               /* of its options struct, at most STRIA_OPTIONS_BYTES_MAX */
    bool interruptible; /* leaves nothing half done: a signal that asks for its end ends it at once */
    /* Runs it with its options struct, zero where nothing was given. Returns the exit status. */
    int (*run)(const void *options, char **operands, int operand_count);
};

#define STRIA_OPTIONS_BYTES_MAX 4096u
#define STRIA_OPTIONS_MAX       32u

enum stria_parsed {
    STRIA_PARSED_RUN,  /* run it */
    STRIA_PARSED_HELP, /* --help was given */
    STRIA_PARSED_WRONG /* a sentence has been printed on standard error */
};

/* Parses argv, whose first is the subcommand's name, into options; operands come to stand at
 * argv[*operand_first] and behind. */
enum stria_parsed stria_options_parse(const struct stria_command *command, int argc, char **argv,
                                      void *options, int *operand_first);

/* The synopsis on one line or a few, without a name of the program before it: "record ARRAY.ini [--name NAME]
 * …". */
void stria_options_synopsis(const struct stria_command *command, FILE *out);

/* Synopsis, description and a list of the options. */
void stria_options_help(const struct stria_command *command, FILE *out);

#endif
