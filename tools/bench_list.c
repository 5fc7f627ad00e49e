#include "measure/archive.h"
#include "support/json.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/bench.h"
#include "tools/status.h"

static void print_entry(const struct stria_archive_entry *entry, void *user)
{
    char rate[STRIA_UNITS_TEXT_BYTES];
    (void)user;
    if (entry->complaint) {
        printf("  %s: %s\n", stria_shown(entry->name), stria_shown(entry->complaint));
        return;
    }
    printf("  %-20s %-9s %-30s %-7s %s\n", stria_shown(entry->started), stria_shown(entry->test),
           entry->rated ? stria_rate_print_both(rate, sizeof(rate), entry->rating_bytes_per_s) : "-",
           entry->partial ? "partial" : "", stria_shown(entry->drives));
}

static void add_entry(const struct stria_archive_entry *entry, void *user)
{
    struct json_object *object = stria_json_append_object(user);
    const bool good = !entry->complaint;
    stria_json_add_text(object, "name", entry->name);
    stria_json_add_text(object, "started", good ? entry->started : NULL);
    stria_json_add_text(object, "test", good ? entry->test : NULL);
    stria_json_add_text(object, "drives", good ? entry->drives : NULL);
    stria_json_add_figure(object, "rating_bytes_per_s", entry->rated, entry->rating_bytes_per_s);
    if (good)
        stria_json_add_bool(object, "partial", entry->partial);
    else
        stria_json_add_null(object, "partial");
    stria_json_add_text(object, "complaint", entry->complaint);
}

static int list_json(const char *folder, struct stria_trouble *trouble)
{
    struct json_object *document = json_object_new_object();
    stria_json_add_text(document, "schema", "stria.archive/1");
    int code = stria_archive_each(folder, add_entry, stria_json_add_array(document, "results"), trouble);
    if (code == STRIA_OK)
        code = stria_json_write(document, "-", trouble);
    json_object_put(document);
    return code;
}

int bench_list(const char *folder, bool json)
{
    struct stria_trouble trouble = {0};
    int code;
    if (!folder)
        code = stria_trouble_set(&trouble, STRIA_ERR_INVALID, "ls needs --archive FOLDER");
    else
        code = json ? list_json(folder, &trouble) : stria_archive_each(folder, print_entry, NULL, &trouble);
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("bench", &trouble);
}
