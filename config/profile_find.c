#include "config/profile.h"
#include "support/nearest.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_path(const char *name)
{
    const size_t length = strlen(name);
    return strchr(name, '/') || (length > 4 && strcmp(name + length - 4, ".ini") == 0);
}

static int read_file(const char *path, struct stria_profile *profile, struct stria_problems *problems)
{
    struct stat status;
    /* Opening a FIFO would wait for its other end. */
    if (stat(path, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))) {
        stria_problems_add(problems, "the profile %s is no file: name the INI file of one", path);
        return STRIA_ERR_INVALID;
    }
    FILE *in = fopen(path, "re");
    if (!in) {
        stria_problems_add(problems, "cannot read the profile %s: %s", path, stria_errno_text(errno));
        return stria_code_of_errno(errno);
    }
    int code = STRIA_ERR_NO_MEMORY;
    char *text = malloc(STRIA_PROFILE_FILE_BYTES_MAX + 1);
    if (text) {
        const size_t bytes = fread(text, 1, STRIA_PROFILE_FILE_BYTES_MAX + 1, in);
        if (ferror(in)) {
            stria_problems_add(problems, "cannot read the profile %s: %s", path, stria_errno_text(errno));
            code = stria_code_of_errno(errno);
        } else if (bytes > STRIA_PROFILE_FILE_BYTES_MAX) {
            stria_problems_add(problems, "%s is larger than 64 KiB: it is not a drive profile", path);
            code = STRIA_ERR_INVALID;
        } else {
            code = stria_profile_parse(path, text, bytes, profile, problems);
        }
    } else {
        stria_problems_add(problems, "not enough memory to read %s", path);
    }
    free(text);
    fclose(in);
    return code;
}

static int not_found(const char *name, struct stria_problems *problems)
{
    char known[640] = "";
    struct stria_nearest nearest = stria_nearest_to(name);
    for (const struct stria_profile_text *text = stria_profile_texts; text->name; text++) {
        stria_nearest_offer(&nearest, text->name);
        snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", known[0] ? ", " : "",
                 text->name);
    }
    if (nearest.best)
        stria_problems_add(problems,
                           "there is no drive profile '%.64s': did you mean %s? The profiles are %s", name,
                           nearest.best, known);
    else
        stria_problems_add(
            problems,
            "there is no drive profile '%.64s': the profiles are %s; a path that ends in .ini names "
            "a file of your own",
            name, known);
    return STRIA_ERR_NOT_FOUND;
}

int stria_profile_find(const char *name, struct stria_profile *profile, struct stria_problems *problems)
{
    if (is_path(name))
        return read_file(name, profile, problems);
    for (const struct stria_profile_text *text = stria_profile_texts; text->name; text++)
        if (strcmp(text->name, name) == 0)
            return stria_profile_parse(name, text->text, strlen(text->text), profile, problems);
    return not_found(name, problems);
}

static void scale(uint64_t *value, double factor)
{
    if (*value == 0)
        return;
    const double scaled = floor((double)*value * factor);
    *value = scaled < 1 ? 1 : scaled >= 0x1p63 ? (uint64_t)1 << 63 : (uint64_t)scaled;
}

static void scale_steps(struct stria_rate_step *steps, unsigned count, double capacity_scale,
                        double rate_scale)
{
    for (unsigned i = 0; i < count; i++) {
        scale(&steps[i].until_bytes, capacity_scale);
        scale(&steps[i].bytes_per_s, rate_scale);
        /* Steps that a small scale made equal stay in order. */
        if (i > 0 && steps[i].until_bytes <= steps[i - 1].until_bytes)
            steps[i].until_bytes = steps[i - 1].until_bytes + 1;
    }
}

static void scale_law(struct stria_write_law *law, double capacity_scale, double rate_scale)
{
    scale_steps(law->steps, law->step_count, capacity_scale, rate_scale);
    scale(&law->slc_bytes_per_s, rate_scale);
    scale(&law->direct_bytes_per_s, rate_scale);
    scale(&law->fold_bytes_per_s, rate_scale);
    scale(&law->go_bytes_per_s, rate_scale);
    scale(&law->static_bytes, capacity_scale);
    scale(&law->go_bytes, capacity_scale);
    scale(&law->stop_bytes, capacity_scale);
}

static int check_scale(const char *which, double value, struct stria_trouble *trouble)
{
    if (value >= STRIA_PROFILE_SCALE_MIN && value <= STRIA_PROFILE_SCALE_MAX)
        return STRIA_OK;
    return stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s cannot be %g: it takes a number from %g to %g",
                             which, value, STRIA_PROFILE_SCALE_MIN, STRIA_PROFILE_SCALE_MAX);
}

int stria_profile_scale(struct stria_profile *profile, double capacity_scale, double rate_scale,
                        struct stria_trouble *trouble)
{
    int code = check_scale("capacity_scale", capacity_scale, trouble);
    if (code == STRIA_OK)
        code = check_scale("rate_scale", rate_scale, trouble);
    if (code != STRIA_OK)
        return code;
    struct stria_model_parameters scaled = profile->parameters;
    scale(&scaled.capacity_bytes, capacity_scale);
    scale(&scaled.worn_after_bytes, capacity_scale);
    /* Rounded up, and all other rates down: what fitted the link fits it still. */
    scaled.link_bytes_per_s = (uint64_t)ceil((double)scaled.link_bytes_per_s * rate_scale);
    scale(&scaled.read_bytes_per_s, rate_scale);
    scale(&scaled.refill_bytes_per_s, rate_scale);
    scale_law(&scaled.law, capacity_scale, rate_scale);
    scale_law(&scaled.worn, capacity_scale, rate_scale);
    scale_steps(scaled.write_zones.zones, scaled.write_zones.count, capacity_scale, rate_scale);
    scale_steps(scaled.read_zones.zones, scaled.read_zones.count, capacity_scale, rate_scale);
    /* At the new rate, stalls take the same share of time as before, or less by the rounding. */
    for (unsigned i = 0; i < scaled.stall_count; i++)
        scaled.stalls[i].interval_bytes_mean =
            (uint64_t)ceil((double)scaled.stalls[i].interval_bytes_mean * rate_scale);
    if (stria_model_check(&scaled, NULL, 0) > 0)
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "%s scaled by %g in size and %g in rate is no possible drive: take scales nearer to 1",
            profile->name, capacity_scale, rate_scale);
    profile->parameters = scaled;
    return STRIA_OK;
}
