#include "tests/sim/run.h"

static const char *const states[] = {"open", "beginning", "recording", "draining", "ending", "over"};

/* Whether a kind of fault can strike in a state at all. */
static bool reachable(enum sim_fault fault, enum stria_recorder_state state)
{
    switch (sim_faults[fault].scope) {
    case SIM_SCOPE_PAYLOAD:
        return state == STRIA_RECORDER_RECORDING || state == STRIA_RECORDER_DRAINING;
    case SIM_SCOPE_META:
    case SIM_SCOPE_FLUSH:
    case SIM_SCOPE_REQUEST:
        return state >= STRIA_RECORDER_BEGINNING && state <= STRIA_RECORDER_ENDING;
    case SIM_SCOPE_WORLD:
        break;
    }
    if (fault == SIM_FAULT_STOP)
        return state >= STRIA_RECORDER_BEGINNING && state <= STRIA_RECORDER_ENDING;
    if (fault == SIM_FAULT_POWER_CUT)
        return state <= STRIA_RECORDER_ENDING;
    return state == STRIA_RECORDER_IDLE;
}

static uint32_t print_counts(FILE *out, const struct sim_cover *cover)
{
    const struct {
        const char *name;
        uint64_t count;
    } rare[] = {
        {"recordings", cover->recordings},
        {"finished", cover->finished},
        {"recovered after a cut", cover->recovered},
        {"power cuts", cover->cuts},
        {"drives given up", cover->drives_given_up},
        {"arrays full", cover->drives_full},
        {"losses told", cover->losses},
        {"overruns", cover->overruns},
        {"recordings removed", cover->removals},
        {"catalogues compacted", cover->compactions},
        {"catalogues too large", cover->only_read},
        {"RAID0 displaced", cover->displaced},
        {"RAID0 wrapped around", cover->wrapped},
    };
    uint32_t missed = 0;
    for (size_t index = 0; index < sizeof(rare) / sizeof(rare[0]); index++) {
        fprintf(out, "%-24s %12llu%s\n", rare[index].name, (unsigned long long)rare[index].count,
                rare[index].count ? "" : "   never reached");
        missed += rare[index].count == 0;
    }
    return missed;
}

uint32_t sim_cover_print(FILE *out, const struct sim_cover *cover)
{
    uint32_t missed = 0;
    fprintf(out, "%-16s", "fault");
    for (uint32_t state = 0; state <= STRIA_RECORDER_FINISHED; state++)
        fprintf(out, "%12s", states[state]);
    fprintf(out, "\n");
    for (uint32_t fault = 0; fault < SIM_FAULTS; fault++) {
        fprintf(out, "%-16s", sim_faults[fault].name);
        for (uint32_t state = 0; state <= STRIA_RECORDER_FINISHED; state++) {
            uint64_t count = cover->count[fault][state];
            if (count > 0 || !reachable((enum sim_fault)fault, (enum stria_recorder_state)state))
                fprintf(out, count ? "%12llu" : "%12.0llu", (unsigned long long)count);
            else
                fprintf(out, "%12s", "MISSED");
            missed += count == 0 && reachable((enum sim_fault)fault, (enum stria_recorder_state)state);
        }
        fprintf(out, "\n");
    }
    return missed + print_counts(out, cover);
}
