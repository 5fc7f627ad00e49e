/* Inside the controller.
 *
 * controller_setup.c takes it through its states, from disabling to ready and to the end;
 * controller_recover.c watches clocks and CSTS, aborts, resets and gives up; controller.c moves commands
 * through the I/O queue. */
#ifndef STRIA_NVME_CONTROLLER_INTERNAL_H
#define STRIA_NVME_CONTROLLER_INTERNAL_H

#include "nvme/controller.h"

static inline uint64_t stria_nvme_now_ns(const struct stria_nvme_controller *controller)
{
    return controller->platform->time_ns(controller->platform->context);
}

static inline bool stria_nvme_stopping(const struct stria_nvme_controller *controller)
{
    return controller->stop_by_ns != 0;
}

/* Begins to disable the controller; what comes after depends on whether somebody stops. */
void stria_nvme_disable(struct stria_nvme_controller *controller);

/* Looks at what a state waits for, other than an answer of the admin queue. */
void stria_nvme_step_state(struct stria_nvme_controller *controller);

/* Issues the admin command; none may be in flight. */
void stria_nvme_admin_ask(struct stria_nvme_controller *controller, struct stria_nvme_command command);

/* Takes the answer of the admin command in flight, if it is there, to where it belongs. */
void stria_nvme_admin_take(struct stria_nvme_controller *controller);

/* An answer while setting up, or deleting. The status is as in enum stria_nvme_status. */
void stria_nvme_setup_answer(struct stria_nvme_controller *controller, uint32_t status);
void stria_nvme_delete_answer(struct stria_nvme_controller *controller);

/* Begins to take the queues away. */
void stria_nvme_delete_begin(struct stria_nvme_controller *controller);

/* An answer to an abort: whether the command was aborted. */
void stria_nvme_abort_answer(struct stria_nvme_controller *controller, bool aborted);

/* When it is time: is the controller still there and well, is a command overdue? */
void stria_nvme_check(struct stria_nvme_controller *controller);

/* Resets the controller, or gives it up for why when that did not help before. */
void stria_nvme_reset(struct stria_nvme_controller *controller, enum stria_nvme_trouble why);

/* The end. */
void stria_nvme_fail(struct stria_nvme_controller *controller, enum stria_nvme_trouble why, int code);

/* With the controller disabled: what was in flight waits to be issued again, or has been tried too often. */
void stria_nvme_requeue(struct stria_nvme_controller *controller);

/* Issues what waits, the oldest first, as far as there is room; rings. */
void stria_nvme_issue_waiting(struct stria_nvme_controller *controller);

/* The slot is done with; its answer waits to be polled. */
void stria_nvme_finish_slot(struct stria_nvme_controller *controller, uint32_t index, int code);

#endif
