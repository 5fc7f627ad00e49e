#include "tests/fidelity/published.h"

#define KIB ((uint64_t)1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define GB  ((uint64_t)1000000000)

/* Sizes and places in GB; blocks of 1 MiB at depth 32 unless said otherwise. */
#define WRITE_GB(size)                                                                                       \
    {                                                                                                        \
        false, 0, (uint64_t)(size)*GB, MIB, 32                                                               \
    }
#define WRITE_GIB(size)                                                                                      \
    {                                                                                                        \
        false, 0, (uint64_t)(size)*GIB, MIB, 32                                                              \
    }
#define ZONE_GB(from, until)                                                                                 \
    {                                                                                                        \
        false, (uint64_t)(from)*GB, (uint64_t)((until) - (from)) * GB, MIB, 32                               \
    }
#define READ_GB(from, until)                                                                                 \
    {                                                                                                        \
        true, (uint64_t)(from)*GB, (uint64_t)((until) - (from)) * GB, MIB, 32                                \
    }
#define BLOCKS(bytes, block, q)                                                                              \
    {                                                                                                        \
        false, 0, bytes, block, q                                                                            \
    }

#define GBS      UNIT_GB_PER_S
#define ABOUT    5.0  /* per cent: the report's own accuracy */
#define COARSE   15.0 /* per cent: where the report is that coarse itself, one figure or a word */
#define IS(x)    (x), (x)
#define UNDER(x) 0, (x), 0

#define APACER(size, mean)                                                                                   \
    {                                                                                                        \
        "apacer-as2280p4", "file of " #size " GiB, mean", WRITE_GIB(size), FIGURE_MEAN, 0, UNIT_MIB_PER_S,   \
            IS(mean), ABOUT                                                                                  \
    }
/* Single p99s jump between 27 and 42 ms in the report, without an order in size: the range is the figure. */
#define APACER_P99(size)                                                                                     \
    {                                                                                                        \
        "apacer-as2280p4", "file of " #size " GiB, p99 of latency", WRITE_GIB(size), FIGURE_LATENCY_P99, 0,  \
            UNIT_MS, 26.6, 41.7, 0                                                                           \
    }
#define SIZE(profile, size, mean)                                                                            \
    {                                                                                                        \
        profile, "cumulative to " #size " GB", WRITE_GB(size), FIGURE_MEAN, 0, GBS, IS(mean), ABOUT          \
    }
#define ZONE(profile, from, until, ...)                                                                      \
    {                                                                                                        \
        profile, "zone " #from "–" #until " GB", ZONE_GB(from, until), FIGURE_MEAN, 0, GBS, __VA_ARGS__      \
    }

const struct published_row published_rows[] = {
    APACER(1, 1538),
    APACER(2, 1532),
    APACER(4, 1538),
    APACER(8, 1541),
    APACER(16, 1516),
    APACER(32, 1494),
    APACER(64, 1209),
    {"apacer-as2280p4", "file of 64 GiB, lowest second", WRITE_GIB(64), FIGURE_SECOND_MIN, 0, UNIT_MIB_PER_S,
     IS(280), ABOUT},
    {"apacer-as2280p4", "file of 64 GiB, highest second", WRITE_GIB(64), FIGURE_SECOND_MAX, 0, UNIT_MIB_PER_S,
     IS(1548), ABOUT},
    {"apacer-as2280p4", "file of 8 GiB, mean latency", WRITE_GIB(8), FIGURE_LATENCY_MEAN, 0, UNIT_MS,
     IS(20.4), ABOUT},
    {"apacer-as2280p4", "file of 64 GiB, mean latency", WRITE_GIB(64), FIGURE_LATENCY_MEAN, 0, UNIT_MS,
     IS(26.2), ABOUT},
    APACER_P99(1),
    APACER_P99(2),
    APACER_P99(4),
    APACER_P99(8),
    APACER_P99(16),
    APACER_P99(32),
    {"apacer-as2280p4", "file of 64 GiB, p99 of latency", WRITE_GIB(64), FIGURE_LATENCY_P99, 0, UNIT_MS,
     IS(113), ABOUT},
    {"apacer-as2280p4", "temperature before", WRITE_GIB(64), FIGURE_TEMPERATURE_BEFORE, 0, UNIT_CELSIUS,
     IS(30), ABOUT},
    {"apacer-as2280p4", "temperature after", WRITE_GIB(64), FIGURE_TEMPERATURE_AFTER, 0, UNIT_CELSIUS, IS(40),
     ABOUT},

    SIZE("samsung-980-pro", 100, 2.5),
    SIZE("samsung-980-pro", 200, 2.1),
    SIZE("samsung-980-pro", 300, 1.95),
    SIZE("samsung-980-pro", 500, 1.86),
    ZONE("samsung-980-pro", 0, 100, IS(2.5), ABOUT),
    ZONE("samsung-980-pro", 100, 200, IS(2.5), ABOUT),
    ZONE("samsung-980-pro", 200, 300, 1.7, 1.8, 0),
    ZONE("samsung-980-pro", 300, 400, 1.7, 1.8, 0),
    ZONE("samsung-980-pro", 500, 600, 1.7, 1.8, 0),
    ZONE("samsung-980-pro", 700, 800, IS(2.4), ABOUT),
    {"samsung-980-pro", "reads", READ_GB(0, 100), FIGURE_MEAN, 0, GBS, 2.6, 2.7, 0},

    SIZE("samsung-980", 20, 2.4),
    SIZE("samsung-980", 50, 1.9),
    SIZE("samsung-980", 70, 1.7),
    SIZE("samsung-980", 100, 1.5),
    SIZE("samsung-980", 250, 1.0),
    SIZE("samsung-980", 400, 0.477),
    ZONE("samsung-980", 0, 20, IS(2.4), ABOUT),
    ZONE("samsung-980", 40, 60, IS(2.4), ABOUT),
    ZONE("samsung-980", 60, 80, IS(1.0), ABOUT),
    ZONE("samsung-980", 80, 100, IS(1.2), ABOUT),
    ZONE("samsung-980", 200, 220, IS(1.2), ABOUT),
    ZONE("samsung-980", 300, 320, IS(1.2), ABOUT),

    {"samsung-pm981", "cumulative to 10 GB", WRITE_GB(10), FIGURE_MEAN, 0, GBS, 1.5 * 0.85, 1.5, 0},
    {"samsung-pm981", "cumulative to 50 GB", WRITE_GB(50), FIGURE_MEAN, 0, GBS, 0.5 * 0.85, 0.5, 0},

    SIZE("samsung-pm981-worn", 5, 0.531),
    SIZE("samsung-pm981-worn", 10, 0.405),
    SIZE("samsung-pm981-worn", 20, 0.366),
    SIZE("samsung-pm981-worn", 30, 0.353),
    SIZE("samsung-pm981-worn", 50, 0.344),
    SIZE("samsung-pm981-worn", 250, 0.330),
    ZONE("samsung-pm981-worn", 0, 5, 0.53, 0.54, ABOUT),
    ZONE("samsung-pm981-worn", 100, 105, 0.53, 0.54, ABOUT),
    ZONE("samsung-pm981-worn", 250, 255, 0.53, 0.54, ABOUT),
    {"samsung-pm981-worn", "reads past 100 GB", READ_GB(100, 200), FIGURE_MEAN, 0, GBS, 2.0, 2.2, 0},

    SIZE("samsung-sm961", 10, 1.5),
    SIZE("samsung-sm961", 200, 1.5),
    {"samsung-sm961", "reads", READ_GB(0, 100), FIGURE_MEAN, 0, GBS, IS(2.8), ABOUT},

    {"starblaze-s1200cmt1", "steady until", WRITE_GB(400), FIGURE_KNEE, 0, UNIT_GB, IS(280), ABOUT},
    {"starblaze-s1200cmt1", "cumulative to 280 GB (as its sister)", WRITE_GB(280), FIGURE_MEAN, 0, GBS,
     IS(2.2), COARSE},
    {"starblaze-s1200cmt1", "cumulative to 300 GB, 1 GB/s less", WRITE_GB(300), FIGURE_MEAN, 0, GBS,
     UNDER(1.2)},
    {"starblaze-s1200cmt1", "cumulative to 400 GB", WRITE_GB(400), FIGURE_MEAN, 0, GBS, UNDER(0.5)},
    {"starblaze-s1200cmt1", "from 380 to 400 GB of a file", WRITE_GB(400), FIGURE_FROM, 380, GBS, UNDER(0.5)},
    ZONE("starblaze-s1200cmt1", 300, 400, UNDER(1.0)),
    ZONE("starblaze-s1200cmt1", 500, 600, UNDER(1.0)),
    ZONE("starblaze-s1200cmt1", 700, 800, UNDER(1.0)),

    SIZE("starblaze-s1200itt2", 100, 2.2),
    SIZE("starblaze-s1200itt2", 1800, 2.2),

    {"teclast-240", "cliff", WRITE_GB(60), FIGURE_KNEE, 0, UNIT_GB, IS(36), ABOUT},
    {"teclast-240", "lowest second of 60 GB", WRITE_GB(60), FIGURE_SECOND_MIN, 0, GBS, UNDER(0.05)},

    {"enterprise-3840", "60 s, mean", WRITE_GIB(276), FIGURE_MEAN, 0, UNIT_GIB_PER_S, 4.5, 4.7, 0},
    {"enterprise-3840", "60 s, p50 of latency", WRITE_GIB(276), FIGURE_LATENCY_P50, 0, UNIT_MS, IS(5.4),
     ABOUT},
    {"enterprise-3840", "60 s, p99 of latency", WRITE_GIB(276), FIGURE_LATENCY_P99, 0, UNIT_MS, IS(10.1),
     ABOUT},
    {"enterprise-3840", "60 s, p99.9 of latency", WRITE_GIB(276), FIGURE_LATENCY_P999, 0, UNIT_MS, IS(23.2),
     ABOUT},
    {"enterprise-3840", "60 s, longest latency", WRITE_GIB(276), FIGURE_LATENCY_MAX, 0, UNIT_MS, IS(133),
     ABOUT},
    {"enterprise-3840", "60 s of reads", READ_GB(0, 400), FIGURE_MEAN, 0, UNIT_GIB_PER_S, 6.7, 6.9, 0},

    {"samsung-pm9a3", "blocks of 4 KiB at depth 128", BLOCKS(4 * GIB, 4 * KIB, 128), FIGURE_MEAN, 0,
     UNIT_MIB_PER_S, IS(1441), ABOUT},
    {"samsung-pm9a3", "blocks of 512 B at depth 128", BLOCKS(GIB / 2, 512, 128), FIGURE_MEAN, 0,
     UNIT_MIB_PER_S, IS(191), ABOUT},

    {"solidigm-p44-pro", "linear fill, first 700 GB", WRITE_GB(700), FIGURE_MEAN, 0, GBS, IS(5.7), ABOUT},
    {"solidigm-p44-pro", "linear fill, falls at 38 %", WRITE_GB(1999), FIGURE_KNEE, 0, UNIT_GB, IS(760),
     ABOUT},
    {"solidigm-p44-pro", "linear fill, from there on", WRITE_GB(1999), FIGURE_FROM, 780, GBS, IS(1.75),
     ABOUT},

    {"hp-fx900", "linear fill, first 290 GB", WRITE_GB(290), FIGURE_MEAN, 0, GBS, IS(4.6), ABOUT},
    {"hp-fx900", "linear fill, falls at 30 %", WRITE_GB(999), FIGURE_KNEE, 0, UNIT_GB, IS(300), ABOUT},
    {"hp-fx900", "linear fill, from there on", WRITE_GB(999), FIGURE_FROM, 310, GBS, IS(1.2), ABOUT},
    {"hp-fx900", "reads", READ_GB(0, 500), FIGURE_MEAN, 0, GBS, IS(5.8), ABOUT},

    {"solidigm-p41-plus", "linear fill, first 110 GB", WRITE_GB(110), FIGURE_MEAN, 0, GBS, IS(3.0), ABOUT},
    {"solidigm-p41-plus", "linear fill, falls at 12 %", WRITE_GB(999), FIGURE_KNEE, 0, UNIT_GB, IS(120),
     ABOUT},
    {"solidigm-p41-plus", "linear fill, from there on", WRITE_GB(999), FIGURE_FROM, 130, GBS, IS(0.262),
     ABOUT},
};

const unsigned published_row_count = sizeof(published_rows) / sizeof(published_rows[0]);
