/* What start.S enters when there is a stack. */
#ifndef STRIA_FIRMWARE_MAIN_H
#define STRIA_FIRMWARE_MAIN_H

/* Does what the device tree at this address asks for. Returns the exit status, which is that of the stria
 * command for the same outcome: 0 all well, 1 not whole, 2 wrongly asked, 3 the machine or a drive failed. */
int stria_firmware_main(const void *tree);

#endif
