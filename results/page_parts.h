/* What of the page does not depend on a measurement: its script, its style, and the chart library. Inside
 * this room only. */
#ifndef STRIA_RESULTS_PAGE_PARTS_H
#define STRIA_RESULTS_PAGE_PARTS_H

struct stria_page_part {
    const char *name; /* of its file, without folder */
    const char *text;
};

/* Ends with a null name. Made at build, see results/embed.cmake. */
extern const struct stria_page_part stria_page_parts[];

#endif
