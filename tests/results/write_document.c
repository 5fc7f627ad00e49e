#include "tests/results/write_document.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATENCY                                                                                              \
    "\"latency_ns\": {\"p50\": 1000000, \"p90\": 2000000, \"p99\": 9000000, \"p999\": null, \"max\": "       \
    "12000000}"
#define DRIVE(name, bytes, least)                                                                            \
    "{\"path\": \"/dev/" name "\", \"serial\": \"S\", \"name\": \"" name                                     \
    "\", \"lost\": false, \"full\": false, \"bytes\": " bytes                                                \
    ", \"mean_bytes_per_s\": 60000000, \"sustained_bytes_per_s\": {\"1s\": " least                           \
    ", \"5s\": null, \"10s\": null, \"30s\": null, \"60s\": null}, " LATENCY                                 \
    ", \"errors\": 1, \"retries\": 2, \"stalls\": 0, \"stalled_ns\": 0}"

const char document_record[] =
    "{\"schema\": \"stria.record/1\", \"started\": \"2026-11-30T12:00:00.5Z\","
    " \"array\": {\"uuid\": \"u\", \"name\": \"rig\", \"policy\": \"adaptive\", \"chunk_bytes\": 1048576},"
    " \"recording\": {\"name\": \"take\", \"id\": 7, \"bytes\": 580000000, \"length_bytes\": 600000000, "
    "\"durable_bytes\": 600000000,"
    " \"dropped_bytes\": 20000000, \"duration_ns\": 4000000000, \"degraded\": false, \"gaps\": ["
    "{\"offset_bytes\": 300000000, \"length_bytes\": 5000000, \"cause\": \"buffer\", \"drive\": \"right\", "
    "\"time_ns\": 2000000000},"
    "{\"offset_bytes\": 310000000, \"length_bytes\": 15000000, \"cause\": \"buffer\", \"drive\": \"right\", "
    "\"time_ns\": 2500000000}]},"
    " \"aggregate\": {\"bytes\": 580000000, \"mean_bytes_per_s\": 145000000, \"sustained_bytes_per_s\": "
    "{\"1s\": 120000000,"
    " \"5s\": null, \"10s\": null, \"30s\": null, \"60s\": null}, " LATENCY
    ", \"lossless_bytes_per_s\": 130000000, \"saturated\": true},"
    " \"drives\": [" DRIVE("left", "340000000", "40000000") ", " DRIVE(
        "right</script>,\\\"x", "240000000",
        "20000000") "],"
                    " \"buffer\": {\"bytes\": 67108864, \"high_water_bytes\": 67000000},"
                    " \"series\": {\"interval_ns\": 1000000000, \"last_bin_partial\": false, "
                    "\"input_bytes\": [150000000, 150000000, 150000000, 150000000],"
                    " \"drive_bytes\": [[100000000, 100000000, 100000000, 40000000], [100000000, 20000000, "
                    "20000000, 100000000]]}}";

#define ROUND(point, repeat, least, mean)                                                                    \
    "{\"point\": \"" point "\", \"repeat\": " repeat                                                         \
    ", \"direction\": \"write\", \"offset_bytes\": 0, \"size_bytes\": 2000000000,"                           \
    " \"block_bytes\": 1048576, \"depth\": 8, \"rate_bytes_per_s\": null, \"trimmed\": true, "               \
    "\"rested_ns\": 1000000000, \"bytes\": 2000000000,"                                                      \
    " \"duration_ns\": 2000000000, \"mean_bytes_per_s\": " mean ", \"min_bytes_per_s\": " least              \
    ", \"max_bytes_per_s\": 2000000000, \"sustained_bytes_per_s\": {\"1s\": " least                          \
    ", \"5s\": null, \"10s\": null, \"30s\": null, \"60s\": null}, " LATENCY                                 \
    ", \"lossless_bytes_per_s\": " least                                                                     \
    ", \"temperature_max_c\": 41, \"errors\": 0, \"series\": {\"interval_ns\": 1000000000,"                  \
    " \"last_partial\": false, \"drive_bytes\": [[1100000000, 900000000]], \"latency_p99_ns\": [9000000, "   \
    "null],"                                                                                                 \
    " \"temperature_c\": [[40, 41]], \"throttle_count\": [[0, 0]], \"buffer_bytes\": [1048576, 2097152]},"   \
    " \"histogram\": [[1000000, 500], [2000000, 480]]}"
#define POINT(point, least, mean)                                                                            \
    "{\"point\": \"" point "\", \"repeats\": 3, \"mean_bytes_per_s\": " mean                                 \
    ", \"stddev_bytes_per_s\": 10000000,"                                                                    \
    " \"ci95_bytes_per_s\": 24840000, \"min_bytes_per_s\": " least ", \"rating_bytes_per_s\": " least        \
    ", \"latency_p99_ns\": 9000000}"

const char document_bench[] =
    "{\"schema\": \"stria.bench/1\", \"partial\": false, \"test\": \"size\", \"command\": [\"stria\", "
    "\"bench\"],"
    " \"started\": \"2026-11-30T12:00:00Z\", \"duration_ns\": 12000000000,"
    " \"versions\": {\"stria\": \"0.1.0\", \"kernel\": \"6.1.0\", \"liburing\": \"2.3\", \"libnvme\": "
    "\"1.3\"},"
    " \"host\": {\"cpu\": \"c\", \"cores\": 2, \"memory_bytes\": 8000000000, \"governor\": "
    "\"performance\"},"
    " \"options\": {\"block_bytes\": 1048576, \"depth\": 8, \"engine\": \"uring\", \"repeats\": 3, "
    "\"rest_ns\": 1000000000,"
    " \"runtime_ns\": null, \"warm_up_ns\": 0, \"policy\": null, \"buffer_bytes\": 67108864},"
    " \"drives\": [{\"path\": \"/dev/nvme0n1\", \"model\": \"M\", \"serial\": \"S\", \"firmware\": "
    "\"F1\", \"size_bytes\": 500000000000,"
    " \"lba_bytes\": 4096, \"file_system\": null, \"link\": {\"gts\": 8.0, \"width\": 4, "
    "\"capable_gts\": 8.0, \"capable_width\": 4,"
    " \"bytes_per_s\": 3938000000}, \"price\": 45.0, \"before\": {}, \"after\": {}}], \"generator\": "
    "{\"bytes_per_s\": 9000000000},"
    " \"rounds\": [" ROUND("1GiB", "0", "900000000", "1000000000") "," ROUND("1GiB", "1", "910000000", "1000000000") "," ROUND(
        "1GiB", "2", "920000000",
        "1000000000") "," ROUND("4GiB", "0", "500000000",
                                "800000000") "," ROUND("4GiB", "1", "510000000",
                                                       "800000000") "," ROUND("4GiB", "2",
                                                                              "520000"
                                                                              "000",
                                                                              "800000"
                                                                              "000") "],"
                                                                                     " \"points\": "
                                                                                     "[" POINT("1GiB", "900000000", "910000000") "," POINT(
                                                                                         "4GiB", "500000000",
                                                                                         "510000000") "],"
                                                                                                      " "
                                                                                                      "\""
                                                                                                      "ra"
                                                                                                      "ti"
                                                                                                      "ng"
                                                                                                      "_b"
                                                                                                      "yt"
                                                                                                      "es"
                                                                                                      "_p"
                                                                                                      "er"
                                                                                                      "_s"
                                                                                                      "\""
                                                                                                      ": "
                                                                                                      "50"
                                                                                                      "00"
                                                                                                      "00"
                                                                                                      "00"
                                                                                                      "0,"
                                                                                                      " "
                                                                                                      "\""
                                                                                                      "st"
                                                                                                      "ea"
                                                                                                      "dy"
                                                                                                      "\""
                                                                                                      ": "
                                                                                                      "nu"
                                                                                                      "ll"
                                                                                                      ", "
                                                                                                      "\""
                                                                                                      "kn"
                                                                                                      "ee"
                                                                                                      "\""
                                                                                                      ": "
                                                                                                      "{"
                                                                                                      "\""
                                                                                                      "of"
                                                                                                      "fs"
                                                                                                      "et"
                                                                                                      "_b"
                                                                                                      "yt"
                                                                                                      "es"
                                                                                                      "\""
                                                                                                      ": "
                                                                                                      "15"
                                                                                                      "00"
                                                                                                      "00"
                                                                                                      "00"
                                                                                                      "00"
                                                                                                      ", "
                                                                                                      "\""
                                                                                                      "be"
                                                                                                      "fo"
                                                                                                      "re"
                                                                                                      "_b"
                                                                                                      "yt"
                                                                                                      "es"
                                                                                                      "_p"
                                                                                                      "er"
                                                                                                      "_s"
                                                                                                      "\""
                                                                                                      ": "
                                                                                                      "10"
                                                                                                      "00"
                                                                                                      "00"
                                                                                                      "00"
                                                                                                      "00"
                                                                                                      ","
                                                                                                      " "
                                                                                                      "\""
                                                                                                      "af"
                                                                                                      "te"
                                                                                                      "r_"
                                                                                                      "by"
                                                                                                      "te"
                                                                                                      "s_"
                                                                                                      "pe"
                                                                                                      "r_"
                                                                                                      "s"
                                                                                                      "\""
                                                                                                      ": "
                                                                                                      "50"
                                                                                                      "00"
                                                                                                      "00"
                                                                                                      "00"
                                                                                                      "0}"
                                                                                                      ", "
                                                                                                      "\""
                                                                                                      "lo"
                                                                                                      "ss"
                                                                                                      "le"
                                                                                                      "ss"
                                                                                                      "\""
                                                                                                      ": "
                                                                                                      "nu"
                                                                                                      "ll"
                                                                                                      ", "
                                                                                                      "\""
                                                                                                      "ac"
                                                                                                      "cu"
                                                                                                      "ra"
                                                                                                      "cy"
                                                                                                      "\""
                                                                                                      ": "
                                                                                                      "nu"
                                                                                                      "ll"
                                                                                                      "}";

const char document_fio[] = "fio: this platform does not support something\n"
                            "{\"fio version\": \"fio-3.33\", \"timestamp\": 1796040021, \"global options\": "
                            "{\"bs\": \"1M\", \"iodepth\": \"8\"},"
                            " \"jobs\": [{\"jobname\": \"a\", \"groupid\": 0, \"error\": 0, \"job options\": "
                            "{\"filename\": \"/dev/nvme0n1\", \"rw\": \"write\"},"
                            " \"read\": {\"io_bytes\": 0, \"bw_bytes\": 0}, \"write\": {\"io_bytes\": "
                            "2000000000, \"bw_bytes\": 1000000000, \"runtime\": 2000,"
                            " \"bw_min\": 900000, \"bw_samples\": 4, \"lat_ns\": {\"max\": 12000000}, "
                            "\"clat_ns\": {\"percentile\": {\"50.000000\": 1000000,"
                            " \"99.000000\": 9000000}}}}]}";

char *document_with(const char *text, const char *from, const char *to)
{
    const char *place = strstr(text, from);
    cr_assert(place, "the document lacks %s", from);
    const size_t bytes = strlen(text) + strlen(to) + 1;
    char *made = malloc(bytes);
    cr_assert(made);
    snprintf(made, bytes, "%.*s%s%s", (int)(place - text), text, to, place + strlen(from));
    return made;
}

int document_read(const char *name, const char *text, struct stria_measurement *measurement,
                  struct stria_trouble *trouble)
{
    char folder[] = "/tmp/stria-results.XXXXXX", path[128];
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert(file);
    fputs(text, file);
    fclose(file);
    const int code = stria_measurement_read(path, measurement, trouble);
    unlink(path);
    rmdir(folder);
    return code;
}
