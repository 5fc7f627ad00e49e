#include "support/json.h"
#include "support/plain.h"
#include "survey/json.h"
#include "tools/commands.h"
#include "tools/ending.h"
#include "tools/status.h"
#include "tools/survey_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct drives_options {
    bool json;
    const char *root;
};

static const struct stria_option options[] = {
    {"json", 0, STRIA_OPTION_FLAG, NULL, "Prints one JSON document, stria.drives/1, instead of a table",
     offsetof(struct drives_options, json), NULL},
    {"root", 0, STRIA_OPTION_TEXT, "DIR",
     "Looks at a recorded tree instead of this machine: copies of its /sys and\n/proc below DIR",
     offsetof(struct drives_options, root), NULL},
    {.name = NULL},
};

enum { COLUMNS = 12, CELL_BYTES = 96 };

/* A row of the table. */
struct row {
    char cells[COLUMNS][CELL_BYTES];
};

/* What a drive says of itself is printed, but never obeyed by a terminal. */
static void put_text(char cell[CELL_BYTES], const char *text)
{
    snprintf(cell, CELL_BYTES, "%.*s", CELL_BYTES - 1, text[0] ? text : "-");
    stria_plain(cell);
}

static void put_figure(char cell[CELL_BYTES], struct stria_survey_figure figure, const char *unit)
{
    if (figure.known)
        snprintf(cell, CELL_BYTES, "%" PRId64 "%s", figure.value, unit);
    else
        put_text(cell, "");
}

static void put_link(char cell[CELL_BYTES], struct stria_survey_figure mts, struct stria_survey_figure width)
{
    if (mts.known && width.known)
        snprintf(cell, CELL_BYTES, "%.1f GT/s x%" PRId64, (double)mts.value / 1000, width.value);
    else
        put_text(cell, "");
}

static void put_rate(char cell[CELL_BYTES], struct stria_survey_figure bytes_per_s)
{
    if (bytes_per_s.known)
        snprintf(cell, CELL_BYTES, "%.0f MB/s", (double)bytes_per_s.value / 1e6);
    else
        put_text(cell, "");
}

static void fill_row(struct row *row, const struct stria_survey_drive *drive)
{
    put_text(row->cells[0], drive->path);
    put_text(row->cells[1], drive->model[0] ? drive->model : stria_survey_transport_text(drive->transport));
    put_text(row->cells[2], drive->serial);
    put_text(row->cells[3], drive->firmware);
    if (drive->size_bytes.known)
        snprintf(row->cells[4], CELL_BYTES, "%.1f GB", (double)drive->size_bytes.value / 1e9);
    else
        put_text(row->cells[4], "");
    put_figure(row->cells[5], drive->lba_bytes, " B");
    put_link(row->cells[6], drive->link.mts, drive->link.width);
    put_rate(row->cells[7], drive->link.bytes_per_s);
    put_figure(row->cells[8], drive->numa_node, "");
    put_figure(row->cells[9], drive->now.temperature_c, " °C");
    put_figure(row->cells[10], drive->percentage_used, " %");
    put_figure(row->cells[11], drive->media_errors, "");
}

/* Letters, not bytes: the following bytes of one begin with the bits 10. */
static size_t letters_of(const char *text)
{
    size_t letters = 0;
    for (; *text; text++)
        letters += ((unsigned char)*text & 0xc0) != 0x80;
    return letters;
}

static void print_row(const struct row *row, const size_t widths[COLUMNS])
{
    for (unsigned column = 0; column < COLUMNS; column++) {
        const bool last = column == COLUMNS - 1;
        printf("%s%s", row->cells[column], last ? "\n" : "");
        if (!last)
            printf("%*s", (int)(widths[column] - letters_of(row->cells[column]) + 2), "");
    }
}

static void print_users(const struct stria_survey_drive *drive)
{
    char text[CELL_BYTES];
    for (uint32_t i = 0; i < drive->user_count; i++) {
        put_text(text, drive->users[i].what);
        printf("    %s%s%s %s\n", drive->users[i].part, drive->users[i].part[0] ? ": " : "",
               stria_survey_use_text(drive->users[i].use), text);
    }
    if (drive->users_more)
        printf("    and %" PRIu32 " more uses\n", drive->users_more);
}

/* What does not fit a column, or is rarely there. */
static void print_more(const struct stria_survey_drive *drive)
{
    const struct stria_survey_link *link = &drive->link;
    const struct stria_survey_format *best = stria_survey_best_format(drive);
    char text[CELL_BYTES];
    if (link->capable_bytes_per_s.known && link->bytes_per_s.value < link->capable_bytes_per_s.value) {
        put_link(text, link->capable_mts, link->capable_width);
        printf("    link could be %s\n", text);
    }
    if (best && best != &drive->formats[drive->format_used])
        printf("    offers blocks of %" PRIu32 " B\n", best->lba_bytes);
    if (drive->spare_percent.known && drive->spare_percent.value < 100)
        printf("    spare %" PRId64 " %%\n", drive->spare_percent.value);
    if (drive->now.critical_warning.value)
        printf("    critical warning 0x%02" PRIx64 "\n", (uint64_t)drive->now.critical_warning.value);
    if (drive->backing[0]) {
        put_text(text, drive->backing);
        printf("    over %s\n", text);
    }
    if (drive->file_system.type[0]) {
        put_text(text, drive->file_system.place);
        printf("    file on %s at %s\n", drive->file_system.type, text);
    }
    print_users(drive);
}

static void print_table(const struct stria_survey_list *list)
{
    static const struct row heading = {{"drive", "model", "serial", "firmware", "size", "block", "link",
                                        "limit", "node", "temp", "used", "errors"}};
    size_t widths[COLUMNS];
    struct row row;
    for (unsigned column = 0; column < COLUMNS; column++)
        widths[column] = letters_of(heading.cells[column]);
    for (uint32_t i = 0; i < list->count; i++) {
        fill_row(&row, list->drives[i]);
        for (unsigned column = 0; column < COLUMNS; column++) {
            const size_t letters = letters_of(row.cells[column]);
            widths[column] = letters > widths[column] ? letters : widths[column];
        }
    }
    print_row(&heading, widths);
    for (uint32_t i = 0; i < list->count; i++) {
        fill_row(&row, list->drives[i]);
        print_row(&row, widths);
        print_more(list->drives[i]);
    }
}

static int print_document(const struct stria_survey_list *list)
{
    struct stria_trouble trouble = {0};
    struct json_object *document = json_object_new_object();
    if (!document)
        abort();
    stria_json_add_text(document, "schema", "stria.drives/1");
    struct json_object *drives = stria_json_add_array(document, "drives");
    for (uint32_t i = 0; i < list->count; i++)
        stria_survey_add_drive(stria_json_append_object(drives), list->drives[i]);
    const int code = stria_json_write(document, "-", &trouble);
    json_object_put(document);
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("drives", &trouble);
}

static int run(const void *given, char **operands, int operand_count)
{
    const struct drives_options *drives = given;
    const char *root = drives->root ? drives->root : "";
    struct stria_survey_list list = {0};
    int status = STRIA_STATUS_OK;
    struct stria_trouble trouble = {0};
    stria_ending_at_once(operands, operand_count);
    if (operand_count == 0 && stria_survey_list_add_all(&list, root, false, &trouble) != STRIA_OK)
        status = stria_status_fail("drives", &trouble);
    for (int i = 0; i < operand_count && status == STRIA_STATUS_OK && !stria_ending_asked("drives", &status);
         i++)
        if (stria_survey_list_add(&list, root, operands[i], &trouble) != STRIA_OK)
            status = stria_status_fail("drives", &trouble);
    if (status == STRIA_STATUS_OK && drives->json)
        status = print_document(&list);
    else if (status == STRIA_STATUS_OK && list.count)
        print_table(&list);
    else if (status == STRIA_STATUS_OK)
        printf("no drives\n");
    stria_survey_list_clear(&list);
    return status;
}

const struct stria_command stria_command_drives = {
    .name = "drives",
    .summary = "lists the drives of this machine, with their links and health",
    .operands = "[DEVICE|FILE]...",
    .operands_min = 0,
    .operands_max = 64,
    .description =
        "Lists the drives of this machine, or those named: what each is, the link it hangs on and the "
        "rate\nthat this can carry, NUMA node, temperature, wear, errors, and who uses it. Some figures "
        "of NVMe\ndrives are for root only; what is unknown is a dash, and null in JSON.",
    .options = options,
    .options_bytes = sizeof(struct drives_options),
    .run = run,
};
