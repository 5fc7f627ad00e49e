#include "results/page.h"

#include "results/page_internal.h"
#include "results/page_parts.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static const char *part(const char *name)
{
    for (const struct stria_page_part *one = stria_page_parts; one->name; one++)
        if (strcmp(one->name, name) == 0)
            return one->text;
    assert(!"a part of the page was not built in");
    return "";
}

static void add_head(const struct stria_measurement *measurements, uint32_t count, struct stria_text *out)
{
    stria_text_add(out,
                   "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                   "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n<title>");
    for (uint32_t i = 0; i < count && i < 4; i++) {
        stria_text_add(out, i ? ", " : "");
        stria_text_add_html(out, measurements[i].label);
    }
    stria_text_format(out, "%s \u00b7 Stria report</title>\n<style>\n%s\n%s</style>\n</head>\n",
                      count > 4 ? " \u2026" : "", part("uPlot.min.css"), part("page.css"));
}

static void add_overview(const struct stria_measurement *measurements, uint32_t count, struct stria_text *out)
{
    stria_text_format(out, "<body>\n<header><h1>%s</h1></header>\n<main>\n<section class=\"cards\">\n",
                      count == 1 ? "Measurement" : "Measurements");
    for (uint32_t i = 0; i < count; i++)
        stria_page_headline(&measurements[i], i, out);
    stria_text_add(
        out, "</section>\n<noscript><p>The charts need JavaScript; all figures are below.</p></noscript>\n"
             "<section id=\"together\"><h2>All drives together</h2><div class=\"charts\"></div></section>\n");
}

static void add_details(const struct stria_measurement *measurements, uint32_t count, struct stria_text *out)
{
    for (uint32_t i = 0; i < count; i++) {
        stria_text_format(
            out, "<section class=\"result\" data-result=\"%" PRIu32 "\">\n<h2><i class=\"swatch\"></i>", i);
        stria_text_add_html(out, measurements[i].label);
        stria_text_add(out, "</h2>\n<div class=\"charts\"></div>\n");
        stria_page_tables(&measurements[i], out);
        stria_text_add(out, "</section>\n");
    }
    stria_text_add(out, "<section><h2>All figures</h2>\n");
    stria_page_figures(measurements, count, out);
    stria_text_add(
        out,
        "<p class=\"note\">sustained(w) is the lowest mean rate over any w seconds. The lossless rate is the "
        "highest constant input that the buffer carries over every slow stretch. A figure that does not "
        "exist "
        "(too short a run, too few samples) is \u2013.</p>\n</section>\n</main>\n");
}

void stria_page(const struct stria_measurement *measurements, uint32_t count, const char *version,
                struct stria_text *out)
{
    add_head(measurements, count, out);
    add_overview(measurements, count, out);
    add_details(measurements, count, out);
    stria_text_format(out, "<footer>Written by stria %s. Charts by uPlot.</footer>\n", version);
    stria_text_add(out, "<script type=\"application/json\" id=\"stria-data\">");
    stria_page_data(measurements, count, out);
    stria_text_format(
        out,
        "</script>\n<script>\n/* uPlot\n\n%s\n*/\n%s\n</script>\n<script>\n%s</script>\n</body>\n</html>\n",
        part("LICENSE"), part("uPlot.iife.min.js"), part("page.js"));
}
