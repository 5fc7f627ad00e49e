#include "tests/sim/fault.h"

#include <string.h>

const struct sim_fault_kind sim_faults[SIM_FAULTS] = {
    [SIM_FAULT_SUBMIT_FULL] = {"submit-full", SIM_SCOPE_REQUEST, false, 2500},
    [SIM_FAULT_WRITE_AGAIN] = {"write-again", SIM_SCOPE_PAYLOAD, false, 2500},
    [SIM_FAULT_WRITE_ERROR] = {"write-error", SIM_SCOPE_PAYLOAD, false, 2500},
    [SIM_FAULT_WRITE_SHORT] = {"write-short", SIM_SCOPE_PAYLOAD, false, 5000},
    [SIM_FAULT_WRITE_NOTHING] = {"write-nothing", SIM_SCOPE_PAYLOAD, false, 1500},
    [SIM_FAULT_NO_SPACE] = {"no-space", SIM_SCOPE_PAYLOAD, false, 1200},
    [SIM_FAULT_META_AGAIN] = {"meta-again", SIM_SCOPE_META, false, 6000},
    [SIM_FAULT_META_ERROR] = {"meta-error", SIM_SCOPE_META, false, 6000},
    [SIM_FAULT_META_SHORT] = {"meta-short", SIM_SCOPE_META, false, 6000},
    [SIM_FAULT_FLUSH_AGAIN] = {"flush-again", SIM_SCOPE_FLUSH, false, 8000},
    [SIM_FAULT_FLUSH_ERROR] = {"flush-error", SIM_SCOPE_FLUSH, false, 2500},
    [SIM_FAULT_STALL] = {"stall", SIM_SCOPE_REQUEST, false, 400},
    [SIM_FAULT_HANG] = {"hang", SIM_SCOPE_REQUEST, false, 200},
    [SIM_FAULT_GONE_SUBMIT] = {"gone-submit", SIM_SCOPE_REQUEST, false, 200},
    [SIM_FAULT_GONE_POLL] = {"gone-poll", SIM_SCOPE_REQUEST, false, 200},
    [SIM_FAULT_GONE_DONE] = {"gone-done", SIM_SCOPE_REQUEST, false, 200},
    [SIM_FAULT_DEAD_REGION] = {"dead-region", SIM_SCOPE_PAYLOAD, false, 0},
    [SIM_FAULT_SLOW_REGION] = {"slow-region", SIM_SCOPE_PAYLOAD, false, 0},
    [SIM_FAULT_ALWAYS_FAILS] = {"always-fails", SIM_SCOPE_REQUEST, false, 200},
    [SIM_FAULT_ROT] = {"rot", SIM_SCOPE_WORLD, true, 0},
    [SIM_FAULT_ROT_ENTRY] = {"rot-entry", SIM_SCOPE_WORLD, true, 0},
    [SIM_FAULT_ROT_CATALOGUE] = {"rot-catalogue", SIM_SCOPE_WORLD, true, 0},
    [SIM_FAULT_MISDIRECTED] = {"misdirected", SIM_SCOPE_PAYLOAD, true, 700},
    [SIM_FAULT_LOST_WRITE] = {"lost-write", SIM_SCOPE_PAYLOAD, true, 700},
    [SIM_FAULT_LYING_FLUSH] = {"lying-flush", SIM_SCOPE_FLUSH, true, 20000},
    [SIM_FAULT_ABSENT] = {"absent", SIM_SCOPE_WORLD, false, 0},
    [SIM_FAULT_POWER_CUT] = {"power-cut", SIM_SCOPE_WORLD, false, 0},
    [SIM_FAULT_APART] = {"apart", SIM_SCOPE_WORLD, false, 0},
    [SIM_FAULT_STOP] = {"stop", SIM_SCOPE_WORLD, false, 600},
};

enum sim_fault sim_fault_named(const char *name)
{
    for (uint32_t fault = 0; fault < SIM_FAULTS; fault++)
        if (strcmp(sim_faults[fault].name, name) == 0)
            return (enum sim_fault)fault;
    return SIM_FAULTS;
}
