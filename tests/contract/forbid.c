#define _GNU_SOURCE
#include "tests/contract/forbid.h"

#include <criterion/criterion.h>
#include <endian.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int install(struct sock_filter *program, unsigned short length, unsigned flags)
{
    struct sock_fprog filter = {.len = length, .filter = program};
    cr_assert(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    const int got = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
    cr_assert(got >= 0, "no seccomp here");
    return got;
}

void forbid_call(int number, int error)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    install(program, sizeof(program) / sizeof(program[0]), 0);
}

/* Of calls whose second argument has that low half. */
static int answer_call(unsigned number, unsigned argument, unsigned answer, unsigned flags)
{
    const size_t low_half = BYTE_ORDER == LITTLE_ENDIAN ? 0 : 4;
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(offsetof(struct seccomp_data, args[1]) + low_half)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argument, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return install(program, sizeof(program) / sizeof(program[0]), flags);
}

static int answer_fcntl(int command, unsigned answer, unsigned flags)
{
    return answer_call(SYS_fcntl, (unsigned)command, answer, flags);
}

void forbid_map(size_t bytes, int error)
{
    cr_assert(bytes <= UINT32_MAX);
    answer_call(SYS_mmap, (unsigned)bytes, SECCOMP_RET_ERRNO | (unsigned)error, 0);
}

void forbid_fcntl(int command, int error)
{
    answer_fcntl(command, SECCOMP_RET_ERRNO | (unsigned)error, 0);
}

struct interrupter {
    int listener;
    unsigned count;
};

/* Lasts as long as the process. */
static void *interrupt(void *context)
{
    const struct interrupter *interrupter = context;
    for (unsigned turn = 0;; turn++) {
        struct seccomp_notif asked = {0};
        if (ioctl(interrupter->listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
            return NULL;
        struct seccomp_notif_resp answer = {.id = asked.id};
        if (turn < interrupter->count)
            answer.error = -EINTR;
        else
            answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(interrupter->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

void forbid_interrupt_fcntl(int command, unsigned count)
{
    static struct interrupter interrupter;
    pthread_t thread;
    interrupter.count = count;
    interrupter.listener = answer_fcntl(command, SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    cr_assert(pthread_create(&thread, NULL, interrupt, &interrupter) == 0);
    pthread_detach(thread);
}
