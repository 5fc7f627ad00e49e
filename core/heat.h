/* The thermal law of a modelled drive: dT/dt = (T_ambient + R·P − T) / T_c, the first-order law of a heat
 * sink with resistance R to the air and time constant T_c, and a controller that slows the drive down at two
 * temperatures. Integers throughout: temperatures in µ°C inside, so that a step of 10 ms is not lost. */
#ifndef STRIA_CORE_HEAT_H
#define STRIA_CORE_HEAT_H

#include <stdint.h>

#define STRIA_HEAT_LEVELS         2u
#define STRIA_HEAT_FULL_PER_MILLE 1000u /* the scale of a drive that is not throttled */

struct stria_heat_parameters {
    int64_t ambient_mc;           /* air, in thousandths of °C */
    uint64_t resistance_mk_per_w; /* R, thousandths of a kelvin per watt; zero: the drive stays at ambient */
    uint64_t idle_mw;             /* P when nothing is going on, milliwatts */
    uint64_t active_mw;           /* P at full speed, at least idle_mw */
    uint64_t time_constant_ns;    /* T_c; zero: no thermal law, temperature stays at ambient */
    struct {
        int64_t limit_mc;        /* reached: slow down */
        uint64_t rate_per_mille; /* to this share of every rate, 1 to 1000; zero: level not used */
    } levels[STRIA_HEAT_LEVELS]; /* limits ascending, rates descending */
    uint64_t hysteresis_mk;      /* a level is left again this far below its limit */
};

struct stria_heat {
    int64_t temperature_uc; /* millionths of °C */
    uint64_t level;         /* 0: full speed; n: levels[n − 1] holds */
};

/* A drive that has been idle for long. */
void stria_heat_start(struct stria_heat *heat, const struct stria_heat_parameters *parameters);

/* Lets elapsed_ns pass, of which busy_ns <= elapsed_ns evenly spread were work. */
void stria_heat_advance(struct stria_heat *heat, const struct stria_heat_parameters *parameters,
                        uint64_t elapsed_ns, uint64_t busy_ns);

/* By how much every rate of the flash is scaled now, 1 to 1000 thousandths. */
uint64_t stria_heat_rate_per_mille(const struct stria_heat *heat,
                                   const struct stria_heat_parameters *parameters);

#endif
