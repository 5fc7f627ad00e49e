#include "engine/verify.h"
#include "support/clock.h"
#include "support/json.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/commands.h"
#include "tools/findings.h"
#include "tools/opening.h"
#include "tools/signals.h"
#include "tools/status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define LINE_INTERVAL_NS 5000000000ull

struct verify_options {
    bool json;
};

static const struct stria_option options[] = {
    {"json", 0, STRIA_OPTION_FLAG, NULL, "Prints one JSON document, stria.verify/1, instead of tables",
     offsetof(struct verify_options, json), NULL},
    {.name = NULL},
};

struct verify {
    const struct stria_array *array;
    struct stria_findings findings, gaps;
    bool terminal, line_open;
    uint64_t line_due_ns;
};

static void close_line(struct verify *verify)
{
    if (verify->line_open)
        fprintf(stderr, "\r\033[K");
    verify->line_open = false;
}

/* On a terminal one line that changes, elsewhere a line every few seconds. */
static bool show_progress(void *context, const struct stria_verify_progress *progress)
{
    struct verify *verify = context;
    const uint64_t seconds_1000 = progress->elapsed_ns / 1000000;
    const uint64_t rate =
        seconds_1000 ? (uint64_t)((unsigned __int128)progress->bytes_read * 1000 / seconds_1000) : 0;
    const unsigned percent =
        progress->bytes_total ? (unsigned)((unsigned __int128)progress->bytes * 100 / progress->bytes_total)
                              : 100;
    char text[STRIA_UNITS_TEXT_BYTES];
    if (!verify->terminal && progress->elapsed_ns < verify->line_due_ns)
        return !stria_signals_stop();
    verify->line_due_ns = progress->elapsed_ns + LINE_INTERVAL_NS;
    fprintf(stderr, "%sverified %u %%, %s, %" PRIu64 " damaged%s", verify->terminal ? "\r" : "", percent,
            stria_rate_print_both(text, sizeof(text), rate), progress->findings,
            verify->terminal ? "\033[K" : "\n");
    fflush(stderr);
    verify->line_open = verify->terminal;
    return !stria_signals_stop();
}

static void take_finding(void *context, const struct stria_verify_finding *finding)
{
    struct verify *verify = context;
    stria_findings_add(&verify->findings, finding);
}

static void take_gap(void *context, const struct stria_verify_finding *gap)
{
    struct verify *verify = context;
    stria_findings_add(&verify->gaps, gap);
}

static void add_recording(struct json_object *list, const struct stria_verify_recording *recording)
{
    struct json_object *object = stria_json_append_object(list);
    stria_json_add_text(object, "name", recording->info.name);
    stria_json_add_u64(object, "bytes", recording->counts.bytes);
    stria_json_add_u64(object, "extents", recording->counts.extents);
    stria_json_add_u64(object, "ok", recording->counts.ok);
    stria_json_add_u64(object, "corrupt", recording->counts.corrupt);
    stria_json_add_u64(object, "missing", recording->counts.missing);
    stria_json_add_u64(object, "misplaced", recording->counts.misplaced);
    stria_json_add_u64(object, "stale", recording->counts.stale);
    stria_json_add_u64(object, "unreadable", recording->counts.unreadable);
    stria_json_add_u64(object, "gap_bytes", recording->counts.gap_bytes);
    stria_json_add_bool(object, "complete", recording->info.complete);
    stria_json_add_bool(object, "removed", recording->removed);
}

static int print_document(struct verify *verify, const struct stria_verify_result *result)
{
    struct stria_trouble trouble = {0};
    struct json_object *document = json_object_new_object();
    if (!document)
        stria_memory_missing();
    stria_json_add_text(document, "schema", "stria.verify/1");
    stria_json_add_text(document, "verdict", result->damaged ? "damaged" : "ok");
    stria_json_add_bool(document, "stopped", result->stopped);
    stria_json_add_u64(document, "bytes", result->bytes);
    stria_json_add_u64(document, "duration_ns", result->duration_ns);
    stria_json_add_u64(document, "drives_given_up", result->drives_given_up);
    stria_json_add_u64(document, "ledger_entries_damaged", result->ledger_entries_damaged);
    struct json_object *recordings = stria_json_add_array(document, "recordings");
    for (uint32_t i = 0; i < result->recording_count; i++)
        add_recording(recordings, &result->recordings[i]);
    stria_json_add_u64(document, "findings_unlisted", verify->findings.unlisted);
    stria_json_add_u64(document, "gaps_unlisted", verify->gaps.unlisted);
    int code = stria_findings_write(&verify->findings, &verify->gaps, verify->array, document, &trouble);
    json_object_put(document);
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("verify", &trouble);
}

static const char *state_of(const struct stria_verify_recording *recording)
{
    const struct stria_verifier_counts *counts = &recording->counts;
    if (recording->removed)
        return "removed meanwhile";
    if (counts->corrupt || counts->missing || counts->misplaced)
        return "damaged";
    if (!recording->info.complete)
        return counts->gap_bytes ? "ok, cut short, with gaps" : "ok, cut short";
    return counts->gap_bytes ? "ok, with gaps" : "ok";
}

static int print_tables(const struct stria_verify_result *result)
{
    char stored[STRIA_UNITS_TEXT_BYTES], gaps[STRIA_UNITS_TEXT_BYTES], rate[STRIA_UNITS_TEXT_BYTES];
    printf("  %-24s %-24s %9s %9s %8s %8s %9s  %-22s %s\n", "recording", "proven", "extents", "ok", "corrupt",
           "missing", "misplaced", "gaps", "verdict");
    for (uint32_t i = 0; i < result->recording_count; i++) {
        struct stria_verify_recording *it = &result->recordings[i];
        printf("  %-24s %-24s %9" PRIu64 " %9" PRIu64 " %8" PRIu64 " %8" PRIu64 " %9" PRIu64 "  %-22s %s\n",
               stria_shown(it->info.name), stria_size_print_both(stored, sizeof(stored), it->counts.bytes),
               it->counts.extents, it->counts.ok, it->counts.corrupt, it->counts.missing,
               it->counts.misplaced, stria_size_print_both(gaps, sizeof(gaps), it->counts.gap_bytes),
               state_of(it));
    }
    if (result->ledger_entries_damaged)
        printf("  %" PRIu64 " damaged ledger entries on the drives\n", result->ledger_entries_damaged);
    if (result->duration_ns)
        printf("  read at %s\n", stria_rate_print_both(rate, sizeof(rate),
                                                       (uint64_t)((unsigned __int128)result->bytes_read *
                                                                  STRIA_NS_PER_S / result->duration_ns)));
    return STRIA_STATUS_OK;
}

static bool has_gaps(const struct stria_verify_result *result)
{
    for (uint32_t i = 0; i < result->recording_count; i++)
        if (result->recordings[i].counts.gap_bytes && !result->recordings[i].removed)
            return true;
    return false;
}

static bool tell_removed(const struct stria_verify_result *result)
{
    bool removed = false;
    for (uint32_t i = 0; i < result->recording_count; i++) {
        removed |= result->recordings[i].removed;
        if (result->recordings[i].removed)
            fprintf(stderr,
                    "stria verify: recording %s was removed by another host while it was verified: what was "
                    "found damaged in it does not count\n",
                    stria_shown(result->recordings[i].info.name));
    }
    return removed;
}

static int tell_result(struct verify *verify, const struct stria_verify_result *result, bool json)
{
    close_line(verify);
    stria_findings_sort(&verify->findings);
    if (!json)
        stria_findings_print(&verify->findings, verify->array);
    int status = json ? print_document(verify, result) : print_tables(result);
    const bool removed = tell_removed(result);
    if (result->stopped)
        fprintf(stderr, "stria verify: ended by a signal: only a part was verified\n");
    if (status == STRIA_STATUS_OK && (result->damaged || has_gaps(result)))
        status = STRIA_STATUS_NOT_WHOLE;
    if (status == STRIA_STATUS_OK && removed)
        status = stria_status_of(STRIA_ERR_NOT_FOUND);
    return status == STRIA_STATUS_OK && result->stopped ? STRIA_STATUS_SYSTEM : status;
}

static int run(const void *given, char **operands, int operand_count)
{
    const struct verify_options *verify_options = given;
    struct stria_trouble trouble = {0};
    struct stria_verify_result result = {0};
    int status;
    struct stria_array *array = stria_opening_open("verify", operands[0], false, &status);
    if (!array)
        return status;
    struct verify verify = {
        .array = array, .terminal = isatty(STDERR_FILENO), .line_due_ns = LINE_INTERVAL_NS};
    const struct stria_verify_options engine = {.names = (const char *const *)(operands + 1),
                                                .name_count = (uint32_t)(operand_count - 1),
                                                .context = &verify,
                                                .progress = show_progress,
                                                .finding = take_finding,
                                                .gap = verify_options->json ? take_gap : NULL};
    if (stria_array_verify(array, &engine, &result, &trouble) == STRIA_OK) {
        status = tell_result(&verify, &result, verify_options->json);
        stria_verify_result_free(&result);
    } else {
        status = stria_status_fail("verify", &trouble);
    }
    stria_findings_clear(&verify.findings);
    stria_findings_clear(&verify.gaps);
    stria_array_close(array);
    return status;
}

const struct stria_command stria_command_verify = {
    .name = "verify",
    .summary = "reads recordings back and checks every extent",
    .operands = "ARRAY.ini [NAME...]",
    .operands_min = 1,
    .operands_max = 1 << 16,
    .description = "Reads the named recordings, or all, from all drives at once, and tells each damaged "
                   "extent: its recording and\n"
                   "stream offset, its drive and offset there, and what is wrong: corrupt, missing, "
                   "misplaced, stale or unreadable.\n"
                   "The exit status is 1 when anything is damaged, or is known to be a gap.",
    .options = options,
    .options_bytes = sizeof(struct verify_options),
    .run = run,
};
