#include "backends/fabrics_internal.h"
#include "support/clock.h"
#include "support/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <libnvme.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* A host that is gone has to become a lost drive while the buffer lasts, not after the ten minutes that the
 * kernel grants by itself; a cable that is put back at once may be forgiven. */
#define KEEP_ALIVE_S   5 /* without a word for so long, the connection counts as broken */
#define RECONNECT_S    1 /* between attempts to make it again */
#define FAST_FAIL_S    4 /* then requests fail */
#define LOSS_S         6 /* then the device is gone */
#define DEVICE_FILE_NS (2 * STRIA_NS_PER_S)
#define LOOK_NS        (10 * STRIA_NS_PER_S / 1000)
#define ATTEMPTS_MAX   3
#define FABRICS_FILE   "/dev/nvme-fabrics"
#define NO_TRANSPORT   "this kernel has no NVMe over TCP: load it (modprobe nvme-tcp)"
#define TEXT_BYTES     256

struct search {
    const char *nqn;
    const struct fabrics_address *addresses;
    unsigned count;
    char *name;
    size_t name_bytes;
};

/* The value of one of the options in "traddr=10.0.0.2,trsvcid=4420,src_addr=10.0.0.1". */
static bool option_of(const char *list, const char *key, char *out, size_t size)
{
    const size_t key_length = strlen(key);
    while (list && *list) {
        const size_t length = strcspn(list, ",");
        if (strncmp(list, key, key_length) == 0 && list[key_length] == '=' &&
            length - key_length - 1 < size) {
            snprintf(out, size, "%.*s", (int)(length - key_length - 1), list + key_length + 1);
            return true;
        }
        list = list[length] ? list + length + 1 : NULL;
    }
    return false;
}

static bool is_of(const char *name, const char *nqn)
{
    char text[TEXT_BYTES];
    return stria_tree_line("", text, sizeof(text), "/sys/class/nvme/%s/transport", name) &&
           strcmp(text, "tcp") == 0 &&
           stria_tree_line("", text, sizeof(text), "/sys/class/nvme/%s/subsysnqn", name) &&
           strcmp(text, nqn) == 0;
}

static bool look_at(const char *name, void *user)
{
    struct search *search = user;
    char address[TEXT_BYTES], host[TEXT_BYTES], port[16];
    if (!is_of(name, search->nqn) ||
        !stria_tree_line("", address, sizeof(address), "/sys/class/nvme/%s/address", name) ||
        !option_of(address, "traddr", host, sizeof(host)) ||
        !option_of(address, "trsvcid", port, sizeof(port)))
        return true;
    for (unsigned i = 0; i < search->count; i++) {
        if (!fabrics_address_is(&search->addresses[i], host, port))
            continue;
        snprintf(search->name, search->name_bytes, "%s", name);
        return false;
    }
    return true;
}

bool fabrics_controller_is_there(const struct fabrics_controller *controller,
                                 const struct stria_fabrics_url *url)
{
    return controller->name[0] && is_of(controller->name, url->nqn);
}

/* Opens the controller's file and shares its lock. Zero or an errno value. */
static int hold(struct fabrics_controller *controller)
{
    char path[64];
    const uint64_t end_ns = stria_clock_ns() + DEVICE_FILE_NS;
    snprintf(path, sizeof(path), "/dev/%s", controller->name);
    while ((controller->fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
        if (errno != ENOENT || stria_clock_ns() >= end_ns)
            return errno;
        stria_clock_sleep_until(stria_clock_ns() + LOOK_NS);
    }
    while (flock(controller->fd, LOCK_SH) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

static void drop(struct fabrics_controller *controller)
{
    if (controller->fd >= 0)
        close(controller->fd);
    if (controller->made)
        nvme_free_tree(controller->made);
    *controller = (struct fabrics_controller){.fd = -1};
}

void fabrics_controller_put(struct fabrics_controller *controller, const struct stria_fabrics_url *url)
{
    /* Its number is not given to another one while its file is open. */
    if (controller->owned && controller->fd >= 0 && flock(controller->fd, LOCK_EX | LOCK_NB) == 0 &&
        fabrics_controller_is_there(controller, url))
        (void)nvme_disconnect_ctrl(controller->owned);
    drop(controller);
}

static int check_kernel(struct stria_trouble *trouble)
{
    const int fd = open(FABRICS_FILE, O_RDWR | O_CLOEXEC);
    const int error = errno;
    if (fd >= 0) {
        close(fd);
        return STRIA_OK;
    }
    if (error == EACCES || error == EPERM)
        return stria_trouble_set(trouble, STRIA_ERR_PERMISSION,
                                 "you may not connect drives of other hosts: run as root");
    if (error == ENOENT || error == ENODEV || error == ENXIO)
        return stria_trouble_set(trouble, STRIA_ERR_UNSUPPORTED, NO_TRANSPORT);
    return stria_trouble_set(trouble, stria_code_of_errno(error), "cannot open " FABRICS_FILE ": %s",
                             stria_errno_text(error));
}

static int refused(const struct stria_fabrics_url *url, const char *host_nqn, int error,
                   struct stria_trouble *trouble)
{
    if (!stria_tree_exists("", "/sys/module/nvme_tcp"))
        return stria_trouble_set(trouble, STRIA_ERR_UNSUPPORTED, NO_TRANSPORT);
    if (error == ENVME_CONNECT_WRITE || error == EIO)
        return stria_trouble_set(
            trouble, STRIA_ERR_NOT_FOUND,
            "%s answers at port %s, but does not offer %s to this host: correct the name "
            "(`nvme discover` lists those that are offered), or allow this host there, "
            "which is %s",
            url->host, url->port, url->nqn, host_nqn);
    return stria_trouble_set(
        trouble, STRIA_ERR_SYSTEM,
        "%s at port %s of %s cannot be connected: %s; the kernel's log (dmesg) says more", url->nqn,
        url->port, url->host,
        error >= ENVME_CONNECT_RESOLVE ? nvme_errno_to_string(error) : stria_errno_text(error));
}

static int connect_it(const struct stria_fabrics_url *url, const struct fabrics_address *address,
                      struct fabrics_controller *controller, struct stria_trouble *trouble)
{
    struct nvme_fabrics_config options;
    nvmf_default_config(&options);
    options.keep_alive_tmo = KEEP_ALIVE_S;
    options.reconnect_delay = RECONNECT_S;
    options.fast_io_fail_tmo = FAST_FAIL_S;
    options.ctrl_loss_tmo = LOSS_S;
    nvme_root_t root = nvme_create_root(NULL, -1);
    nvme_host_t host = root ? nvme_default_host(root) : NULL;
    nvme_ctrl_t made =
        host ? nvme_create_ctrl(root, url->nqn, "tcp", address->host, NULL, NULL, url->port) : NULL;
    int code = STRIA_OK;
    if (!made)
        code = stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to connect %s", url->nqn);
    else if (nvmf_add_ctrl(host, made, &options) != 0)
        code = refused(url, nvme_host_get_hostnqn(host), errno, trouble);
    if (code != STRIA_OK) {
        if (made)
            nvme_free_ctrl(made);
        if (root)
            nvme_free_tree(root);
        return code;
    }
    controller->made = root;
    controller->owned = made;
    snprintf(controller->name, sizeof(controller->name), "%s", nvme_ctrl_get_name(made));
    return STRIA_OK;
}

static int hold_failed(const struct stria_fabrics_url *url, const char *name, int error,
                       struct stria_trouble *trouble)
{
    if (error == EACCES || error == EPERM)
        return stria_trouble_set(trouble, STRIA_ERR_PERMISSION, "you may not use /dev/%s: run as root", name);
    if (error == EWOULDBLOCK)
        return stria_trouble_set(
            trouble, STRIA_ERR_GONE,
            "the connection to %s at %s (%s) is broken, and the kernel tries to make it again: see "
            "to that host and the network, or end it (nvme disconnect -d %s)",
            url->nqn, url->host, name, name);
    return stria_trouble_set(trouble, stria_code_of_errno(error), "cannot open /dev/%s: %s", name,
                             stria_errno_text(error));
}

int fabrics_controller_get(const struct stria_fabrics_url *url, const struct fabrics_address *addresses,
                           unsigned count, struct fabrics_controller *controller,
                           struct stria_trouble *trouble)
{
    for (unsigned attempt = 1;; attempt++) {
        *controller = (struct fabrics_controller){.fd = -1};
        struct search search = {url->nqn, addresses, count, controller->name, sizeof(controller->name)};
        const struct fabrics_address *answers = NULL;
        stria_tree_each("", "/sys/class/nvme", look_at, &search);
        int code = STRIA_OK;
        if (!controller->name[0]) {
            code = check_kernel(trouble);
            if (code == STRIA_OK)
                code = fabrics_address_probe(url, addresses, count, &answers, trouble);
            if (code == STRIA_OK)
                code = connect_it(url, answers, controller, trouble);
        }
        if (code != STRIA_OK)
            return code;
        const int error = hold(controller);
        /* Whoever had connected it may just have ended. */
        if (error == 0 && fabrics_controller_is_there(controller, url))
            return STRIA_OK;
        if (error != 0 && error != ENOENT && error != ENXIO && error != ENODEV)
            code = hold_failed(url, controller->name, error, trouble);
        else if (attempt == ATTEMPTS_MAX)
            code =
                stria_trouble_set(trouble, STRIA_ERR_GONE,
                                  "the connection to %s at %s breaks as soon as it is made: the kernel's log "
                                  "(dmesg) says why",
                                  url->nqn, url->host);
        fabrics_controller_put(controller, url);
        if (code != STRIA_OK)
            return code;
    }
}
