/* The checks of the doctor, for its table; see survey/doctor.h. */
#ifndef STRIA_SURVEY_CHECKS_H
#define STRIA_SURVEY_CHECKS_H

#include "survey/doctor.h"

/* Adds a finding about subject with its evidence; the remedy is for stria_finding_remedy(). Null when the
 * list is full. */
struct stria_finding *stria_finding_add(struct stria_findings *findings, enum stria_severity severity,
                                        unsigned cost_percent, enum stria_cost_basis basis,
                                        const char *subject, const char *evidence, ...)
    __attribute__((format(printf, 6, 7)));

/* finding may be null. */
void stria_finding_remedy(struct stria_finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What is lost when now is had instead of could, in whole percent, rounded. */
unsigned stria_cost_of(int64_t now, int64_t could);

/* Serious from a quarter of the rate on, a note below a twentieth. */
enum stria_severity stria_severity_of(unsigned cost_percent);

bool stria_check_link(const struct stria_patient *patient, uint32_t drive, struct stria_findings *findings);
bool stria_check_slot(const struct stria_patient *patient, uint32_t drive, struct stria_findings *findings);
bool stria_check_port(const struct stria_patient *patient, struct stria_findings *findings);
bool stria_check_numa(const struct stria_patient *patient, struct stria_findings *findings);
bool stria_check_interrupts(const struct stria_patient *patient, uint32_t drive,
                            struct stria_findings *findings);

bool stria_check_heat(const struct stria_patient *patient, uint32_t drive, struct stria_findings *findings);
bool stria_check_throttled(const struct stria_patient *patient, uint32_t drive,
                           struct stria_findings *findings);
bool stria_check_wear(const struct stria_patient *patient, uint32_t drive, struct stria_findings *findings);
bool stria_check_warning(const struct stria_patient *patient, uint32_t drive,
                         struct stria_findings *findings);
bool stria_check_errors(const struct stria_patient *patient, uint32_t drive, struct stria_findings *findings);
bool stria_check_read_only(const struct stria_patient *patient, uint32_t drive,
                           struct stria_findings *findings);

bool stria_check_format(const struct stria_patient *patient, uint32_t drive, struct stria_findings *findings);
bool stria_check_cache(const struct stria_patient *patient, uint32_t drive, struct stria_findings *findings);
bool stria_check_scheduler(const struct stria_patient *patient, uint32_t drive,
                           struct stria_findings *findings);
bool stria_check_requests(const struct stria_patient *patient, uint32_t drive,
                          struct stria_findings *findings);
bool stria_check_rotational(const struct stria_patient *patient, uint32_t drive,
                            struct stria_findings *findings);
bool stria_check_alignment(const struct stria_patient *patient, uint32_t drive,
                           struct stria_findings *findings);
bool stria_check_discard(const struct stria_patient *patient, uint32_t drive,
                         struct stria_findings *findings);

bool stria_check_present(const struct stria_patient *patient, uint32_t drive,
                         struct stria_findings *findings);
bool stria_check_file_system(const struct stria_patient *patient, uint32_t drive,
                             struct stria_findings *findings);
bool stria_check_room(const struct stria_patient *patient, uint32_t drive, struct stria_findings *findings);
bool stria_check_sparse(const struct stria_patient *patient, uint32_t drive, struct stria_findings *findings);
bool stria_check_in_use(const struct stria_patient *patient, uint32_t drive, struct stria_findings *findings);
bool stria_check_same_disk(const struct stria_patient *patient, struct stria_findings *findings);
bool stria_check_writers(const struct stria_patient *patient, uint32_t drive,
                         struct stria_findings *findings);

bool stria_check_governor(const struct stria_patient *patient, struct stria_findings *findings);
bool stria_check_idle_states(const struct stria_patient *patient, struct stria_findings *findings);
bool stria_check_memlock(const struct stria_patient *patient, struct stria_findings *findings);
bool stria_check_kernel(const struct stria_patient *patient, struct stria_findings *findings);
bool stria_check_io_uring(const struct stria_patient *patient, struct stria_findings *findings);
bool stria_check_memory(const struct stria_patient *patient, struct stria_findings *findings);
bool stria_check_huge_pages(const struct stria_patient *patient, struct stria_findings *findings);

#endif
